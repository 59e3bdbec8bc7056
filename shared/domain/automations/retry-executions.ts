import { AppError } from '../../pure/app-error.ts';
import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { readClock } from '../../database/clock.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { executionStatus } from '../../database/constants.ts';
import {
  literalList,
  query,
  queryCount,
  queryOne,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { pick, tables, text } from '../../database/tables.ts';
import { createJob } from '../jobs/jobs.ts';
import { findExecution, type Execution } from './executions.ts';
import { findAutomation } from './automation-graphs.ts';

/** Executions that one transaction retries. */
const RETRY_CHUNK = 500;

/** The failed executions of an automation `x` of one project that are to go on, with the ids of their contacts. */
interface Candidates {
  projectId: string;
  automationId: string;
  executionIds: string[];
  contactIds: string[];
}

/** The graph `g` with the step `s` as the automation has it now. A step of another type is left as it was. */
const REPAIRED_GRAPH = sql`
  jsonb_set(g.graph, '{steps}', (
    select jsonb_agg(
      case when e.step ->> 'id' = s.id::text and e.step ->> 'type' = s.type
        then e.step || jsonb_build_object('name', s.name, 'config', s.config, 'templateId', s.template_id)
        else e.step end order by e.n)
    from jsonb_array_elements(g.graph -> 'steps') with ordinality as e (step, n)))`;

/** The condition that nothing keeps the FAILED execution `x` from going on, except that its contact was deleted. */
const MAY_GO_ON = sql`
  x.status = ${executionStatus.FAILED} and not x.is_stripped
    and exists (select from project p where p.id = x.project_id and not p.disabled)
    and not exists (
      select from automation_execution o where o.automation_id = x.automation_id and o.contact_id = x.contact_id
        and o.status in ${literalList(ACTIVE_EXECUTION_STATUSES)})`;

/**
 * Has failed executions go on at the step that failed, with their context, in the caller's transaction. They keep the
 * graph that they started with, except for the failed step: it gets the config that the automation has now. The repeated
 * step has a new number, so a late result of an earlier attempt does not count. Of several failed executions of one
 * contact the newest goes on, because only one may be active. The failure is kept for webhook endpoints.
 * @param inRun the run that continues the execution; without one, a new run is started by the outbox
 * @returns the ids of those that go on
 */
async function goOn(tx: Em, { projectId, automationId, ...candidates }: Candidates, inRun?: string): Promise<string[]> {
  // The order of locks: the automation, the contacts, the executions. Statements that start executions lock the contact.
  await query(tx, sql`select from automation where id = ${automationId} for key share`);
  const contactIds = await lockContacts(tx, projectId, candidates.contactIds, 'change');
  const outbox: SqlFragment =
    inRun === undefined
      ? sql`
        added_to_outbox as (
          insert into outbox (id, project_id, kind, subject_id, is_restart)
          select everpost_uuid_v7(), project_id, 'execution', id, true from retried
        ),`
      : sql``;
  const rows = await query(
    tx,
    sql`
      with failed as materialized (
        select x.* from automation_execution x
        where x.id = any(${candidates.executionIds}::uuid[]) and x.automation_id = ${automationId}
          and x.contact_id = any(${contactIds}::uuid[]) and ${MAY_GO_ON}
        order by x.id for no key update
      ),
      newest as materialized (
        select distinct on (contact_id) * from failed order by contact_id, created_at desc, id desc
      ),
      repaired as materialized (
        select g.id as former_id, s.id as step_id, everpost_uuid_v7() as id, g.created_at, ${REPAIRED_GRAPH} as graph
        from (select distinct graph_id, current_step_id from newest) n join automation_graph g on g.id = n.graph_id
          join automation_step s on s.id = n.current_step_id and s.automation_id = ${automationId}
      ),
      changed as materialized (
        select r.* from repaired r join automation_graph g on g.id = r.former_id where g.graph <> r.graph
      ),
      stored as (
        insert into automation_graph (id, automation_id, graph, created_at)
        select id, ${automationId}, graph, created_at from changed
      ),
      kept as (
        insert into former_failure (execution_id, last_no, completed_at, exit_reason)
        select id, everpost_feed_last_no(), completed_at, exit_reason from newest on conflict do nothing
      ),
      retried as (
        update automation_execution x set status = ${executionStatus.RUNNING}, exit_reason = null, completed_at = null, resume_at = null,
          step_number = case when x.step_number = 0 then 0 else x.step_number + 1 end,
          graph_id = coalesce(c.id, x.graph_id), updated_at = now(),
          temporal_run_id = coalesce(${inRun ?? null}::text, x.temporal_run_id)
        from newest n left join changed c on c.former_id = n.graph_id and c.step_id = n.current_step_id
        where x.id = n.id returning x.id, x.project_id
      ),
      ${outbox}
      done as (select id from retried)
      select id from done`,
    { id: tables.automationExecution.id },
  );
  return rows.map((row) => row.id);
}

/**
 * Has a failed execution go on at the step that failed.
 * @throws AppError WORKFLOW_NOT_FOUND, EXECUTION_NOT_FOUND, CONFLICT when it is not FAILED, or cannot go on
 */
export async function retryExecution(
  em: Em,
  projectId: string,
  automationId: string,
  executionId: string,
): Promise<Execution> {
  try {
    return await inTransaction(em, async (tx) => {
      const { contactId } = await findExecution(tx, projectId, automationId, executionId);
      const candidates = { projectId, automationId, executionIds: [executionId], contactIds: [contactId] };
      const [retried] = await goOn(tx, candidates);
      const execution = await findExecution(tx, projectId, automationId, executionId);
      if (retried === undefined) throw await retryRefusal(tx, execution);
      return execution;
    });
  } catch (error) {
    if (!isUniqueViolation(error, 'automation_execution_active')) throw error;
    throw alreadyActive(null);
  }
}

/** As `retryExecution`, for an execution of any project. @throws AppError EXECUTION_NOT_FOUND, CONFLICT */
export async function retryAnyExecution(em: Em, executionId: string): Promise<Execution> {
  const row = await queryOne(
    em,
    sql`
      select project_id as "projectId", automation_id as "automationId" from automation_execution where id = ${executionId}`,
    { projectId: tables.automationExecution.projectId, automationId: tables.automationExecution.automationId },
  );
  if (!row) throw new AppError('EXECUTION_NOT_FOUND');
  return retryExecution(em, row.projectId, row.automationId, executionId);
}

function alreadyActive(executionId: string | null): AppError {
  return new AppError('CONFLICT', {
    message: 'The contact is in this workflow with another execution',
    details: { executionId },
    suggestion: 'Retry this one when the other one has ended',
  });
}

/** Says why an execution does not go on. */
async function retryRefusal(em: Em, { id, status, contactEmail }: Execution): Promise<AppError> {
  if (status !== 'FAILED') {
    return new AppError('CONFLICT', {
      message: `The execution is ${status}; only one that is FAILED can be retried`,
      details: { status },
    });
  }
  if (contactEmail === null) return new AppError('CONFLICT', { message: 'The contact of the execution was deleted' });
  const other = await queryOne(
    em,
    sql`
      select o.id from automation_execution x
      join automation_execution o on o.automation_id = x.automation_id and o.contact_id = x.contact_id
        and o.status in ${literalList(ACTIVE_EXECUTION_STATUSES)}
      where x.id = ${id}`,
    { id: tables.automationExecution.id },
  );
  if (other) return alreadyActive(other.id);
  return new AppError('CONFLICT', { message: 'The data of the execution was deleted, because it failed long ago' });
}

/**
 * Has an execution go on in a workflow whose run Temporal has reset, unless this very run has failed it.
 * @returns whether the execution is active now
 */
export async function reopenInRun(
  em: Em,
  executionId: string,
  run: { id: string; isReset: boolean },
): Promise<boolean> {
  return inTransaction(em, async (tx) => {
    const execution = await queryOne(
      tx,
      sql`
        select project_id as "projectId", automation_id as "automationId", contact_id as "contactId", status,
          temporal_run_id as "runId"
        from automation_execution where id = ${executionId}`,
      {
        ...pick(tables.automationExecution, 'projectId', 'automationId', 'contactId', 'status'),
        runId: tables.automationExecution.temporalRunId,
      },
    );
    if (!execution) return false;
    const { projectId, automationId, contactId, status, runId } = execution;
    if (status !== 'FAILED') return status === 'RUNNING' || status === 'WAITING';
    if (!run.isReset || runId === run.id) return false;
    const candidates = { projectId, automationId, executionIds: [executionId], contactIds: [contactId] };
    return (await goOn(tx, candidates, run.id)).length > 0;
  });
}

/** Failed executions of an automation, all or those at one step, that failed before a moment. */
export interface FailedExecutions {
  projectId: string;
  automationId: string;
  stepId: string | null;
  failedBefore: Date;
}

/** The `from … where …` of these executions. The index of ended executions by status serves it. */
function failedIn({ automationId, stepId, failedBefore }: FailedExecutions): SqlFragment {
  return sql`
    from automation_execution x
    where x.automation_id = ${automationId} and x.status = ${executionStatus.FAILED} and x.completed_at is not null
      and x.updated_at <= ${failedBefore} and (${stepId}::uuid is null or x.current_step_id = ${stepId}::uuid)`;
}

/** The place that a job has reached among executions, which it goes through from the newest to the oldest. */
export interface RetryPosition {
  createdAt: string;
  id: string;
}

/**
 * Retries the next failed executions after a position, in the caller's transaction.
 * @returns how many were looked at, how many go on, and the new position; undefined when no more are left
 */
export async function retryChunk(
  tx: Em,
  failed: FailedExecutions,
  after: RetryPosition | undefined,
): Promise<{ seen: number; retried: number; next: RetryPosition | undefined }> {
  const rows = await query(
    tx,
    sql`
      select x.id, x.contact_id as "contactId", x.created_at::text as "createdAt" ${failedIn(failed)}
        and ${after ? sql`(x.created_at, x.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)` : sql`true`}
      order by x.created_at desc, x.id desc limit ${RETRY_CHUNK}`,
    { ...pick(tables.automationExecution, 'id', 'contactId'), createdAt: text },
  );
  const last = rows.at(-1);
  if (!last) return { seen: 0, retried: 0, next: undefined };
  const { projectId, automationId } = failed;
  const retried = await goOn(tx, {
    projectId,
    automationId,
    executionIds: rows.map((row) => row.id),
    contactIds: rows.map((row) => row.contactId),
  });
  const isEnd = rows.length < RETRY_CHUNK;
  return {
    seen: rows.length,
    retried: retried.length,
    next: isEnd ? undefined : { createdAt: last.createdAt, id: last.id },
  };
}

/**
 * Queues a job that retries the failed executions of an automation, or those that failed at one step. Executions that
 * cannot go on stay FAILED.
 * @returns how many have failed; no job is needed for none
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_ERROR while too many jobs of the project wait or run
 */
export async function retryFailedExecutions(
  em: Em,
  projectId: string,
  automationId: string,
  stepId: string | null,
): Promise<number> {
  return inTransaction(em, async (tx) => {
    await findAutomation(tx, projectId, automationId);
    // The time is rounded to milliseconds, so an execution that has just failed could have a later one.
    const failedBefore = new Date((await readClock(tx)).getTime() + 1);
    const total = await queryCount(
      tx,
      sql`select count(*) ${failedIn({ projectId, automationId, stepId, failedBefore })}`,
    );
    if (total > 0) {
      const input = { automationId, stepId, failedBefore: failedBefore.toISOString() };
      await createJob(tx, { projectId, kind: 'RETRY_EXECUTIONS', input, total });
    }
    return total;
  });
}
