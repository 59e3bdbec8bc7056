import { withQuery } from '../api.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').ListedWorkflow} ListedWorkflow */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Starts with', kind: 'mono' },
  { label: 'Steps', kind: 'num', wide: true },
  { label: 'Executions', kind: 'num' },
  { label: 'Failed', kind: 'num' },
  { label: 'Created', kind: 'time' },
];

/** Whether opens and clicks of machines count, too. @param {Record<string, unknown>} config of a trigger or a step */
export const peopleOnly = ({ humanOnly }) => (humanOnly ? ', people only' : '');

/** @param {ListedWorkflow} workflow */
const row = ({ id, name, enabled, triggerConfig, createdAt, _count, failedExecutions }) => ({
  key: id,
  href: linkTo('automations', id),
  cells: [
    name,
    enabled ? 'ENABLED' : 'DISABLED',
    `${triggerConfig.eventName}${peopleOnly(triggerConfig)}`,
    count(_count.steps),
    count(_count.executions),
    failedExecutions > 0 ? html`<span class="count bad">${count(failedExecutions)}</span>` : '',
    createdAt,
  ],
});

/** Which automations are there, and where does it fail? */
export function AutomationsView() {
  return html`<${PageHead} title="Automations" />
    <${List}
      path=${withQuery('/workflows', { pageSize: 50 })}
      label="Automations, newest first"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(row)}
      empty=${html`<${Empty} title="No automation yet" text="An automation does something for a contact when an event comes" icon="bolt" guide="guides/automations" />`}
    />`;
}
