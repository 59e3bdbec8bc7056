import { Action } from '../action.mjs';
import { call } from '../api.mjs';
import { State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').ExecutionDetail} ExecutionDetail */
/** @typedef {import('../main.mjs').Settings} Settings */

/**
 * The execution in the Temporal UI, where its address is known.
 * @param {{ execution: { temporalWorkflowId: string }, settings: Settings }} props
 */
export function TemporalLink({ execution: { temporalWorkflowId }, settings: { temporalUiUrl } }) {
  if (!temporalUiUrl) return null;
  const address = `${temporalUiUrl}/workflows/${encodeURIComponent(temporalWorkflowId)}`;
  return html`<a href=${address} rel="noreferrer">In the Temporal UI</a>`;
}

const COLUMNS = ['Step', 'State', 'Why', 'Began', 'Ended'];

/**
 * Why a step failed, with the answer of the server that a webhook called.
 * @param {ExecutionDetail['stepExecutions'][number]} record
 */
function Why({ error, output }) {
  const answer = error && typeof output?.['body'] === 'string' ? output['body'] : '';
  return html`${error ?? ''}${
    answer &&
    html`<details>
      <summary>The whole answer</summary>
      <pre>${answer}</pre>
    </details>`
  }`;
}

/** @param {ExecutionDetail['stepExecutions'][number]} record */
const row = ({ step, status, startedAt, completedAt, ...record }) => [
  step.name,
  html`<${State} state=${status} />`,
  html`<${Why} ...${record} />`,
  html`<${Time} at=${startedAt} />`,
  completedAt ? html`<${Time} at=${completedAt} />` : '',
];

/** One execution and its steps. @param {{ path: string, settings: Settings }} props */
export function ExecutionCard({ path, settings }) {
  return html`<${Load} path=${path}>
    ${(/** @type {ExecutionDetail} */ execution, /** @type {any} */ { reload }) => {
      const { contact, status, exitReason, currentStep, stepExecutions, workflowId } = execution;
      const isActive = status === 'RUNNING' || status === 'WAITING';
      const cancel = async () => {
        await call('DELETE', path);
        reload();
        return 'Cancelled.';
      };
      const retry = async () => {
        await call('POST', `${path}/retry`);
        reload();
        return 'It goes on.';
      };
      return html`<section class="card" aria-labelledby="execution">
        <h2 id="execution">
          ${contact ? html`<a href=${linkTo('address', contact.email)}>${contact.email}</a>` : 'A deleted contact'}${' '}
          <${State} state=${status} />
        </h2>
        <p>${currentStep && `At the step ${currentStep.name}. `}${exitReason && html`<q>${exitReason}</q>`}</p>
        <p class="choices">
          <${TemporalLink} execution=${execution} settings=${settings} />
          ${isActive && html`<${Action} label="Cancel it" kind="danger" question="It ends at once and for good." run=${cancel} />`}
          ${status === 'FAILED' && html`<${Action} label="Retry it" question="It goes on at the step that failed, as this step is in the workflow now. Earlier steps are not repeated." run=${retry} />`}
          <a href=${linkTo('workflows', workflowId)}>Close</a>
        </p>
        <${Table}
          caption="What became of each step"
          columns=${COLUMNS}
          rows=${stepExecutions.map(row)}
          empty="No step was begun yet."
        />
      </section>`;
    }}
  <//>`;
}
