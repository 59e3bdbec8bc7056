import { html } from '../html.mjs';

/** The hue of each state; states that need no eye have none. @type {Record<string, string>} */
const HUES = {
  DELIVERED: 'good',
  OPENED: 'good',
  CLICKED: 'good',
  SENT: 'good',
  COMPLETED: 'good',
  VERIFIED: 'good',
  ENABLED: 'good',
  ACTIVE: 'good',
  SUBSCRIBED: 'good',
  FOUND: 'good',
  BOUNCED: 'bad',
  COMPLAINED: 'bad',
  FAILED: 'bad',
  MISSING: 'bad',
  SUPPRESSED: 'bad',
  FAILING: 'bad',
  HARD_BOUNCE: 'bad',
  COMPLAINT: 'bad',
  ERROR: 'bad',
  PENDING: 'wait',
  SENDING: 'wait',
  SCHEDULED: 'wait',
  RUNNING: 'wait',
  WAITING: 'wait',
  PAUSED: 'wait',
  RETRYING: 'wait',
  UNSIGNED: 'wait',
  WARNING: 'wait',
  UNCONFIRMED: 'wait',
};

/** A state in words: `HARD_BOUNCE` is "Hard bounce". @param {string} state */
export function wordOf(state) {
  const words = state.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A state, in a word and a hue. @param {{ state: string, word?: string }} props */
export function Pill({ state, word = wordOf(state) }) {
  return html`<span class="pill ${HUES[state] ?? 'quiet'}">${word}</span>`;
}
