import { doing } from '../api.mjs';
import { inWords, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Timeline } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').ExecutionDetail} ExecutionDetail */

/** @type {Record<string, string>} */
const HUES = { COMPLETED: 'good', FAILED: 'bad', RUNNING: 'wait', WAITING: 'wait' };

/** A step, and why it failed with the answer of the server that a webhook called. @param {ExecutionDetail['stepExecutions'][number]} record */
function entryOf({ id, step, status, startedAt, completedAt, error, output }) {
  const answer = error && typeof output?.['body'] === 'string' ? output['body'] : '';
  const emailId = output?.['emailId'];
  const details = [
    error && html`<p><q>${inWords(error)}</q></p>`,
    answer &&
      html`<details>
        <summary>The whole answer</summary>
        <pre class="wraps">${answer}</pre>
      </details>`,
    typeof emailId === 'string' && html`<p><a href=${linkTo('emails', emailId)}>The email</a></p>`,
  ].filter(Boolean);
  return {
    key: id,
    at: html`<${Time} at=${completedAt ?? startedAt} />`,
    word: html`<bdi>${step.name}</bdi> <span class="label">${wordOf(status)}</span>`,
    hue: HUES[status] ?? 'quiet',
    detail: details.length > 0 && details,
  };
}

/** One execution and its steps. @param {{ path: string, settings: import('../main.mjs').Settings, onChange: () => void }} props */
export function ExecutionPart({ path, settings: { temporalUiUrl }, onChange }) {
  return html`<${Load}
    path=${path}
    every=${(/** @type {ExecutionDetail} */ { status }) => (status === 'RUNNING' ? 2 : 0)}
    rows=${3}
  >
    ${(/** @type {ExecutionDetail} */ execution, /** @type {any} */ { reload }) => {
      const { contact, status, exitReason, stepExecutions, workflowId, temporalWorkflowId } = execution;
      const changed = () => (reload(), onChange());
      return html`<section class="card" aria-labelledby="execution">
        <div class="section-head">
          <h2 id="execution">
            ${contact ? html`<a href=${linkTo('contacts', contact.id)}><bdi>${contact.email}</bdi></a>` : 'Deleted contact'}
            <${Pill} state=${status} />
          </h2>
          <div class="actions">
            ${
              status === 'FAILED' &&
              html`<${Action}
                needs="POST /workflows/:id/executions/:executionId/retry"
                label="Retry"
                title="Retry this execution"
                text="It goes on at the step that failed, as this step is now. Earlier steps are not repeated."
                run=${doing(['POST', `${path}/retry`], 'It goes on', changed)}
              />`
            }
            ${
              (status === 'RUNNING' || status === 'WAITING') &&
              html`<${Action}
                needs="DELETE /workflows/:id/executions/:executionId"
                label="Cancel"
                kind="danger"
                title="Cancel this execution"
                text="It ends at once and for good."
                run=${doing(['DELETE', path], 'Cancelled', changed)}
              />`
            }
            <a class="button plain" href=${linkTo('automations', workflowId, { status })}>Close</a>
          </div>
        </div>
        ${exitReason && html`<p class="line"><q>${inWords(exitReason)}</q></p>`}
        ${stepExecutions.length === 0 ? html`<p class="muted">No step was begun yet</p>` : html`<${Timeline} label="What became of each step" entries=${stepExecutions.map(entryOf)} />`}
        ${temporalUiUrl && html`<p><a href=${`${temporalUiUrl}/workflows/${encodeURIComponent(temporalWorkflowId)}`} rel="noreferrer">In the Temporal UI</a></p>`}
      </section>`;
    }}
  <//>`;
}
