import { call, withQuery } from '../api.mjs';
import { count, inWords } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, PageHead, Section, Tabs } from '../parts/basics.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { List } from '../parts/list.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';
import { peopleOnly } from './automations.mjs';
import { ExecutionPart } from './execution.mjs';
import { Graph } from './graph.mjs';

/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */
/** @typedef {import('../api-types.ts').Execution} Execution */
/** @typedef {import('../api-types.ts').ExecutionCounts} ExecutionCounts */

const POLL_SECONDS = 10;
const STATUSES = ['FAILED', 'RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'CANCELLED'];
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [{ label: 'Contact', kind: 'main' }, { label: 'Step' }, { label: 'Started', kind: 'time' }];

/** @param {{ workflow: WorkflowDefinition, failed: number, step: string, onChange: () => void }} props */
function Actions({ workflow, failed, step, onChange }) {
  const { id, name, enabled, steps } = workflow;
  const path = `/workflows/${id}`;
  const switchTo = async (/** @type {boolean} */ value) => {
    await call('PATCH', path, { body: { enabled: value } });
    onChange();
    return value ? 'Enabled' : 'Disabled';
  };
  const retry = async () => {
    const { failed: retried } = await call('POST', `${path}/executions/retry-failed`, {
      body: step ? { stepId: step } : {},
    });
    onChange();
    return `${count(retried)} executions go on`;
  };
  const where = steps.find((one) => one.id === step)?.name;
  return html`
    ${
      failed > 0 &&
      html`<${Action}
        needs="POST /workflows/:id/executions/retry-failed"
        label=${where ? 'Retry all at this step' : 'Retry all that failed'}
        kind="primary"
        icon="arrow-path"
        title=${where ? `Retry all that failed at ${where}` : 'Retry all that failed'}
        text=${`${count(failed)} executions go on at the step that failed, as it is now. Earlier steps are not repeated.`}
        run=${retry}
      />`
    }
    <${Menu} label="More">
      ${
        enabled
          ? html`<${Action}
              key="off"
              needs="PATCH /workflows/:id"
              label="Disable"
              title=${`Disable ${name}`}
              text="No event starts it. Executions under way go on."
              undo=${() => switchTo(true)}
              run=${() => switchTo(false)}
            />`
          : html`<${Action}
              key="on"
              needs="PATCH /workflows/:id"
              label="Enable"
              title=${`Enable ${name}`}
              text="From then on, its event starts it."
              undo=${() => switchTo(false)}
              run=${() => switchTo(true)}
            />`
      }
    <//>
  `;
}

/** @param {{ workflow: WorkflowDefinition, counts: ExecutionCounts, route: import('../route.mjs').Route }} props */
function Executions({ workflow: { id, steps }, counts, route }) {
  const step = route.query.get('step') ?? '';
  const ended = Object.fromEntries(counts.ended.map(({ status, executions }) => [status, executions]));
  const sums = Object.fromEntries(
    STATUSES.map((status) => [status, (step === '' && ended[status]) || sumOf(counts, status, step)]),
  );
  const status = route.query.get('status') ?? (sums['FAILED'] ? 'FAILED' : sums['WAITING'] ? 'WAITING' : 'COMPLETED');
  const tabs = STATUSES.filter((each) => step === '' || ['FAILED', 'RUNNING', 'WAITING'].includes(each)).map((key) => ({
    key,
    label: wordOf(key),
    href: linkTo('automations', id, { status: key, step }),
    ...(sums[key] && { count: count(sums[key]) }),
    isBad: key === 'FAILED' && (sums[key] ?? 0) > 0,
  }));
  const name = steps.find((one) => one.id === step)?.name;
  /** @param {Execution} execution */
  const row = (execution) => ({
    key: execution.id,
    href: linkTo('automations', id, { status, step, execution: execution.id }),
    cells: [
      execution.contact?.email ?? 'Deleted contact',
      [execution.currentStep?.name, inWords(execution.exitReason)].filter(Boolean).join(': '),
      execution.startedAt,
    ],
  });
  const all = name && html`<a class="button" href=${linkTo('automations', id, { status })}>All steps</a>`;
  return html`<${Section} title=${name ? `Executions at ${name}` : 'Executions'} id="executions" actions=${all}>
    <${Tabs} label="State of the executions" tabs=${tabs} current=${status} />
    <${List}
      path=${withQuery(`/workflows/${id}/executions`, { status, stepId: step, pageSize: 50 })}
      every=${POLL_SECONDS}
      label=${`Executions: ${wordOf(status).toLowerCase()}, newest first`}
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(row)}
      empty=${html`<${Empty} title=${`No execution is ${wordOf(status).toLowerCase()}`} icon="bolt" />`}
    />
  <//>`;
}

/** How many executions are in a state, at a step or at all. @param {ExecutionCounts} counts @param {string} status @param {string} step */
function sumOf({ counts }, status, step) {
  return counts
    .filter((one) => one.status === status && (step === '' || one.stepId === step))
    .reduce((sum, one) => sum + one.executions, 0);
}

/** Where are people, and where does it fail? @param {import('../main.mjs').ViewProps} props */
export function AutomationView({ route, settings }) {
  const path = `/workflows/${encodeURIComponent(route.id)}`;
  const chosen = route.query.get('execution');
  const step = route.query.get('step') ?? '';
  return html`<${Load} path=${path} isPage>
    ${(/** @type {WorkflowDefinition} */ workflow, /** @type {any} */ { reload }) => html`
      <${Load} path=${`${path}/executions/counts`} every=${POLL_SECONDS} shape="page">
        ${(/** @type {ExecutionCounts} */ counts, /** @type {any} */ { reload: recount }) => html`
          <${PageHead}
            title=${workflow.name}
            pill=${html`<${Pill} state=${workflow.enabled ? 'ENABLED' : 'DISABLED'} />`}
            facts=${html`Starts with <code>${workflow.triggerConfig.eventName}</code>${peopleOnly(workflow.triggerConfig)}${workflow.description && html` · <bdi>${workflow.description}</bdi>`}`}
            actions=${html`<${Actions} workflow=${workflow} failed=${sumOf(counts, 'FAILED', step)} step=${step} onChange=${() => (reload(), recount())} />`}
          />
          <div class="split even">
            <${Section} title="Steps"><${Graph} workflow=${workflow} counts=${counts} step=${step} /><//>
            <div>
              ${chosen && html`<${ExecutionPart} key=${chosen} path=${`${path}/executions/${encodeURIComponent(chosen)}`} settings=${settings} onChange=${recount} />`}
              <${Executions} workflow=${workflow} counts=${counts} route=${route} />
            </div>
          </div>
        `}
      <//>
    `}
  <//>`;
}
