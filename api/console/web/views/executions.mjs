import { State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';
import { TemporalLink } from './execution.mjs';

/** @typedef {import('../api-types.ts').Execution} Execution */

const STATUSES = ['FAILED', 'RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'CANCELLED'];
const COLUMNS = ['Contact', 'State', 'At the step', 'Why', 'Started', 'More'];

/**
 * Executions in one state.
 * @param {{ path: string, workflowId: string, status: string, settings: import('../main.mjs').Settings }} props
 */
export function Executions({ path, workflowId, status, settings }) {
  /** @param {Execution} execution */
  const row = (execution) => [
    html`<a href=${linkTo('workflows', workflowId, { status, execution: execution.id })}
      >${execution.contact?.email ?? 'deleted contact'}</a
    >`,
    html`<${State} state=${execution.status} />`,
    execution.currentStep?.name ?? '',
    execution.exitReason ?? '',
    html`<${Time} at=${execution.startedAt} />`,
    html`<${TemporalLink} execution=${execution} settings=${settings} />`,
  ];
  return html`<section aria-labelledby="executions">
    <h2 id="executions">Executions</h2>
    <nav class="states" aria-label="State of the executions">
      ${STATUSES.map(
        (one) =>
          html`<a
            href=${linkTo('workflows', workflowId, { status: one })}
            aria-current=${one === status ? 'true' : undefined}
            >${one.toLowerCase()}</a
          >`,
      )}
    </nav>
    <${Pages} path=${path}>
      ${(/** @type {import('../api-types.ts').OffsetPage<Execution>} */ { data }) =>
        html`<${Table}
          caption=${`Executions that are ${status.toLowerCase()}, newest first`}
          columns=${COLUMNS}
          rows=${data.map(row)}
          empty=${`No execution is ${status.toLowerCase()}.`}
        />`}
    <//>
  </section>`;
}
