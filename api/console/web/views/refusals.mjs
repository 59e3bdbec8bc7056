import { withQuery } from '../api.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Section } from '../parts/basics.mjs';
import { LoadAll } from '../parts/load.mjs';
import { Table } from '../parts/table.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Email} Email */

const POLL_SECONDS = 60;
/** How many of the newest emails are counted. */
const EMAILS_READ = 100;
const ROWS_MAX = 12;
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Provider', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Last words' },
  { label: 'Emails', kind: 'num' },
];

/** @param {Email[]} emails newest first */
function rowsOf(emails) {
  const groups = Map.groupBy(emails, ({ to, status }) => `${status} ${to?.split('@').at(-1) ?? 'erased'}`);
  return [...groups]
    .sort(([, left], [, right]) => right.length - left.length)
    .slice(0, ROWS_MAX)
    .map(([key, [last, ...others]]) => ({
      key,
      href: linkTo('emails', last?.id ?? ''),
      cells: [key.split(' ')[1], last?.status ?? '', last?.error ?? '', count(others.length + 1)],
    }));
}

/** Which providers refused emails that were queued on a day, and in which words. @param {{ day: string }} props */
export function Refusals({ day }) {
  const pathOf = (/** @type {string} */ status) => withQuery('/emails', { status, since: day, limit: EMAILS_READ });
  const paths = { bounced: pathOf('BOUNCED'), failed: pathOf('FAILED') };
  return html`<${LoadAll} path=${day} paths=${paths} every=${POLL_SECONDS} rows=${1}>
    ${(/** @type {any} */ { bounced, failed }) => {
      const rows = rowsOf([...(bounced?.emails ?? []), ...(failed?.emails ?? [])]);
      return (
        rows.length > 0 &&
        html`<${Section} title="Refused today, by provider">
          <${Table} label="Refusals" columns=${COLUMNS} rows=${rows} />
        <//>`
      );
    }}
  <//>`;
}
