import { withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead, Section } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';

/** @typedef {import('../api-types.ts').AuditEntry} AuditEntry */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'What', kind: 'main' },
  { label: 'Outcome', kind: 'pill' },
  { label: 'Who' },
  { label: 'About', kind: 'mono', wide: true },
  { label: 'When', kind: 'time' },
];

const ACTORS = { key: 'A key', console: 'The console', operator: 'An operator' };
const OUTCOMES = { done: 'Done', refused: 'Refused', failed: 'Failed' };

/** @param {AuditEntry} entry */
function whoOf({ actor, keyName }) {
  if (actor === 'operator') return 'An operator';
  return actor === 'console' ? `${keyName}, in the console` : (keyName ?? '');
}

/** "pauseWorkflow" is "Pause automation". Whether a search came in a body says nothing. @param {string} operation */
const wordsOf = (operation) =>
  wordOf(
    operation
      .replace(/ByBody$/, '')
      .replace('Workflow', 'Automation')
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2'),
  );

/** @param {AuditEntry} entry */
function row(entry) {
  const { id, at, operation, outcome, status, subjectIds } = entry;
  const isRefused = status >= 400;
  return {
    key: id,
    cells: [
      wordsOf(operation),
      html`<${Pill}
        state=${isRefused ? 'FAILED' : 'DONE'}
        word=${isRefused ? `${wordOf(outcome)} ${status}` : wordOf(outcome)}
      />`,
      whoOf(entry),
      subjectIds.join(' '),
      at,
    ],
  };
}

/** Who did what, newest first. @param {import('../main.mjs').ViewProps} props */
export function AuditView({ route }) {
  const { values, isFiltered, chips } = filtersOf(route, [
    { name: 'actor', label: 'Who', options: ACTORS },
    { name: 'outcome', label: 'Outcome', options: OUTCOMES },
    { name: 'subjectId', label: 'About the id' },
    { name: 'from', label: 'From', type: 'date' },
    { name: 'to', label: 'Before', type: 'date' },
    ...(route.query.get('keyId') ? [{ name: 'keyId', label: 'Key' }] : []),
  ]);
  return html`<${PageHead} title="Audit" facts="Writing requests, commands and actions in the console" />
    ${chips}
    <${List}
      path=${withQuery('/audit', { ...values, limit: 50 })}
      label="Who did what, newest first"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { entries }) => entries.map(row)}
      empty=${html`<${Empty} title=${isFiltered ? 'No entry fits' : 'Nothing has been changed yet'} icon="clock" guide="keys" />`}
    />`;
}

/** Who did what with a campaign. @param {{ path: string }} props the path of the campaign */
export function CampaignHistory({ path }) {
  return html`<${Load} path=${`${path}/history`} rows=${2}>
    ${(/** @type {{ entries: AuditEntry[] }} */ { entries }) =>
      entries.length > 0 &&
      html`<${Section} title="Activity">
        <${Table} label="Who did what with the campaign" columns=${COLUMNS} rows=${entries.map(row)} />
      <//>`}
  <//>`;
}
