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
    language,
    brand: contact.brand,
    email: contact.email,
    title: texts.manage,
    text: subscribed ? received : texts.isUnsubscribed,
    ...(pausedUntil && { values: { date: dayText(pausedUntil, language) } }),
    ...(visit.isResult && { isResult: true, status: more.saved }),
    form: formOf(reader, visit, true),
  };
}

/** The page about what the email is about: its topic, or without one all marketing. */
function linkPageOf(reader: Reader, visit: Visit, topic: OfferedTopic | undefined): SubscriptionPage {
  const { contact, choices, language } = reader;
  const { name, token, isResult, hasLeft } = visit;
  const { page: texts, choices: more } = textsOf(language);
  const isOn = choices.subscribed && (topic?.isOn ?? true);
  const page = { language, brand: contact.brand, email: contact.email, values: { topic: topic?.name ?? '' } };
  const wayTo = (way: 'unsubscribe' | 'subscribe') => ({ path: `../${way}/${token}`, label: texts[way] });
  if (!isResult && isOn === (name === 'unsubscribe')) {
    const [title, ask, askTopic] = isOn
      ? [texts.unsubscribe, texts.askUnsubscribe, more.askLeaveTopic]
      : [texts.subscribe, texts.askSubscribe, more.askJoinTopic];
    const base = { ...page, title, action: wayTo(isOn ? 'unsubscribe' : 'subscribe') };
    return topic
      ? { ...base, text: askTopic, link: { path: `../manage/${token}`, label: more.more } }
      : { ...base, text: ask };
  }
  const result = { ...page, isResult, title: isOn ? texts.subscribedTitle : texts.unsubscribedTitle };
  if (topic) {
    const left = choices.subscribed ? more.leftTopic : texts.isUnsubscribed;
    return { ...result, text: isOn ? more.joinedTopic : left, form: formOf(reader, visit, true) };
  }
  return {
    ...result,
    text: isOn ? texts.isSubscribed : texts.isUnsubscribed,
    action: wayTo(isOn ? 'unsubscribe' : 'subscribe'),
    ...(hasLeft && { form: formOf(reader, visit, false) }),
  };
}

/** The page for a reader, before or after an action. */
export function pageOf(reader: Reader, visit: Visit): SubscriptionPage {
  if (visit.name === 'manage') return managePageOf(reader, visit);
  return linkPageOf(
    reader,
    visit,
    reader.choices.topics.find(({ isOfEmail }) => isOfEmail),
  );
}
