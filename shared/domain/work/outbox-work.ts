import { pathLabel, triggerStep } from '../../pure/automations/automation-graph.ts';
import type { OutboxKind } from '../../pure/outbox-kinds.ts';
import { PRIORITIES, TASK_QUEUES } from '../../pure/task-queues.ts';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CONTACTS_DELETED_SIGNAL,
  EMAIL_RESCHEDULED_SIGNAL,
  EVENT_ARRIVED_SIGNAL,
  EXECUTION_RETRIED_SIGNAL,
  OPT_IN_CHANGED_SIGNAL,
  WEBHOOK_WOKEN_SIGNAL,
  WORKFLOW_TYPES,
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  erasureWorkflowId,
  executionWorkflowId,
  jobWorkflowId,
  optInWorkflowId,
  webhookEndpointWorkflowId,
  type AutomationExecutionInput,
  type CampaignInput,
  type EmailDeliveryInput,
  type EmailRescheduled,
  type ErasureInput,
  type EventArrived,
  type JobInput,
  type OptInInput,
  type ScheduledEmailInput,
  type WebhookEndpointInput,
} from '../../pure/workflow-contracts.ts';
import { emailStatus } from '../../database/constants.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { notNull, number, pick, tables, text, type RowOf } from '../../database/tables.ts';
import type { OutboxBatch } from '../../durable/outbox/outbox-claims.ts';
import type { OutboxWork, WorkflowCall, WorkflowStart } from '../../durable/outbox/work.ts';
import { deleteLeftExecutions } from '../automations/execution-jobs.ts';
import { wakeMail } from '../campaigns/wake.ts';
import { ALL_PROJECTS, forgetOldRules } from '../emails/held-mail.ts';
import type { JobKind } from '../jobs/jobs.ts';
import { wakeEndpoints } from '../webhooks/delivery-state.ts';

/** Temporal allows 200 bytes in a summary. Two names of characters with at most four bytes fit. */
const SUMMARY_NAME_LENGTH_MAX = 40;

const JOB_SUMMARIES: Record<JobKind, string> = {
  IMPORT: 'import contacts',
  SUBSCRIBE: 'subscribe contacts',
  UNSUBSCRIBE: 'unsubscribe contacts',
  DELETE: 'delete contacts',
  DELETE_FIELD: 'delete a custom field',
  RETRY_EXECUTIONS: 'retry failed executions',
  CANCEL_EXECUTIONS: 'cancel executions',
  DELETE_EXECUTIONS: 'delete the executions of a workflow',
};

function started(
  type: string,
  input: object,
  options: Pick<WorkflowStart, 'summary' | 'priority'> & Partial<WorkflowStart>,
): WorkflowStart {
  return { type, input, taskQueue: TASK_QUEUES.orchestration, ...options };
}

function delivery(
  { batchId, projectId, subjectIds }: OutboxBatch,
  origin?: EmailDeliveryInput['origin'],
): WorkflowCall {
  const input = { projectId, emailIds: subjectIds, ...(origin !== undefined && { origin }) };
  return {
    workflowId: emailDeliveryWorkflowId(batchId),
    subjectIds,
    start: started(WORKFLOW_TYPES.emailDelivery, input satisfies EmailDeliveryInput, {
      summary: subjectIds.length === 1 ? 'one email' : `${subjectIds.length} emails`,
      priority: PRIORITIES[origin ?? 'transactional'],
    }),
  };
}

const SCHEDULED_PRIORITY = 'transactional';

