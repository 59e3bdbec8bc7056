import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../../database/base-properties.ts';

export const ContactEntity = defineEntity({
  name: 'Contact',
  tableName: 'contact',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    email: p.text(),
    subscribed: p.boolean(),
    /** When the contact withdrew consent; null while subscribed, and for contacts who never consented. */
    optedOutAt: p.datetime(3).nullable(),
    /** The email whose hard bounce ended the subscription; null after the subscription was set in another way. */
    bouncedEmailId: p.uuid().nullable(),
    /** Whether a subscription waits for its confirmation. The contact gets no marketing until then. */
    isPending: p.boolean().default(false),
    /** Until when the contact wants no marketing. */
    pausedUntil: p.datetime(3).nullable(),
    /** Whether the contact agreed to tracking, which a project of the mode CONSENTED asks for; null without an answer. */
    trackingAllowed: p.boolean().nullable(),
    data: p.json().$type<Record<string, unknown>>(),
  },
});
export type Contact = InferEntity<typeof ContactEntity>;
