import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { Pages } from '../pages.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').AuditEntry} AuditEntry */

const COLUMNS = ['When', 'Who', 'What', 'Outcome', 'About'];

/** @param {AuditEntry} entry */
function whoOf({ actor, keyName }) {
  if (actor === 'operator') return 'an operator';
  return actor === 'console' ? `${keyName}, in the console` : keyName;
}

/** @param {AuditEntry} entry */
function row(entry) {
  const { at, operation, outcome, status, subjectIds } = entry;
  return [
    html`<${Time} at=${at} />`,
    whoOf(entry),
    operation,
    `${outcome} (${status})`,
    subjectIds.map((id) => html`<code>${id}</code> `),
  ];
}

/** Who did what, newest first. */
export function AuditView() {
  return html`<h1>Who did what</h1>
    <${Pages} path="/audit">
      ${(/** @type {{ entries: AuditEntry[] }} */ { entries }) =>
        html`<${Table}
          caption="Writing requests, commands and actions in the console"
          columns=${COLUMNS}
          rows=${entries.map(row)}
          empty="Nothing has been changed yet."
        />`}
    <//>`;
}

/** Who did what with a campaign. @param {{ path: string }} props the path of the campaign */
export function CampaignHistory({ path }) {
  return html`<${Load} path=${`${path}/history`}>
    ${(/** @type {{ entries: AuditEntry[] }} */ { entries }) =>
      entries.length > 0 &&
      html`<${Table}
        caption="Who did what"
        columns=${COLUMNS.slice(0, 3)}
        rows=${entries.map((entry) => row(entry).slice(0, 3))}
        empty=""
      />`}
  <//>`;
}
