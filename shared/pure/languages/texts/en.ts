import type { LanguageTexts } from '../language-texts.ts';

export const en: LanguageTexts = {
  direction: 'ltr',
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
    isGone: 'This address is no longer on the list.',
    tooOften: 'Your subscription has been changed too often today. Please try again tomorrow.',
    notFoundTitle: 'This link does not work',
    notFound: 'It may be incomplete. Please open it again from the email, or copy all of it.',
    linkClosed: 'It is no longer active.',
  },
  footer: {
    reason: 'You receive this email because you are subscribed to newsletters from {name}.',
    unsubscribe: 'Unsubscribe',
    manage: 'Manage subscription',
    topic: {
      reason: 'You receive this email because you follow “{topic}” from {name}.',
      unsubscribe: 'Leave this topic',
      manage: 'Choose what you get',
    },
  },
  archive: { title: 'Newsletter archive', empty: 'There is nothing here yet.', older: 'Older' },
};
