import { may } from '../api.mjs';
import { count, duration } from '../format.mjs';
import { html } from '../html.mjs';
import { Section } from '../parts/basics.mjs';
import { Load } from '../parts/load.mjs';
import { wordOf } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Queue} Queue */

const POLL_SECONDS = 15;
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'What', kind: 'main' },
  { label: 'Why', sparse: true },
  { label: 'Waiting', kind: 'num' },
  { label: 'Oldest', kind: 'time' },
];
/** Where the items of a kind are listed. @type {Record<string, string>} */
const LISTS = {
  email: linkTo('emails', '', { status: 'PENDING' }),
  'scheduled email': linkTo('emails', '', { status: 'PENDING' }),
  'campaign recipient': linkTo('campaigns', '', { status: 'SENDING' }),
  'scheduled campaign': linkTo('campaigns', '', { status: 'SCHEDULED' }),
  execution: linkTo('automations'),
};

/** @param {Queue['waiting'][number]} item */
const row = ({ kind, count: number, oldestSeconds, reason }) => ({
  key: kind,
  href: LISTS[kind],
  cells: [wordOf(kind), reason ?? '', count(number), oldestSeconds === null ? 'not due' : duration(oldestSeconds)],
});

/** What waits, since when, and what holds it. */
export function Waiting() {
  if (!may('GET /activity/queue')) return null;
  return html`<${Load} path="/activity/queue" every=${POLL_SECONDS} rows=${1}>
    ${(/** @type {Queue} */ { waiting }) =>
      waiting.length > 0 &&
      html`<${Section} title="Waiting"><${Table} label="What waits" columns=${COLUMNS} rows=${waiting.map(row)} /><//>`}
  <//>`;
}
