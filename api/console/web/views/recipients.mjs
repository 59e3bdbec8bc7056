import { Action, Copy } from '../action.mjs';
import { call, withQuery } from '../api.mjs';
import { inWords, State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/**
 * @typedef {{ emailId: string, state: string, email: string | null, words: string | null, sentAt: string | null,
 *   bouncedAt: string | null }} Recipient
 */

const UNREACHED = ['BOUNCED', 'FAILED', 'SUPPRESSED', 'SKIPPED', 'CANCELLED'];
const OTHERS = ['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'COMPLAINED'];
/** States from which a recipient may be sent to again. */
const RESENDABLE = ['FAILED', 'BOUNCED'];
const COLUMNS = ['Address', 'State', 'Why', 'When'];

/** The first state without delivery that any recipient has. @param {import('../api-types.ts').CampaignStats} stats */
function firstState({ bouncedCount, failedCount, suppressedCount, skippedCount }) {
  const counts = [bouncedCount, failedCount, suppressedCount, skippedCount];
  return UNREACHED[counts.findIndex((number) => number > 0)] ?? 'BOUNCED';
}

/** @param {Recipient} recipient */
const row = ({ emailId, email, state, words, sentAt, bouncedAt }) => [
  html`<a href=${linkTo('emails', emailId)}>${email ?? 'erased'}</a>`,
  html`<${State} state=${state} />`,
  inWords(words),
  bouncedAt || sentAt ? html`<${Time} at=${bouncedAt ?? sentAt} />` : '',
];

/** @param {{ campaign: import('./campaign-actions.mjs').Campaign, state: string, onChange: () => void }} props */
function Resend({ campaign, state, onChange }) {
  const path = `/campaigns/${campaign.id}/resend`;
  const run = async (/** @type {string} */ key) => {
    await call('POST', path, { body: { states: [state] }, headers: { 'Idempotency-Key': key } });
    onChange();
    return 'It is being sent again.';
  };
  return html`<${Action}
    key=${state}
    label=${`Send again to all that are ${state.toLowerCase()}`}
    endpoint=${['POST', path]}
    question=${`“${campaign.name}” goes out once more to every recipient that is ${state.toLowerCase()}, and to nobody else.`}
    run=${run}
  />`;
}

/**
 * The recipients of a campaign by state, first those whom it did not reach.
 * @param {{ campaign: import('./campaign-actions.mjs').Campaign, stats: import('../api-types.ts').CampaignStats,
 *   wanted: string, onChange: () => void }} props
 */
export function Recipients({ campaign, stats, wanted, onChange }) {
  const state = wanted || firstState(stats);
  const path = `/campaigns/${campaign.id}/recipients`;
  const table = `curl -H "Authorization: Bearer $EVERPOST_SECRET_KEY" '${location.origin}${withQuery(path, { state, format: 'csv' })}'`;
  /** @param {string[]} states @param {string} label */
  const links = (states, label) =>
    html`<nav class="states" aria-label=${label}>
      ${label}:
      ${states.map(
        (one) =>
          html`<a
            href=${linkTo('campaigns', campaign.id, { state: one })}
            aria-current=${one === state ? 'true' : undefined}
            >${one.toLowerCase()}</a
          >`,
      )}
    </nav>`;
  return html`<section aria-labelledby="recipients">
    <h2 id="recipients">Who did not get it, and why</h2>
    ${links(UNREACHED, 'Not reached')} ${links(OTHERS, 'The others')}
    ${RESENDABLE.includes(state) && html`<${Resend} campaign=${campaign} state=${state} onChange=${onChange} />`}
    <${Pages} path=${withQuery(path, { state, limit: 50 })}>
      ${(/** @type {{ recipients: Recipient[], hasMore: boolean }} */ { recipients, hasMore }) => {
        const empty = hasMore
          ? 'None in this part of the list: go on with “Older”.'
          : `No recipient is ${state.toLowerCase()}.`;
        const caption = `Recipients that are ${state.toLowerCase()}`;
        return html`<${Table} caption=${caption} columns=${COLUMNS} rows=${recipients.map(row)} empty=${empty} />`;
      }}
    <//>
    <details>
      <summary>All of them as a table (CSV)</summary>
      <p><code>${table}</code> <${Copy} text=${table} what="the command" /></p>
    </details>
  </section>`;
}
