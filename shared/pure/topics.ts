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

/** Choices of a contact by the keys of topics. null returns to the default of the topic. */
export type TopicChoices = Readonly<Record<string, boolean | null>>;
