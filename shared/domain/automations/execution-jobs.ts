import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { readClock } from '../../database/clock.ts';
import { literalList, query, queryCount, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { createJob } from '../jobs/jobs.ts';
import { cancelExecutions } from './cancel-executions.ts';

/**
 * Executions that one transaction cancels or deletes. It takes less than a second, so others wait only so long for it.
 */
export const EXECUTION_CHUNK = 1_000;

/** Active executions to cancel: of one automation, or of all those of a project. */
export interface Cancellation {
  projectId: string;
  automationId: string | null;
  reason: string;
  /** Executions that started later are not cancelled. */
  startedBefore: Date;
}

/** The `from … where …` of the executions that are still to be cancelled. */
function activeIn({ projectId, automationId, startedBefore }: Cancellation) {
  // It names automations, because the index of active executions begins with the automation.
  return sql`
    from automation_execution
    where automation_id in (
        select id from automation
        where project_id = ${projectId} and (${automationId}::uuid is null or id = ${automationId}::uuid)
      )
      and status in ${literalList(ACTIVE_EXECUTION_STATUSES)} and started_at <= ${startedBefore}`;
}

/**
 * Cancels at most `EXECUTION_CHUNK` executions, in the caller's transaction.
 * @returns how many it found, fewer than `EXECUTION_CHUNK` when none are left, and how many of them had not ended meanwhile
 */
export async function cancelExecutionChunk(
  tx: Em,
  cancellation: Cancellation,
): Promise<{ found: number; cancelled: number }> {
  const rows = await query(tx, sql`select id ${activeIn(cancellation)} limit ${EXECUTION_CHUNK}`, {
    id: tables.automationExecution.id,
  });
  if (rows.length === 0) return { found: 0, cancelled: 0 };
  const executionIds = rows.map((row) => row.id);
  return { found: rows.length, cancelled: await cancelExecutions(tx, executionIds, cancellation.reason) };
}

/**
 * Cancels active executions: a chunk in the caller's transaction, the rest by a job in short transactions.
 * @returns how many are cancelled now or will be by the job
 */
export async function cancelActiveExecutions(tx: Em, scope: Omit<Cancellation, 'startedBefore'>): Promise<number> {
  // The time is rounded to milliseconds, so an execution that has just started could have a later one.
  const startedBefore = new Date((await readClock(tx)).getTime() + 1);
  const cancellation = { ...scope, startedBefore };
  const { found, cancelled } = await cancelExecutionChunk(tx, cancellation);
  if (found < EXECUTION_CHUNK) return cancelled;
  const total = await queryCount(tx, sql`select count(*) ${activeIn(cancellation)}`);
  if (total > 0) {
    const { projectId, automationId, reason } = scope;
    const input = { automationId, reason, startedBefore: startedBefore.toISOString() };
    await createJob(tx, { projectId, kind: 'CANCEL_EXECUTIONS', input, total });
  }
  return cancelled + total;
}

/**
 * Deletes at most `EXECUTION_CHUNK` executions of an automation, with their steps.
 * @returns how many; fewer than `EXECUTION_CHUNK` when none are left
 */
export async function deleteExecutionChunk(tx: Em, automationId: string): Promise<number> {
  return queryCount(
    tx,
    sql`
      with gone as (
        delete from automation_execution where id in (
          select id from automation_execution where automation_id = ${automationId} limit ${EXECUTION_CHUNK}
        ) returning id
      ),
      steps as (delete from step_execution where execution_id in (select id from gone))
      select count(*) from gone`,
  );
}

/**
 * Deletes those of these executions whose automation is gone: an event started them while it was deleted. Events take no
 * lock on what they start, because all events of a name would wait for the one row.
 */
export async function deleteLeftExecutions(em: Em, executionIds: readonly string[]): Promise<void> {
  await query(
    em,
    sql`
      with gone as (
        delete from automation_execution x
        where id = any(${[...executionIds]}::uuid[]) and not exists (select from automation a where a.id = x.automation_id)
        returning id
      ),
      steps as (delete from step_execution where execution_id in (select id from gone))
      delete from event_wait where execution_id in (select id from gone)`,
  );
}
