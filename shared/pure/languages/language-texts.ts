import type { LeavingReason } from '../events/subscription-reasons.ts';

/**
 * The texts for recipients in one language. `{name}` stands for the name of the sender, `{email}` for the address of
 * the recipient. No sentence depends on the gender of either.
 */
export interface LanguageTexts {
  /** The name of the language, in the language. */
  name: string;
  direction: 'ltr' | 'rtl';
  optIn: OptInTexts;
  page: PageTexts;
  choices: ChoiceTexts;
  footer: FooterTexts;
  archive: ArchiveTexts;
}

/** The texts of forms, of the email that asks for a confirmation, and of the pages behind its link. */
interface OptInTexts {
  subject: string;
  reminderSubject: string;
  /** In the email and on the page of its link. */
  ask: string;
  /** The button below it. */
  confirm: string;
  ignore: string;
  expiredTitle: string;
  expired: string;
  sendAgain: string;
  /** The answer to every form, whatever is known of the address. */
  thanksTitle: string;
  thanks: string;
  emailLabel: string;
  topicsLabel: string;
  addressFault: string;
  /** Above the button of a form. The record of consent keeps it. */
  formWords: string;
}

/** The texts of the pages behind the links of an email. */
export interface PageTexts {
  unsubscribe: string;
  subscribe: string;
  manage: string;
  unsubscribedTitle: string;
  subscribedTitle: string;
  askUnsubscribe: string;
  askSubscribe: string;
  isUnsubscribed: string;
  isSubscribed: string;
  /** For a link whose contact no longer exists. */
  isGone: string;
  /** For a contact that has subscribed too often today. */
  tooOften: string;
  notFoundTitle: string;
  notFound: string;
  /** For a link of a project that is disabled or deleted, or to a target that is blocked. */
  linkClosed: string;
}

/** The texts of the pages about topics and other choices. `{topic}` stands for the name of a topic. */
export interface ChoiceTexts {
  askLeaveTopic: string;
  askJoinTopic: string;
  leftTopic: string;
  joinedTopic: string;
  /** `{date}` stands for the day on which the pause ends. */
  isPaused: string;
  /** A link to the preference page. */
  more: string;
  topics: string;
  /** Beside the topics, for a contact who has left all marketing. */
  rejoin: string;
  pause: string;
  pausedUntil: string;
  language: string;
  /** For a contact whose language shall be guessed. */
  anyLanguage: string;
  tracking: string;
  save: string;
  saved: string;
  unsubscribeAll: string;
  askReason: string;
  noReason: string;
  /** Above a field for the contact's own words. */
  comment: string;
  reasons: Record<LeavingReason, string>;
}

/** The texts at the end of a MARKETING email. */
interface FooterTexts {
  /** Why the recipient gets the email. */
  reason: string;
  unsubscribe: string;
  manage: string;
  /** The same for an email with a topic, whose name stands for `{topic}`. */
  topic: { reason: string; unsubscribe: string; manage: string };
}

/** The texts of the public archive of a project's campaigns. */
interface ArchiveTexts {
  title: string;
  /** When no campaign is public. */
  empty: string;
  /** The link to earlier campaigns. */
  older: string;
}
