import type { LeavingReason } from '../../events/subscription-reasons.ts';

export const en = {
  /** The name of the language, in the language. */
  name: 'English',
  direction: 'ltr' as 'ltr' | 'rtl',
  /** Forms, the email that asks for a confirmation, and the pages behind its link. */
  optIn: {
    subject: 'Please confirm your subscription',
    reminderSubject: 'Reminder: please confirm your subscription',
    ask: 'Somebody, probably you, asked for newsletters from {name} at {email}. Please confirm that you want them.',
    confirm: 'Confirm',
    ignore: 'If it was not you, ignore this email. You will receive nothing else.',
    expiredTitle: 'This link has expired',
    expired: 'The subscription of {email} was not confirmed in time.',
    sendAgain: 'Send a new link',
    /** The answer to every form, whatever is known of the address. */
    thanksTitle: 'Thank you',
    thanks: 'If a confirmation is needed, an email with a link is on its way to {email}.',
    emailLabel: 'Email address',
    topicsLabel: 'Topics',
    addressFault: 'Please enter an email address, such as ada@example.com.',
    /** Above the button of a form. The record of consent keeps it. */
    formWords: 'Which newsletters from {name} do you want to receive? You can unsubscribe at any time.',
  },
  /** The pages behind the links of an email. */
  page: {
    unsubscribe: 'Unsubscribe',
    subscribe: 'Subscribe',
    manage: 'Your subscription',
    unsubscribedTitle: 'You are unsubscribed',
    subscribedTitle: 'You are subscribed',
    askUnsubscribe: 'Do you no longer want to receive newsletters from {name} at {email}?',
    askSubscribe: 'Do you want to receive newsletters from {name} at {email}?',
    isUnsubscribed: '{email} receives no more newsletters from {name}.',
    isSubscribed: '{email} receives newsletters from {name}.',
    /** For a link whose contact no longer exists. */
    isGone: 'This address is no longer on the list.',
    /** For a contact that has subscribed too often today. */
    tooOften: 'Your subscription has been changed too often today. Please try again tomorrow.',
    notFoundTitle: 'This link does not work',
    notFound: 'It may be incomplete. Please open it again from the email, or copy all of it.',
    /** For a link of a project that is disabled or deleted, or to a target that is blocked. */
    linkClosed: 'It is no longer active.',
    /** While Everpost, or what it needs, is away. */
    laterTitle: 'This page cannot be shown right now',
    later: 'Please try again in a few minutes.',
  },
  /** The pages about topics and other choices. */
  choices: {
    askLeaveTopic: 'Do you no longer want to receive “{topic}” from {name} at {email}?',
    askJoinTopic: 'Do you want to receive “{topic}” from {name} at {email}?',
    leftTopic: '{email} receives no more “{topic}” from {name}.',
    joinedTopic: '{email} receives “{topic}” from {name}.',
    isPaused: '{email} receives no newsletters from {name} until {date}.',
    more: 'Other newsletters and settings',
    topics: 'What would you like to receive?',
    /** Beside the topics, for a contact who has left all marketing. */
    rejoin: 'Choose newsletters here to subscribe to them again.',
    pause: 'Pause all newsletters for {days} days',
    pausedUntil: 'Paused until {date}',
    language: 'Language',
    /** For a contact whose language shall be guessed. */
    anyLanguage: 'No preference',
    tracking: '{name} may see whether I open its emails and follow their links',
    save: 'Save',
    saved: 'Your choices have been saved.',
    unsubscribeAll: 'Unsubscribe from everything',
    askReason: 'Why did you unsubscribe? (optional)',
    noReason: 'No answer',
    /** Above a field for the contact's own words. */
    comment: 'Is there anything else to say? (optional)',
    reasons: {
      too_many: 'Too many emails',
      not_relevant: 'The content is of no interest to me',
      never_subscribed: 'I never subscribed',
      other: 'Another reason',
    } satisfies Record<LeavingReason, string>,
  },
  /** The end of a MARKETING email. */
  footer: {
    reason: 'You receive this email because you are subscribed to newsletters from {name}.',
    unsubscribe: 'Unsubscribe',
    manage: 'Manage subscription',
    /** The same for an email with a topic. */
    topic: {
      reason: 'You receive this email because you follow "{topic}" from {name}.',
      unsubscribe: 'Leave this topic',
      manage: 'Choose what you get',
    },
  },
  archive: { title: 'Newsletter archive', empty: 'There is nothing here yet.', older: 'Older' },
};

/**
 * The texts for recipients in one language. `{name}` stands for the name of the sender, `{email}` for the address of
 * the recipient, `{topic}` for the name of a topic, `{date}` for the end of a pause. No sentence depends on the gender
 * of either.
 */
export type LanguageTexts = typeof en;
