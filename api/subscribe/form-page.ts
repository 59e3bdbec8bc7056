import type { Brand } from '../../shared/pure/brand.ts';
import type { FieldError } from '../../shared/pure/app-error.ts';
import { textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import type { Topic } from '../../shared/domain/topics/topic.entity.ts';
import type { SubscriptionPage } from '../feedback/subscription-page.ts';

/** A form that asks for newsletters. */
export interface SubscribeForm {
  language: Language;
  brand: Brand;
  /** The public topics of the project. */
  topics: readonly Pick<Topic, 'key' | 'name' | 'description' | 'texts'>[];
  /** The URL that it posts to, with the public key. */
  action: string;
  /** Says when it was shown; left out where it stands in a page of others. */
  formToken?: string;
  /** What was sent, where it has to be corrected. */
  sent?: { email: string; topics: readonly string[]; faults: readonly FieldError[] };
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}

function topicsOf({ language, topics, sent }: SubscribeForm): string {
  if (topics.length === 0) return '';
  const choices = topics.map(({ key, texts, ...own }) => {
    const { name, description } = { ...own, ...texts[language] };
    const about = description ? `<small id="about-${key}"><bdi>${escapeHtml(description)}</bdi></small>` : '';
    const isOn = sent?.topics.includes(key) ? ' checked' : '';
    return `<div class="choice"><input type="checkbox" id="topic-${key}" name="topics" value="${key}"${isOn}${about && ` aria-describedby="about-${key}"`}>
<div><label for="topic-${key}"><bdi>${escapeHtml(name)}</bdi></label>${about}</div></div>\n`;
  });
  return `<fieldset><legend>${escapeHtml(textsOf(language).optIn.topicsLabel)}</legend>\n${choices.join('')}</fieldset>\n`;
}

/** The words of the form, which the record of consent keeps. */
function wordsOf({ language, brand }: SubscribeForm): string {
  return textsOf(language).optIn.formWords.replace('{name}', () => brand.name);
}

/** What was wrong: the reader can mend the address; all else is for the author of a form, in the words of the API. */
function faultOf({ language, sent }: SubscribeForm): { words: string; isOfAddress: boolean } | undefined {
  if (!sent) return undefined;
  const others = sent.faults.filter(({ field }) => field !== 'email').map(({ message }) => message);
  const isOfAddress = others.length === 0;
  return { words: isOfAddress ? textsOf(language).optIn.addressFault : others.join('. '), isOfAddress };
}

/** A plain HTML form. People do not see the field `comment`, so whoever fills it is a program. */
export function renderForm(form: SubscribeForm): string {
  const { language, action, formToken, sent } = form;
  const { optIn: texts, page } = textsOf(language);
  const found = faultOf(form);
  const fault = found ? `<p id="fault" role="alert">${escapeHtml(found.words)}</p>\n` : '';
  const invalid = found?.isOfAddress ? ' aria-invalid="true" aria-describedby="fault"' : '';
  const address = sent ? ` value="${escapeHtml(sent.email)}"${invalid}` : '';
  return `<form method="post" action="${escapeHtml(action)}">
${fault}<p><label for="email">${escapeHtml(texts.emailLabel)}</label>
<input type="email" id="email" name="email" autocomplete="email" maxlength="254" required${address}></p>
${topicsOf(form)}<div hidden><input name="comment" tabindex="-1" autocomplete="off"></div>
${hidden('language', language)}${hidden('wording', wordsOf(form))}${formToken === undefined ? '' : hidden('formToken', formToken)}
<p><button type="submit">${escapeHtml(page.subscribe)}</button></p>
</form>
`;
}

/** The form with its words, for a page of others. */
export function renderSnippet(form: SubscribeForm): string {
  return `<p>${escapeHtml(wordsOf(form))}</p>\n${renderForm(form)}`;
}

export function formPageOf(form: SubscribeForm): SubscriptionPage {
  const { language, brand } = form;
  const { optIn, page } = textsOf(language);
  return { language, brand, title: page.subscribe, text: optIn.formWords, form: renderForm(form) };
}
