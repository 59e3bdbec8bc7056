import { withQuery } from '../api.mjs';
import { count, inWords } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, Section, Tabs } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { List } from '../parts/list.mjs';
import { Load } from '../parts/load.mjs';
import { wordOf } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';
import { linkTo } from '../route.mjs';
import { Resend } from './campaign-actions.mjs';

/** @typedef {import('../api-types.ts').CampaignStats} CampaignStats */
/** @typedef {import('../api-types.ts').Campaign} Campaign */
/** @typedef {{ emailId: string, state: string, email: string | null, words: string | null, sentAt: string | null, bouncedAt: string | null }} Recipient */

const OTHERS = ['PENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'COMPLAINED'];
/** States from which a recipient may be sent to again. */
const RESENDABLE = ['FAILED', 'BOUNCED'];
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Address', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Why' },
  { label: 'When', kind: 'time' },
];
/** @type {import('../parts/table.mjs').Column[]} */
const REASONS = [
  { label: 'Why', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Recipients', kind: 'num' },
];

/** @param {Recipient} recipient */
const row = ({ emailId, email, state, words, sentAt, bouncedAt }) => ({
  key: emailId,
  href: linkTo('emails', emailId),
  cells: [email ?? 'Erased', state, inWords(words), bouncedAt ?? sentAt ?? ''],
});

/** Why it did not reach some, by the words of the servers. @param {{ id: string, every: number }} props */
function Reasons({ id, every }) {
  return html`<${Load} path=${`/campaigns/${id}/unreached`} every=${every} rows=${3}>
    ${(/** @type {any} */ { reasons }) =>
      reasons.length > 0 &&
      html`<${Table}
        label="Reasons"
        columns=${REASONS}
        rows=${reasons.map((/** @type {any} */ { state, words, recipients }) => ({
          key: state + words,
          href: linkTo('campaigns', id, { state }),
          cells: [inWords(words) || 'No reason is known', state, count(recipients)],
        }))}
      />`}
  <//>`;
}

/** The tabs: states without delivery that have recipients first. @param {Campaign} campaign @param {CampaignStats} stats */
function tabsOf({ id }, stats) {
  /** @type {[string, number][]} */
  const unreached = [
    ['BOUNCED', stats.bouncedCount],
    ['FAILED', stats.failedCount],
    ['SUPPRESSED', stats.suppressedCount],
    ['SKIPPED', stats.skippedCount],
  ];
  const sum = unreached.reduce((total, [, number]) => total + number, 0);
  const tab = (/** @type {string} */ key, /** @type {string} */ label, /** @type {number | undefined} */ number) => ({
    key,
    label,
    href: linkTo('campaigns', id, { state: key }),
    ...(number !== undefined && { count: count(number), isBad: number > 0 }),
  });
  return [
    tab('UNREACHED', 'Not reached', sum),
    ...unreached.filter(([, number]) => number > 0).map(([state, number]) => tab(state, wordOf(state), number)),
    ...OTHERS.map((state) => tab(state, wordOf(state), undefined)),
    tab('ALL', 'All', undefined),
  ];
}

/**
 * The recipients of a campaign by state, first those whom it did not reach, and why.
 * @param {{ campaign: Campaign, stats: CampaignStats, wanted: string, onChange: () => void }} props
 */
export function Recipients({ campaign, stats, wanted, onChange }) {
  const { id, status } = campaign;
  const state = wanted || 'UNREACHED';
  const every = status === 'SENDING' ? 5 : 0;
  const path = `/campaigns/${id}/recipients`;
  const file = withQuery(path, { state: state === 'ALL' ? undefined : state, format: 'csv' });
  const states = state === 'UNREACHED' ? RESENDABLE : RESENDABLE.filter((each) => each === state);
  const hasEnded = status === 'SENT' || status === 'CANCELLED';
  const resend =
    hasEnded &&
    states.length > 0 &&
    html`<${Resend}
      campaign=${campaign}
      states=${states}
      label=${state === 'UNREACHED' ? 'Send again' : `Send again to ${wordOf(state).toLowerCase()}`}
      onChange=${onChange}
    />`;
  return html`<${Section} title="Recipients" actions=${resend}>
    <${Tabs} label="State of the recipients" tabs=${tabsOf(campaign, stats)} current=${state} />
    ${state === 'UNREACHED' && html`<${Reasons} id=${id} every=${every} />`}
    <${List}
      path=${withQuery(path, { state: state === 'ALL' ? undefined : state, limit: 50 })}
      every=${every}
      label=${`Recipients: ${wordOf(state).toLowerCase()}`}
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { recipients }) => recipients.map(row)}
      empty=${html`<${Empty} title=${state === 'UNREACHED' ? 'It reached everybody so far' : 'No recipient is in this state'} icon="check-circle" />`}
    />
    <details class="line">
      <summary>All of them as CSV</summary>
      <${Code}
        label="Command"
        samples=${{ curl: `curl -H "Authorization: Bearer $SECRET_KEY" '${location.origin}${file}'` }}
        wraps
      />
    </details>
  <//>`;
}
