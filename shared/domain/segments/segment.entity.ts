import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { baseProperties } from '../../database/base-properties.ts';

export const SegmentEntity = defineEntity({
  name: 'Segment',
  tableName: 'segment',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.enum(['DYNAMIC', 'STATIC'] as const).default('DYNAMIC'),
    condition: p.json().$type<FilterCondition>().nullable(),
    trackMembership: p.boolean().default(false),
    memberCount: p.integer().default(0),
    /**
     * When the members of a tracked segment were first computed completely; null before, and while it is not tracked.
     */
    computedAt: p.datetime(3).nullable(),
    /** Why the last computation or count in the background failed; null when it succeeded. */
    computeError: p.text().nullable(),
    computeErrorAt: p.datetime(3).nullable(),
  },
});
export type Segment = InferEntity<typeof SegmentEntity>;
