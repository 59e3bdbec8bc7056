import { validate as isUuid } from 'uuid';
import type { Brand } from '../../shared/pure/brand.ts';
import { LEAVING_REASONS, type Feedback } from '../../shared/pure/events/subscription-reasons.ts';
import { languageOf, LANGUAGES, textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import type { ReaderChoices } from '../../shared/domain/emails/link-contact.ts';
import { PAUSE_DAYS, type Wishes } from '../../shared/domain/emails/subscription-links.ts';
import { fillText } from './subscription-page.ts';

/** What a page lets its reader choose, in one form without a script. */
export interface PreferenceForm {
  /** The path of the preference page, relative to this page's. */
  path: string;
  /** What the reader has chosen so far; left out on a page that only asks why the reader left. */
  choices?: ReaderChoices;
  /** The language that the contact has chosen. */
  chosenLanguage?: Language | undefined;
  /** Whether the reader has just left something, and is asked why. */
  asksReason: boolean;
}

const LANGUAGE = 'language:';
/** The value of the field `choice` for a language; that of a topic is its id. */
const languageChoice = (language: Language | undefined): string => `${LANGUAGE}${language ?? ''}`;

/** A day in the words of a language, in UTC. */
export function dayText(day: Date, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(day);
}

/** A switch with its label. @param label HTML */
function switchOf(value: string, label: string, isOn: boolean, description: string | null = null): string {
  const about = description === null ? '' : `<small id="about-${value}"><bdi>${escapeHtml(description)}</bdi></small>`;
  const reference = description === null ? '' : ` aria-describedby="about-${value}"`;
  return `<div class="choice"><input type="checkbox" id="choice-${value}" name="choice" value="${value}"${isOn ? ' checked' : ''}${reference}>
<div><label for="choice-${value}">${label}</label>${about}</div></div>\n`;
}

function selectOf(
  name: string,
  id: string,
  label: string,
  options: readonly (readonly [string, string])[],
  chosen = '',
) {
  const items = options.map(
    ([value, text]) => `<option value="${value}"${value === chosen ? ' selected' : ''}>${escapeHtml(text)}</option>`,
  );
  return `<p><label for="${id}">${escapeHtml(label)}</label>
<select id="${id}" name="${name}">${items.join('')}</select></p>\n`;
}

function topicsOf({ topics, subscribed }: ReaderChoices, language: Language): string {
  if (topics.length === 0) return '';
  const { choices: texts } = textsOf(language);
  const hint = subscribed ? '' : `<p>${escapeHtml(texts.rejoin)}</p>\n`;
  const switches = topics.map(({ id, name, description, isOn }) =>
    switchOf(id, `<bdi>${escapeHtml(name)}</bdi>`, subscribed && isOn, description),
  );
  return `<fieldset><legend>${escapeHtml(texts.topics)}</legend>\n${hint}${switches.join('')}</fieldset>\n`;
}

function reasonsOf(language: Language): string {
  const { choices: texts } = textsOf(language);
  const reasons = LEAVING_REASONS.map((reason) => [reason, texts.reasons[reason]] as const);
  return `${selectOf('reason', 'reason', texts.askReason, [['', texts.noReason], ...reasons])}<p><label for="comment">${escapeHtml(texts.comment)}</label>
<textarea id="comment" name="comment" rows="3" maxlength="${LIMITS.feedbackLength}"></textarea></p>\n`;
}

/** What a form shows as chosen: the values of `choice` that it sends when nothing is changed. */
function shownChoices({ choices, chosenLanguage }: PreferenceForm): string[] {
  if (!choices) return [];
  const { subscribed, topics, pausedUntil, trackingAllowed, tracking } = choices;
  return [
    ...topics.filter(({ isOn }) => subscribed && isOn).map(({ id }) => id),
    ...(subscribed && pausedUntil ? ['pause'] : []),
    ...(tracking === 'CONSENTED' && trackingAllowed === true ? ['tracking'] : []),
    languageChoice(chosenLanguage),
  ];
}

/** Renders the form as HTML and escapes its texts. */
export function renderPreferenceForm(form: PreferenceForm, language: Language, brand: Brand): string {
  const { path, choices, chosenLanguage, asksReason } = form;
  const { page, choices: texts } = textsOf(language);
  const parts = [
    `<form method="post" action="${escapeHtml(path)}">\n`,
    `<input type="hidden" name="shown" value="${shownChoices(form).join(' ')}">\n`,
    asksReason ? reasonsOf(language) : '',
  ];
  if (choices) {
    const { subscribed, pausedUntil, trackingAllowed, tracking } = choices;
    const pause = pausedUntil
      ? fillText(texts.pausedUntil, { date: dayText(pausedUntil, language) })
      : fillText(texts.pause, { days: String(PAUSE_DAYS) });
    const languages = LANGUAGES.map((code) => [languageChoice(code), textsOf(code).name] as const);
    const options = [[languageChoice(undefined), texts.anyLanguage] as const, ...languages];
    parts.push(
      topicsOf(choices, language),
      subscribed ? switchOf('pause', pause, pausedUntil !== null) : '',
      tracking === 'CONSENTED'
        ? switchOf('tracking', fillText(texts.tracking, { name: brand.name }), trackingAllowed === true)
        : '',
      selectOf('choice', 'language', texts.language, options, languageChoice(chosenLanguage)),
    );
  }
  // The first button is the one that the Enter key presses, so it must not be the one that ends everything.
  parts.push(`<p class="buttons"><button type="submit">${escapeHtml(texts.save)}</button>`);
  if (choices) {
    const [value, label] = choices.subscribed ? ['off', texts.unsubscribeAll] : ['on', page.subscribe];
    parts.push(`\n<button type="submit" class="other" name="all" value="${value}">${escapeHtml(label)}</button>`);
  }
  parts.push('</p>\n</form>\n');
  return parts.join('');
}

/** Words of a reader in one form of line ends, without other control characters, and not too long. */
function wordsOf(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n]/gu, '');
  return lines.trim().slice(0, LIMITS.feedbackLength).toWellFormed();
}

function feedbackOf(form: URLSearchParams): Feedback | undefined {
  const reason = LEAVING_REASONS.find((known) => known === form.get('reason'));
  const text = wordsOf(form.get('comment') ?? '');
  if (!reason && text === '') return undefined;
  return { ...(reason && { reason }), ...(text !== '' && { text }) };
}

/**
 * Reads a form that was sent. Only what the reader has changed becomes a wish, so an old page that is sent late, or
 * twice, brings nothing back that has changed since.
 * @returns also whether the reader leaves something
 */
export function readPreferenceForm(form: URLSearchParams): Wishes & { hasLeft: boolean } {
  const shown = (form.get('shown') ?? '').split(' ');
  const chosen = form.getAll('choice');
  const joins = chosen.filter((value) => !shown.includes(value));
  const leaves = shown.filter((value) => !chosen.includes(value));
  const changed = (value: string) =>
    joins.includes(value) || leaves.includes(value) ? joins.includes(value) : undefined;
  const all = form.get('all');
  const language = joins.find((value) => value.startsWith(LANGUAGE))?.slice(LANGUAGE.length);
  return {
    joins,
    leaves,
    subscribed: all === 'on' || all === 'off' ? all === 'on' : undefined,
    paused: changed('pause'),
    trackingAllowed: changed('tracking'),
    language: language === undefined ? undefined : (languageOf(language) ?? null),
    feedback: feedbackOf(form),
    hasLeft: all === 'off' || leaves.some((value) => isUuid(value)),
  };
}
