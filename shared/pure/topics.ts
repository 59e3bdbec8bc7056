import { z } from 'zod';
import { atMost } from './bounded-schema.ts';
import { LIMITS } from './limits.ts';

/**
 * Whether a contact without a choice gets a topic. `opt_in`: yes, until they leave it. `opt_out`: no, until they join
 * it. Resend and SES have these names.
 */
export const DEFAULT_SUBSCRIPTIONS = ['opt_in', 'opt_out'] as const;
export type DefaultSubscription = (typeof DEFAULT_SUBSCRIPTIONS)[number];

/** Whether readers see a topic on the preference page. */
export const VISIBILITIES = ['public', 'private'] as const;

/** The form of a topic's key. */
export const TOPIC_KEY = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const TOPIC_KEY_LENGTH_MAX = 63;

/** Choices of a contact by the keys of topics. null takes a choice back. */
export const topicChoicesSchema = atMost(
  LIMITS.topicsPerProject,
  z.record(z.string().max(TOPIC_KEY_LENGTH_MAX), z.boolean().nullable()),
).meta({
  description: 'Topics to join (true) or leave (false), by their keys; null returns to the default of the topic',
  examples: [{ news: true, offers: false }],
});
export type TopicChoices = Readonly<z.infer<typeof topicChoicesSchema>>;
