import { withQuery } from '../api.mjs';
import { State } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { ExecutionCard } from './execution.mjs';
import { Executions } from './executions.mjs';
import { Graph } from './graph.mjs';
import { RetryFailed } from './retry-failed.mjs';
import { ExecutionCounts } from './execution-counts.mjs';

/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */
/** @typedef {import('./execution-counts.mjs').Counts} Counts */

/** One workflow: its graph, and where its executions are. @param {import('../main.mjs').ViewProps} props */
export function WorkflowView({ route: { id, query }, settings }) {
  const path = `/workflows/${encodeURIComponent(id)}`;
  const status = query.get('status') ?? 'FAILED';
  const chosen = query.get('execution');
  return html`<${Load} path=${path} isPage>
    ${(/** @type {WorkflowDefinition} */ workflow) => html`
      <h1>${workflow.name}</h1>
      <p class="now">
        <${State} state=${workflow.enabled ? 'enabled' : 'disabled'} /> Starts with${' '}
        <code>${workflow.triggerConfig.eventName}</code>.
      </p>
      ${chosen && html`<${ExecutionCard} key=${chosen} path=${`${path}/executions/${encodeURIComponent(chosen)}`} settings=${settings} />`}
      <${Executions}
        path=${withQuery(`${path}/executions`, { status, pageSize: 20 })}
        workflowId=${workflow.id}
        status=${status}
        settings=${settings}
      />
      <h2>Its steps</h2>
      <${ExecutionCounts} path=${`${path}/executions`}>
        ${(/** @type {Counts} */ counts) =>
          html`<${RetryFailed} workflow=${workflow} counts=${counts} />
            <${Graph} workflow=${workflow} counts=${counts} />`}
      <//>
    `}
  <//>`;
}
