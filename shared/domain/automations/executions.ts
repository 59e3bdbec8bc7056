import { uuidV7 } from '../../platform/uuid.ts';
import { AppError, badRequest } from '../../pure/app-error.ts';
import type { GraphStep } from '../../pure/automations/automation-graph.ts';
import { LIMITS } from '../../pure/limits.ts';
import { ACTIVE_EXECUTION_STATUSES, hasEnded, type ExecutionStatus } from '../../pure/automations/automation-status.ts';
import { findContact } from '../contacts/contacts.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { executionStatus } from '../../database/constants.ts';
import {
  columnsOf,
  joinSql,
  json,
  literalList,
  query,
  queryCount,
  queryOne,
  sql,
  inTransaction,
  type Em,
} from '../../database/sql.ts';
import { boolean, jsonAs, nullable, number, pick, tables, type RowOf } from '../../database/tables.ts';
import { findAutomation } from './automation-graphs.ts';
import type { Automation } from './automation.entity.ts';
import { cancelExecutions } from './cancel-executions.ts';
import { executionCount } from './execution-count.ts';
import { cancelActiveExecutions } from './execution-jobs.ts';

export type StepRef = Pick<GraphStep, 'id' | 'name' | 'type'>;

const ROW = {
  ...pick(tables.automationExecution, 'id', 'automationId', 'contactId', 'status', 'currentStepId', 'exitReason'),
  ...pick(tables.automationExecution, 'context', 'temporalRunId', 'startedAt', 'completedAt', 'createdAt', 'updatedAt'),
};

/** One run of an automation for one contact. */
const EXECUTION = {
  ...ROW,
  /** Null when the contact has been deleted. */
  contactEmail: nullable(tables.contact.email),
  currentStep: nullable(jsonAs<StepRef>()),
};
export type Execution = RowOf<typeof EXECUTION>;

const STEP_EXECUTION = {
  id: tables.stepExecution.id,
  stepId: tables.stepExecution.stepId,
  /** The step as it was when the execution started. */
  step: jsonAs<StepRef>(),
  status: tables.stepExecution.status,
  output: nullable(jsonAs<Record<string, unknown>>()),
  ...pick(tables.stepExecution, 'error', 'startedAt', 'completedAt'),
};
export type StepExecution = RowOf<typeof STEP_EXECUTION>;

/** The current step of an execution `x` in its graph `g`, as `StepRef`. */
const CURRENT_STEP = sql`
  (select jsonb_build_object('id', s.id, 'name', s.name, 'type', s.type)
   from jsonb_to_recordset(g.graph -> 'steps') as s (id text, name text, type text) where s.id = x.current_step_id::text
  )`;

const EXECUTION_COLUMNS = sql`
  ${columnsOf(ROW, 'x')}, c.email as "contactEmail", ${CURRENT_STEP} as "currentStep"`;

const EXECUTION_TABLES = sql`
  automation_execution x left join contact c on c.id = x.contact_id left join automation_graph g on g.id = x.graph_id`;

/**
 * Starts an execution by hand.
 * @throws AppError WORKFLOW_NOT_FOUND, CONTACT_NOT_FOUND, BAD_REQUEST when the automation is not enabled, CONFLICT when
 *   the contact may not enter (again)
 */
