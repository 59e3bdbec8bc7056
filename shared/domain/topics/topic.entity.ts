import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../../database/base-properties.ts';
import type { RowOf, tables } from '../../database/tables.ts';
import { DEFAULT_SUBSCRIPTIONS, VISIBILITIES } from '../../pure/topics.ts';

/** The name and description of a topic in other languages. */
export type TopicTexts = RowOf<(typeof tables)['topic']>['texts'];

export const TopicEntity = defineEntity({
  name: 'Topic',
  tableName: 'topic',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    /** Names the topic in requests, imports and filters (`topic.<key>`). It never changes. */
    key: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    texts: p.json().$type<TopicTexts>(),
    /** opt_in: whoever is subscribed gets it until they leave. opt_out: only those who joined get it. It never changes. */
    defaultSubscription: p.enum(DEFAULT_SUBSCRIPTIONS),
    /** Whether the preference page shows it. */
    visibility: p.enum(VISIBILITIES).default('public'),
    /** Whether a subscription through a form has to be confirmed; null means as the project says. */
    doubleOptIn: p.boolean().nullable(),
  },
});
export type Topic = InferEntity<typeof TopicEntity>;
