import { html } from './html.mjs';

const NUMBER = new Intl.NumberFormat();
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** @param {number} value */
export const count = (value) => NUMBER.format(value);

/** @param {number} value in percent */
export const percent = (value) => `${value.toFixed(value !== 0 && value < 1 ? 2 : 1)} %`;

/** How long ago a moment was, or how soon it will be. @param {string | number | Date} at */
function ago(at) {
  const seconds = (new Date(at).getTime() - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

/** A moment, and how long ago it was. @param {{ at: string | null | undefined }} props */
export function Time({ at }) {
  if (!at) return html`<span class="quiet">never</span>`;
  return html`<time datetime=${at} title=${at}>${TIME.format(new Date(at))}</time>${' '}
    <span class="quiet">${ago(at)}</span>`;
}

/** How long something takes, roughly. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`;
}

const GOOD = ['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'VERIFIED', 'COMPLETED', 'enabled', 'found'];
const BAD = ['BOUNCED', 'COMPLAINED', 'FAILED', 'missing', 'suppressed'];
const BUSY = ['PENDING', 'SENDING', 'SCHEDULED', 'RUNNING', 'WAITING', 'PAUSED', 'trusted, unsigned'];

/** @param {string} state */
function kindOf(state) {
  if (GOOD.includes(state)) return 'good';
  if (BAD.includes(state)) return 'bad';
  return BUSY.includes(state) ? 'busy' : 'plain';
}

/** A state, in words and in colour. @param {{ state: string }} props */
export function State({ state }) {
  return html`<span class="state ${kindOf(state)}">${state.toLowerCase()}</span>`;
}

/** @type {Record<string, string>} */
const SUPPRESSIONS = {
  HARD_BOUNCE: 'the address is suppressed since a hard bounce',
  COMPLAINT: 'the address is suppressed since a complaint',
  MANUAL: 'the address was suppressed by hand',
};

/** Why an email did not arrive: the words of a server, or a reason of ours. @param {string | null | undefined} reason */
export const inWords = (reason) => SUPPRESSIONS[reason ?? ''] ?? reason ?? '';

/** The domain of an address; `erased` for an address that was erased. @param {string | null} address */
export const domainOf = (address) => address?.split('@').at(-1) ?? 'erased';
