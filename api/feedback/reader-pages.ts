import { languageOf, textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import type { LinkContact, OfferedTopic, ReaderChoices } from '../../shared/domain/emails/link-contact.ts';
import { dayText, renderPreferenceForm } from './preference-form.ts';
import type { SubscriptionPage } from './subscription-page.ts';

/** A reader of a page, and what it has chosen so far. */
export interface Reader {
  contact: LinkContact;
  choices: ReaderChoices;
  language: Language;
}

/** What the page of a request is about. */
export interface Visit {
  name: 'unsubscribe' | 'subscribe' | 'manage';
  token: string;
  /** Whether the page follows an action. */
  isResult: boolean;
  /** Whether the action was to leave something. */
  hasLeft: boolean;
}

function formOf({ contact, choices, language }: Reader, { token, hasLeft }: Visit, isWhole: boolean): string {
  const form = {
    path: `../manage/${token}`,
    chosenLanguage: languageOf(contact.data['locale']),
    asksReason: hasLeft,
    ...(isWhole && { choices }),
  };
  return renderPreferenceForm(form, language, contact.brand);
}

/** The preference page. */
function managePageOf(reader: Reader, visit: Visit): SubscriptionPage {
  const { contact, choices, language } = reader;
  const { page: texts, choices: more } = textsOf(language);
  const { subscribed, pausedUntil } = choices;
  const received = pausedUntil ? more.isPaused : texts.isSubscribed;
  return {
    ...{ language, brand: contact.brand, email: contact.email, title: texts.manage },
    text: subscribed ? received : texts.isUnsubscribed,
    ...(pausedUntil && { values: { date: dayText(pausedUntil, language) } }),
    ...(visit.isResult && { isResult: true, status: more.saved }),
    form: formOf(reader, visit, true),
  };
}

/** The page about one topic, that of the email. */
function topicPageOf(reader: Reader, visit: Visit, topic: OfferedTopic): SubscriptionPage {
  const { contact, choices, language } = reader;
  const { name, token, isResult } = visit;
  const { page: texts, choices: more } = textsOf(language);
  const isOn = choices.subscribed && topic.isOn;
  const page = { language, brand: contact.brand, email: contact.email, values: { topic: topic.name } };
  if (!isResult && isOn === (name === 'unsubscribe')) {
    return {
      ...{ ...page, title: isOn ? texts.unsubscribe : texts.subscribe },
      text: isOn ? more.askLeaveTopic : more.askJoinTopic,
      action: { path: `../${name}/${token}`, label: isOn ? texts.unsubscribe : texts.subscribe },
      link: { path: `../manage/${token}`, label: more.more },
    };
  }
  const left = choices.subscribed ? more.leftTopic : texts.isUnsubscribed;
  return {
    ...{ ...page, isResult, title: isOn ? texts.subscribedTitle : texts.unsubscribedTitle },
    text: isOn ? more.joinedTopic : left,
    form: formOf(reader, visit, true),
  };
}

/** The page about all marketing, for an email without a topic. */
function subscriptionPageOf(reader: Reader, visit: Visit): SubscriptionPage {
  const { contact, choices, language } = reader;
  const { name, token, isResult } = visit;
  const { page: texts } = textsOf(language);
  const { subscribed } = choices;
  const page = { language, brand: contact.brand, email: contact.email };
  const offers = {
    unsubscribe: { path: `../unsubscribe/${token}`, label: texts.unsubscribe },
    subscribe: { path: `../subscribe/${token}`, label: texts.subscribe },
  };
  if (isResult || name === (subscribed ? 'subscribe' : 'unsubscribe')) {
    return {
      ...{ ...page, isResult, title: subscribed ? texts.subscribedTitle : texts.unsubscribedTitle },
      text: subscribed ? texts.isSubscribed : texts.isUnsubscribed,
      action: subscribed ? offers.unsubscribe : offers.subscribe,
      ...(visit.hasLeft && { form: formOf(reader, visit, false) }),
    };
  }
  const [title, text, action] = subscribed
    ? [texts.unsubscribe, texts.askUnsubscribe, offers.unsubscribe]
    : [texts.subscribe, texts.askSubscribe, offers.subscribe];
  return { ...page, title, text, action };
}

/** The page for a reader, before or after an action. */
export function pageOf(reader: Reader, visit: Visit): SubscriptionPage {
  if (visit.name === 'manage') return managePageOf(reader, visit);
  const topic = reader.choices.topics.find(({ isOfEmail }) => isOfEmail);
  return topic ? topicPageOf(reader, visit, topic) : subscriptionPageOf(reader, visit);
}
