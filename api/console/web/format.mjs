import { html } from './html.mjs';

const NUMBER = new Intl.NumberFormat();
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** @type {[word: string, seconds: number][]} */
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** @param {number} value */
export const count = (value) => NUMBER.format(value);

/** @param {number} value in percent */
export const percent = (value) => `${value.toFixed(value !== 0 && Math.abs(value) < 1 ? 2 : 1)} %`;

/** A part of a whole in percent, never above 100; `undefined` without a whole. @param {number} part @param {number} whole */
export const shareOf = (part, whole) => (whole > 0 ? percent((100 * Math.min(part, whole)) / whole) : undefined);

/** How long ago a moment was, or how soon it will be, in a few characters. @param {string} at */
function ago(at) {
  const seconds = (Date.now() - Date.parse(at)) / 1_000;
  const length = Math.abs(seconds);
  if (length < 1) return 'now';
  // 59.6 minutes are an hour.
  const [word, each] = UNITS.find(([, unit]) => Math.round(length) >= unit - unit / 120) ?? ['s', 1];
  const text = `${Math.round(length / each)} ${word}`;
  return seconds < 0 ? `in ${text}` : text;
}

/**
 * What share of emails was delivered, as `shareOf`; `undefined` where servers reported fewer than half, because most of
 * the others have arrived, too.
 * @param {{ delivered: number, bounced: number, sent: number }} counts
 */
export const deliveredShare = ({ delivered, bounced, sent }) =>
  2 * (delivered + bounced) < sent ? undefined : shareOf(delivered, sent);

/** A moment as it is in a sentence: "2 min ago". @param {string} at */
const agoInWords = (at) => ago(at).replace(/^\d.*/, '$& ago');

/**
 * How long ago a moment was; the moment itself is shown on hover.
 * @param {{ at: string | null | undefined, isFull?: boolean, isSentence?: boolean }} props
 */
export function Time({ at, isFull = false, isSentence = false }) {
  if (!at) return html`<span class="never">never</span>`;
  const moment = TIME.format(new Date(at));
  return html`<time datetime=${at} title=${moment}
    >${isFull ? html`${moment} <span class="ago">(${agoInWords(at)})</span>` : isSentence ? agoInWords(at) : ago(at)}</time
  >`;
}

/** How long something takes, roughly. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** @type {Record<string, string>} */
const SUPPRESSIONS = {
  HARD_BOUNCE: 'the address is suppressed since a hard bounce',
  COMPLAINT: 'the address is suppressed since a complaint',
  MANUAL: 'somebody suppressed the address',
};

/** Why an email did not arrive: the words of a server, or a reason of ours. @param {string | null | undefined} reason */
export const inWords = (reason) => SUPPRESSIONS[reason ?? ''] ?? reason ?? '';

/** The UTC day `days` days ago. @param {number} days */
export const dayBefore = (days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