/** Starts the delivery of each scheduled email, or tells it the moment that the email has now. */
async function startScheduled(em: Em, { projectId, subjectIds }: OutboxBatch): Promise<WorkflowCall[]> {
  const rows = await query(
    em,
    sql`
      select id, (extract(epoch from case when status = ${emailStatus.PENDING} then scheduled_at else created_at end) * 1000)::float8 as "dueAtMs"
      from email where id = any(${subjectIds}::uuid[]) and scheduled_at is not null`,
    { id: tables.email.id, dueAtMs: number },
  );
  return rows.map(({ id, dueAtMs }) => ({
    workflowId: emailDeliveryWorkflowId(id),
    subjectIds: [id],
    start: started(
      WORKFLOW_TYPES.scheduledEmail,
      { projectId, emailIds: [id], dueAtMs } satisfies ScheduledEmailInput,
      {
        summary: 'one scheduled email',
        priority: PRIORITIES[SCHEDULED_PRIORITY],
      },
    ),
    signal: { name: EMAIL_RESCHEDULED_SIGNAL, args: [{ dueAtMs } satisfies EmailRescheduled] },
  }));
}

async function wakeCampaigns(em: Em, { subjectIds }: OutboxBatch): Promise<WorkflowCall[]> {
  const rows = await query(
    em,
    sql`
      select c.id, left(p.name, ${SUMMARY_NAME_LENGTH_MAX}::int) || ' · ' || left(c.name, ${SUMMARY_NAME_LENGTH_MAX}::int)
        as summary
      from campaign c join project p on p.id = c.project_id where c.id = any(${subjectIds}::uuid[])`,
    { id: tables.campaign.id, summary: text },
  );
  const summaries = new Map(rows.map(({ id, summary }) => [id, summary]));
  return subjectIds.map((campaignId) => ({
    workflowId: campaignWorkflowId(campaignId),
    subjectIds: [campaignId],
    start: started(WORKFLOW_TYPES.campaign, { campaignId } satisfies CampaignInput, {
      summary: summaries.get(campaignId) ?? 'a deleted campaign',
      attributes: { campaignId },
      priority: PRIORITIES.campaign,
    }),
    signal: { name: CAMPAIGN_CHANGED_SIGNAL, args: [] },
  }));
}

const EXECUTION_ROW = {
  ...pick(tables.automationExecution, 'id', 'automationId', 'contactId', 'graphId', 'currentStepId'),
  automationName: text,
};
type ExecutionRow = RowOf<typeof EXECUTION_ROW>;

/** The names of the next steps of executions, in their order. */
async function nextLabels(em: Em, executions: readonly ExecutionRow[]): Promise<string[]> {
  const graphIds = [...new Set(executions.map(({ graphId }) => graphId))];
  const statement = sql`select id, graph from automation_graph where id = any(${graphIds}::uuid[])`;
  const rows = await query(em, statement, pick(tables.automationGraph, 'id', 'graph'));
  const graphs = new Map(rows.map(({ id, graph }) => [id, graph]));
  return executions.map(({ graphId, currentStepId }) => {
    const graph = graphs.get(graphId);
    const step = graph?.steps.find(({ id }) => id === currentStepId) ?? (graph && triggerStep(graph));
    return graph && step ? pathLabel(graph, step) : 'first step';
  });
}

/**
 * Starts the executions that still exist. On a restart, a closed workflow is followed by another run, and one that is
 * about to close is told to go on.
 */
async function startExecutions(em: Em, { subjectIds, isRestart }: OutboxBatch): Promise<WorkflowCall[]> {
  const executions = await query(
    em,
    sql`
      select x.id, x.automation_id as "automationId", x.contact_id as "contactId",
        left(a.name, ${SUMMARY_NAME_LENGTH_MAX}::int) as "automationName", x.graph_id as "graphId",
        x.current_step_id as "currentStepId"
      from automation_execution x join automation a on a.id = x.automation_id
      where x.id = any(${subjectIds}::uuid[])`,
    EXECUTION_ROW,
  );
  if (executions.length < subjectIds.length) await deleteLeftExecutions(em, subjectIds);
  const labels = await nextLabels(em, executions);
  return executions.map(({ id, automationId, contactId, automationName }, index) => {
    const input = { executionId: id, next: labels[index] ?? 'first step' };
    return {
      workflowId: executionWorkflowId(id),
      subjectIds: [id],
      start: started(WORKFLOW_TYPES.automationExecution, input satisfies AutomationExecutionInput, {
        taskQueue: TASK_QUEUES.executions,
        summary: `${automationName} · ${contactId}`,
        attributes: { automationId, contactId },
        priority: PRIORITIES.automation,
      }),
      ...(isRestart && { signal: { name: EXECUTION_RETRIED_SIGNAL, args: [] } }),
    };
  });
}