export async function startExecution(
  em: Em,
  projectId: string,
  automationId: string,
  contactId: string,
  context: Record<string, unknown>,
): Promise<Execution> {
  return inTransaction(em, async (tx) => {
    // `deleteAutomation` waits for this lock, and then sees the execution.
    await query(tx, sql`select from automation where id = ${automationId} and project_id = ${projectId} for key share`);
    const automation = await findAutomation(tx, projectId, automationId);
    if (!automation.enabled) {
      throw badRequest('The workflow is not enabled', {
        suggestion: 'Enable it with PATCH /workflows/:id { "enabled": true }',
      });
    }
    await findContact(tx, projectId, contactId);
    await assertNotTooOften(tx, automation, contactId);
    const executionId = uuidV7();
    const started = await queryOne(
      tx,
      sql`
        insert into automation_execution
          (id, project_id, automation_id, graph_id, contact_id, is_first, context, started_at, created_at, updated_at)
        select ${executionId}, project_id, id, graph_id, ${contactId}, not allow_reentry or not exists (
            select from automation_execution e where e.automation_id = a.id and e.contact_id = ${contactId}),
          ${json(context)}::jsonb, now(), now(), now()
        from automation a where id = ${automationId} and enabled
        on conflict do nothing returning id`,
      { id: tables.automationExecution.id },
    );
    if (!started) throw await entryRefusal(tx, automationId, contactId);
    await addToOutbox(tx, 'execution', projectId, [executionId]);
    return findExecution(tx, projectId, automationId, executionId);
  });
}

/** Starts by hand have the same limit as starts by events, because a calling program may start executions in a loop. */
async function assertNotTooOften(em: Em, automation: Automation, contactId: string): Promise<void> {
  if (!automation.allowReentry) return;
  const row = await queryOne(em, sql`select everpost_has_started_often(${automation.id}, ${contactId}) as often`, {
    often: boolean,
  });
  if (!row?.often) return;
  throw new AppError('CONFLICT', {
    message: `The contact has been through this workflow ${LIMITS.executionsPerContactAndHour} times within the hour`,
    details: { limit: LIMITS.executionsPerContactAndHour },
    suggestion: 'Try again later, and look for what starts it so often',
  });
}

/** The error for a contact that may not enter. */
async function entryRefusal(em: Em, automationId: string, contactId: string): Promise<AppError> {
  const latest = await queryOne(
    em,
    sql`
      select id, status in ${literalList(ACTIVE_EXECUTION_STATUSES)} as "isActive" from automation_execution
      where automation_id = ${automationId} and contact_id = ${contactId} order by created_at desc, id desc limit 1`,
    { id: tables.automationExecution.id, isActive: boolean },
  );
  return new AppError('CONFLICT', {
    message: latest?.isActive
      ? 'The contact is already in this workflow'
      : 'The contact has been through this workflow, which does not allow re-entry',
    details: { executionId: latest?.id ?? null },
    ...(!latest?.isActive && { suggestion: 'Set allowReentry on the workflow to let contacts enter again' }),
  });
}

export interface ExecutionListQuery {
  page: number;
  pageSize: number;
  status?: ExecutionStatus;
  /** Only those at this step. */
  stepId?: string;
}

const EXECUTIONS_AT = {
  stepId: tables.automationExecution.currentStepId,
  status: tables.automationExecution.status,
  executions: number,
};
/** Executions that are read to count those at each step. */
const COUNTED_MAX = 500_000;

/** How many executions that run, wait or have failed are at each step. @throws AppError WORKFLOW_NOT_FOUND */
export async function countExecutionsAt(em: Em, projectId: string, automationId: string) {
  await findAutomation(em, projectId, automationId);
  const active = literalList(ACTIVE_EXECUTION_STATUSES);
  return query(
    em,
    sql`
      select current_step_id as "stepId", status, count(*)::int as executions from (
        (select current_step_id, status from automation_execution
          where automation_id = ${automationId} and status in ${active} limit ${COUNTED_MAX})
        union all
        (select current_step_id, status from automation_execution
          where automation_id = ${automationId} and status = ${executionStatus.FAILED} and completed_at is not null
          limit ${COUNTED_MAX})
      ) counted group by 1, 2 order by 3 desc`,
    EXECUTIONS_AT,
  );
}

