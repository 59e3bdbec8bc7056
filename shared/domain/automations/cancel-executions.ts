import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { executionStatus, stepStatus } from '../../database/constants.ts';
import { literalList, query, queryCount, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

/**
 * Cancels those of the executions that are active, in the caller's transaction. No step of them takes effect after it,
 * and the outbox signals their workflows. All are locked before the first is changed. A transaction that starts an
 * execution has locked the contact; it would wait for a changed execution, but it does not wait for a locked one.
 * @returns how many were cancelled
 */
export async function cancelExecutions(em: Em, executionIds: string[], reason: string): Promise<number> {
  return queryCount(
    em,
    sql`
      with locked as (
        select id from automation_execution
        where id = any(${executionIds}::uuid[]) and status in ${literalList(ACTIVE_EXECUTION_STATUSES)}
        order by id for update
      ),
      ended as (
        update automation_execution x set status = ${executionStatus.CANCELLED}, exit_reason = ${reason}, completed_at = now(),
          updated_at = now(), resume_at = null
        where x.id = any(array(select id from locked))
        returning x.id, x.project_id, x.step_number
      ),
      steps as (
        update step_execution r set status = ${stepStatus.SKIPPED}, output = jsonb_build_object('skipped', ${reason}::text),
          completed_at = now()
        from ended
        where r.execution_id = ended.id and r.step_number = ended.step_number
          and r.status in (${stepStatus.PENDING}, ${stepStatus.RUNNING}, ${stepStatus.WAITING})
      ),
      waits as (delete from event_wait w using ended where w.execution_id = ended.id),
      added_to_outbox as (
        insert into outbox (id, project_id, kind, subject_id)
        select everpost_uuid_v7(), project_id, 'executionCancel', id from ended
      )
      select count(*) from ended`,
  );
}

/**
 * Locks the active executions of contacts that are to be deleted, before the contacts are locked. @returns their ids
 */
export async function lockExecutions(tx: Em, contactIds: string[]): Promise<string[]> {
  const rows = await query(
    tx,
    sql`
      select id from automation_execution
      where contact_id = any(${contactIds}::uuid[]) and status in ${literalList(ACTIVE_EXECUTION_STATUSES)}
      order by id for update`,
    { id: tables.automationExecution.id },
  );
  return rows.map((row) => row.id);
}