/** Tells executions that the event they wait for has come. */
async function signalEvents(em: Em, { subjectIds }: OutboxBatch): Promise<WorkflowCall[]> {
  const waits = await query(
    em,
    sql`
      select execution_id as id, event_id as "eventId" from event_wait
      where execution_id = any(${subjectIds}::uuid[]) and event_id is not null`,
    { id: tables.eventWait.executionId, eventId: notNull(tables.eventWait.eventId) },
  );
  return waits.map(({ id, eventId }) => ({
    workflowId: executionWorkflowId(id),
    subjectIds: [id],
    signal: { name: EVENT_ARRIVED_SIGNAL, args: [{ eventId } satisfies EventArrived] },
  }));
}

async function startJobs(em: Em, { subjectIds }: OutboxBatch): Promise<WorkflowCall[]> {
  const statement = sql`select id, kind from job where id = any(${subjectIds}::uuid[])`;
  const rows = await query(em, statement, pick(tables.job, 'id', 'kind'));
  const kinds = new Map(rows.map(({ id, kind }) => [id, kind]));
  return subjectIds.map((jobId) => {
    const kind = kinds.get(jobId);
    const summary = kind ? JOB_SUMMARIES[kind] : 'a job';
    return {
      workflowId: jobWorkflowId(jobId),
      subjectIds: [jobId],
      start: started(WORKFLOW_TYPES.job, { jobId } satisfies JobInput, { summary, priority: PRIORITIES.job }),
    };
  });
}

/** Each project has one workflow. */
function wakeErasure({ projectId, subjectIds }: OutboxBatch): WorkflowCall {
  return {
    workflowId: erasureWorkflowId(projectId),
    subjectIds,
    start: started(WORKFLOW_TYPES.erasure, { projectId } satisfies ErasureInput, {
      summary: 'erase deleted contacts',
      priority: PRIORITIES.job,
      isRepeatable: true,
    }),
    signal: { name: CONTACTS_DELETED_SIGNAL, args: [] },
  };
}

/** Each endpoint has one workflow. */
function wakeWebhooks({ subjectIds }: OutboxBatch): WorkflowCall[] {
  return [...new Set(subjectIds)].map((endpointId) => ({
    workflowId: webhookEndpointWorkflowId(endpointId),
    subjectIds: [endpointId],
    start: started(WORKFLOW_TYPES.webhookEndpoint, { endpointId } satisfies WebhookEndpointInput, {
      summary: 'deliver events to an endpoint',
      priority: PRIORITIES.job,
      isRepeatable: true,
    }),
    signal: { name: WEBHOOK_WOKEN_SIGNAL, args: [] },
  }));
}

/** Each opt-in has one workflow. */
function wakeOptIns({ subjectIds }: OutboxBatch): WorkflowCall[] {
  return subjectIds.map((optInId) => ({
    workflowId: optInWorkflowId(optInId),
    subjectIds: [optInId],
    start: started(WORKFLOW_TYPES.optIn, { optInId } satisfies OptInInput, {
      summary: 'confirm a subscription',
      // A flood of forms in one project must not keep the campaigns of another from their turn.
      priority: PRIORITIES.campaign,
    }),
    signal: { name: OPT_IN_CHANGED_SIGNAL, args: [] },
  }));
}

const SHORT_PAUSE_MS = 20;
/** The email of another project may wait for the whole pause. */
const byRows = (rows: number): number => Math.min(100, SHORT_PAUSE_MS + rows * 10);

