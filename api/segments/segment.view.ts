import { z } from 'zod';
import type { Segment } from '../../shared/domain/segments/segment.entity.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

export const segmentSchema = model('Segment', 'A group of contacts', {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(['DYNAMIC', 'STATIC']),
  condition: filterConditionSchema.nullable(),
  trackMembership: z.boolean(),
  memberCount: z.int().describe('Cached; refreshed every five minutes'),
  computeError: model('ComputeError', 'Why a segment could not be computed', {
    message: z.string().meta({ examples: ['The segment takes too long to compute'] }),
    at: z.iso.datetime(),
  })
    .nullable()
    .describe('Why it could not be computed in the background; it is tried again at growing intervals'),
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A segment as callers see it. */
export const segmentView = viewOf(segmentSchema, ({ computeError, computeErrorAt }: Segment) => ({
  computeError: computeError && computeErrorAt ? { message: computeError, at: computeErrorAt.toISOString() } : null,
}));
