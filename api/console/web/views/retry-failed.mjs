import { Action } from '../action.mjs';
import { call } from '../api.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';

/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */

/**
 * A button for each step at which executions have failed.
 * @param {{ workflow: WorkflowDefinition, counts: import('./execution-counts.mjs').Counts }} props
 */
export function RetryFailed({ workflow: { id, steps }, counts }) {
  const failing = steps.filter((step) => counts.get(step.id)?.['FAILED']);
  if (failing.length === 0) return null;
  /** @param {string} stepId */
  const retryAt = async (stepId) => {
    const { failed } = await call('POST', `/workflows/${id}/executions/retry-failed`, { body: { stepId } });
    return `${count(failed)} failed executions are gone through.`;
  };
  return html`<p class="choices">
    ${failing.map(
      ({ id: stepId, name }) =>
        html`<${Action}
          key=${stepId}
          label=${`Retry all that failed at ${name}`}
          question="They go on at this step, as it is in the workflow now. Earlier steps are not repeated."
          run=${() => retryAt(stepId)}
        />`,
    )}
  </p>`;
}
