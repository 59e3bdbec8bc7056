import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { triggerStep, pathLabel, type AutomationGraph } from '../pure/automations/automation-graph.ts';
import { PRIORITIES, TASK_QUEUES } from '../pure/task-queues.ts';
import {
  EVENT_ARRIVED_SIGNAL,
  EXECUTION_RETRIED_SIGNAL,
  WORKFLOW_TYPES,
  executionWorkflowId,
  type AutomationExecutionInput,
  type EventArrived,
} from '../pure/workflow-contracts.ts';
import { searchAttributes } from '../platform/search-attributes.ts';
import type { Em } from '../database/em.ts';
import { query, sql } from '../database/sql.ts';
import { eachSubject } from './each-subject.ts';
import type { HandOver } from './hand-over.ts';
import { SUMMARY_NAME_LENGTH_MAX } from './summaries.ts';

interface ExecutionStart {
  executionId: string;
  projectId: string;
  automationId: string;
  contactId: string;
  automationName: string;
  graphId: string;
  currentStepId: string | null;
}

async function findStarts(em: Em, executionIds: string[]): Promise<ExecutionStart[]> {
  return query<ExecutionStart>(
    em,
    sql`
      select x.id as "executionId", x.project_id as "projectId", x.automation_id as "automationId",
        x.contact_id as "contactId", left(a.name, ${SUMMARY_NAME_LENGTH_MAX}::int) as "automationName",
        x.graph_id as "graphId", x.current_step_id as "currentStepId"
      from automation_execution x join automation a on a.id = x.automation_id
      where x.id = any(${executionIds}::uuid[])`,
  );
}

/** The names of the steps that come next, by the ids of executions. */
async function findLabels(em: Em, starts: ExecutionStart[]): Promise<Map<string, string>> {
  const graphIds = starts.map((start) => start.graphId);
  const rows = await query<{ id: string; graph: AutomationGraph }>(
    em,
    sql`select id, graph from automation_graph where id = any(${[...new Set(graphIds)]}::uuid[])`,
  );
  const graphs = new Map(rows.map((row) => [row.id, row.graph]));
  return new Map(
    starts.map(({ executionId, graphId, currentStepId }) => {
      const graph = graphs.get(graphId);
      const step = graph?.steps.find(({ id }) => id === currentStepId) ?? (graph && triggerStep(graph));
      return [executionId, graph && step ? pathLabel(graph, step) : 'first step'];
    }),
  );
}

/** What Temporal does with a repeated start, and whether it may return the first task to this process. */
export type StartPolicy = Pick<
  WorkflowStartOptions,
  'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'requestEagerStart'
>;

interface StarterDeps {
  em: Em;
  client: Client;
  /** Called for each execution, because each may belong to another trace. */
  handOver: HandOver;
}

/**
 * Starts the workflows of executions. Skips those that have started already, or whose automation no longer exists. With
 * `isRestart` a closed workflow is followed by another run, and one that is about to close is told to go on.
 */
export async function startExecutionWorkflows(
  { em, client, handOver }: StarterDeps,
  executionIds: string[],
  { isRestart, ...policy }: StartPolicy & { isRestart: boolean },
): Promise<void> {
  const starts = await findStarts(em, executionIds);
  const labels = await findLabels(em, starts);
  await eachSubject(
    starts,
    (start) => start.executionId,
    async ({ executionId, projectId, automationId, contactId, automationName }) => {
      const next = labels.get(executionId) ?? 'first step';
      const input: AutomationExecutionInput = { executionId, next };
      const { requestEagerStart, ...policies } = policy;
      const options = {
        ...policies,
        workflowId: executionWorkflowId(executionId),
        taskQueue: TASK_QUEUES.executions,
        args: [input],
        staticSummary: `${automationName} · ${contactId}`,
        typedSearchAttributes: searchAttributes({ projectId, automationId, contactId }),
        priority: { priorityKey: PRIORITIES.automation, fairnessKey: projectId },
      };
      const start = (): Promise<unknown> => {
        const type = WORKFLOW_TYPES.automationExecution;
        if (!isRestart) return client.workflow.start(type, { ...options, requestEagerStart });
        return client.workflow.signalWithStart(type, { ...options, signal: EXECUTION_RETRIED_SIGNAL, signalArgs: [] });
      };
      await handOver([executionId], start).catch((error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      });
    },
  );
}

/** Tells executions that the event they wait for has come. */
export async function signalEventArrivals(
  { em, client, handOver }: StarterDeps,
  executionIds: string[],
): Promise<void> {
  const waits = await query<{ executionId: string; eventId: string }>(
    em,
    sql`
      select execution_id as "executionId", event_id as "eventId" from event_wait
      where execution_id = any(${executionIds}::uuid[]) and event_id is not null`,
  );
  await eachSubject(
    waits,
    (wait) => wait.executionId,
    async ({ executionId, eventId }) => {
      const arrived: EventArrived = { eventId };
      const workflow = client.workflow.getHandle(executionWorkflowId(executionId));
      await handOver([executionId], () => workflow.signal(EVENT_ARRIVED_SIGNAL, arrived)).catch(ignoreClosed);
    },
  );
}

/** Cancels the workflows of cancelled executions. A workflow that starts later reads the status of its execution. */
export async function cancelExecutionWorkflows(client: Client, executionIds: string[]): Promise<void> {
  await eachSubject(
    executionIds,
    (executionId) => executionId,
    (executionId) => client.workflow.getHandle(executionWorkflowId(executionId)).cancel().catch(ignoreClosed),
  );
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
