import { withQuery } from '../api.mjs';
import { count, State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').ListedWorkflow} ListedWorkflow */
/** @typedef {import('../api-types.ts').OffsetPage<ListedWorkflow>} WorkflowPage */

const COLUMNS = ['Name', 'State', 'Starts with', 'Steps', 'Executions', 'Created'];

/** @param {ListedWorkflow} workflow */
const row = ({ id, name, enabled, triggerConfig, createdAt, _count, failedExecutions }) => [
  html`<a href=${linkTo('workflows', id)}>${name}</a>`,
  html`<${State} state=${enabled ? 'enabled' : 'disabled'} />`,
  html`<code>${triggerConfig.eventName}</code>`,
  count(_count.steps),
  html`${count(_count.executions)}${failedExecutions > 0 && html`, <a href=${linkTo('workflows', id, { status: 'FAILED' })}>${count(failedExecutions)} failed</a>`}`,
  html`<${Time} at=${createdAt} />`,
];

/** All workflows. */
export function WorkflowsView() {
  return html`<h1>Workflows</h1>
    <${Pages} path=${withQuery('/workflows', { pageSize: 20 })}>
      ${(/** @type {WorkflowPage} */ { data }) =>
        html`<${Table}
          caption="Workflows, newest first"
          columns=${COLUMNS}
          rows=${data.map(row)}
          empty="There is no workflow yet: POST /workflows makes one."
        />`}
    <//>`;
}