/** One page of an automation's executions, newest first. @throws AppError WORKFLOW_NOT_FOUND */
export async function listExecutions(
  em: Em,
  projectId: string,
  automationId: string,
  list: ExecutionListQuery,
): Promise<[Execution[], number]> {
  await findAutomation(em, projectId, automationId);
  const filters = [sql`x.automation_id = ${automationId}`];
  // A literal and the time of the end show PostgreSQL that it may use the indexes of active and of ended executions.
  if (list.status) filters.push(sql`x.status in ${literalList([list.status])}`);
  if (list.stepId !== undefined) filters.push(sql`x.current_step_id = ${list.stepId}`);
  if (list.status && hasEnded(list.status)) filters.push(sql`x.completed_at is not null`);
  const where = joinSql(filters, ' and ');
  const total = await queryCount(em, sql`select ${executionCount(sql`${automationId}::uuid`, list.status)} as count`);
  const executions = await query(
    em,
    sql`
      select ${EXECUTION_COLUMNS} from ${EXECUTION_TABLES} where ${where}
      order by x.created_at desc, x.id desc limit ${list.pageSize} offset ${(list.page - 1) * list.pageSize}`,
    EXECUTION,
  );
  return [executions, total];
}

/** Finds an execution of an automation. @throws AppError WORKFLOW_NOT_FOUND, EXECUTION_NOT_FOUND */
export async function findExecution(
  em: Em,
  projectId: string,
  automationId: string,
  executionId: string,
): Promise<Execution> {
  await findAutomation(em, projectId, automationId);
  const execution = await queryOne(
    em,
    sql`
      select ${EXECUTION_COLUMNS} from ${EXECUTION_TABLES}
      where x.id = ${executionId} and x.automation_id = ${automationId}`,
    EXECUTION,
  );
  if (!execution) throw new AppError('EXECUTION_NOT_FOUND');
  return execution;
}

/**
 * A step's output, with the recipient and the subject of its email. The email has these, so they are erased with it.
 */
const OUTPUT_WITH_EMAIL = sql`
  r.output || case when e.id is null then '{}' else jsonb_build_object('to', e.to_address, 'subject', e.subject) end`;

/** The steps that an execution has reached, in that order. */
export async function listStepExecutions(em: Em, executionId: string): Promise<StepExecution[]> {
  return query(
    em,
    sql`
      with steps as materialized (
        select s.id, jsonb_build_object('id', s.id, 'name', s.name, 'type', s.type) as step
        from automation_execution x join automation_graph g on g.id = x.graph_id,
          jsonb_to_recordset(g.graph -> 'steps') as s (id text, name text, type text)
        where x.id = ${executionId}
      )
      select r.id, r.step_id as "stepId", s.step, r.status, ${OUTPUT_WITH_EMAIL} as output, r.error,
        r.started_at as "startedAt", r.completed_at as "completedAt"
      from step_execution r left join steps s on s.id = r.step_id::text
      left join email e on e.id = (r.output ->> 'emailId')::uuid and e.execution_id = r.execution_id
      where r.execution_id = ${executionId} order by r.step_number`,
    STEP_EXECUTION,
  );
}

/**
 * Cancels one execution.
 * @throws AppError WORKFLOW_NOT_FOUND, EXECUTION_NOT_FOUND, CONFLICT when it has ended
 */
export async function cancelExecution(
  em: Em,
  projectId: string,
  automationId: string,
  executionId: string,
): Promise<Execution> {
  return inTransaction(em, async (tx) => {
    await findExecution(tx, projectId, automationId, executionId);
    const cancelled = await cancelExecutions(tx, [executionId], 'cancelled');
    const execution = await findExecution(tx, projectId, automationId, executionId);
    if (cancelled === 0) {
      throw new AppError('CONFLICT', {
        message: `The execution is already ${execution.status}`,
        details: { status: execution.status },
      });
    }
    return execution;
  });
}

/** Cancels every active execution of an automation. @returns how many */
export async function cancelAllExecutions(em: Em, projectId: string, automationId: string): Promise<number> {
  return inTransaction(em, async (tx) => {
    await findAutomation(tx, projectId, automationId);
    return cancelActiveExecutions(tx, { projectId, automationId, reason: 'cancelled' });
  });
}