/**
 * All kinds of outbox rows. A start costs Temporal and the worker as much as some hundred rows cost PostgreSQL. So the
 * pause of emails grows with the load; a single email never waits for it. Executions and their events come by the
 * thousand, and each is much work for Temporal. They are handed over in small numbers, so that emails of other projects
 * need not wait. Cancellations are not urgent, because a cancelled execution takes no further step even if its workflow
 * still runs.
 */
export const OUTBOX_WORK: Record<OutboxKind, OutboxWork> = {
  email: {
    claimRows: 400,
    batchRows: 200,
    parallel: 4,
    handOverMs: 250,
    pauseMs: byRows,
    calls: (_em, batch) => [delivery(batch)],
  },
  automationEmail: {
    claimRows: 200,
    batchRows: 100,
    parallel: 2,
    handOverMs: 250,
    pauseMs: byRows,
    calls: (_em, batch) => [delivery(batch, 'automation')],
  },
  scheduledEmail: {
    claimRows: 100,
    batchRows: 100,
    parallel: 2,
    handOverMs: 0,
    pauseMs: byRows,
    calls: startScheduled,
  },
  campaign: {
    claimRows: 10,
    batchRows: 1,
    parallel: 2,
    handOverMs: 0,
    pauseMs: () => SHORT_PAUSE_MS,
    calls: wakeCampaigns,
  },
  execution: {
    claimRows: 20,
    batchRows: 20,
    parallel: 3,
    handOverMs: 0,
    pauseMs: () => SHORT_PAUSE_MS,
    calls: startExecutions,
    // An execution belongs to the trace of the event that started it: the contact's event of the trigger's name in the
    // same transaction. An execution that was started by hand has a trace of its own.
    tracesOf: (executionIds) => sql`
      select x.id, t.trace_parent, t.created_at
      from automation_execution x join automation a on a.id = x.automation_id
        join event e on e.contact_id = x.contact_id and e.name = a.trigger_event and e.created_at = x.created_at
        join trace_context t on t.subject_id = e.id
      where x.id = any(${executionIds}::uuid[])`,
  },
  executionEvent: {
    claimRows: 20,
    batchRows: 20,
    parallel: 2,
    handOverMs: 0,
    pauseMs: () => SHORT_PAUSE_MS,
    calls: signalEvents,
    tracesOf: (executionIds) => sql`
      select w.execution_id as id, t.trace_parent, t.created_at
      from event_wait w join trace_context t on t.subject_id = w.event_id
      where w.execution_id = any(${executionIds}::uuid[])`,
  },
  executionCancel: {
    claimRows: 10,
    batchRows: 10,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 250,
    isPatient: true,
    calls: (_em, { subjectIds }) => subjectIds.map((id) => ({ workflowId: executionWorkflowId(id), subjectIds: [id] })),
  },
  job: {
    claimRows: 10,
    batchRows: 1,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 100,
    isPatient: true,
    calls: startJobs,
  },
  erasure: {
    claimRows: 100,
    batchRows: 100,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 1_000,
    isPatient: true,
    calls: (_em, batch) => [wakeErasure(batch)],
  },
  webhook: {
    claimRows: 10,
    batchRows: 10,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 200,
    isPatient: true,
    calls: (_em, batch) => wakeWebhooks(batch),
    // Recording an event adds no row for its endpoints, because that would cost too much.
    find: { everyMs: 1_000, add: wakeEndpoints },
  },
  optIn: {
    claimRows: 10,
    batchRows: 10,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 100,
    isPatient: true,
    calls: (_em, batch) => wakeOptIns(batch),
  },
  heldMail: {
    claimRows: 10,
    batchRows: 10,
    parallel: 1,
    handOverMs: 0,
    pauseMs: () => 100,
    // It adds the rows that reach Temporal.
    async calls(em, { projectId }) {
      await wakeMail(em, projectId === ALL_PROJECTS ? undefined : projectId);
      return [];
    },
    find: { everyMs: 1_000, add: forgetOldRules },
  },
};
