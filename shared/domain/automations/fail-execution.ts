import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { executionStatus, stepStatus } from '../../database/constants.ts';
import { query, sql, literalList, type Em } from '../../database/sql.ts';

/**
 * Ends an execution that cannot go on, at the step it has reached. It reads only the row of the execution, so it works
 * whatever is wrong with the rest. An execution that has ended stays as it is.
 * @param runId the run of its workflow, for operators
 */
export async function failExecution(
  em: Em,
  executionId: string,
  reason: string,
  runId: string | null = null,
): Promise<void> {
  await query(
    em,
    sql`
      with failed as (
        update automation_execution
        set status = ${executionStatus.FAILED}, exit_reason = ${reason}, completed_at = now(), updated_at = now(), resume_at = null,
          temporal_run_id = coalesce(${runId}::text, temporal_run_id)
        where id = ${executionId} and status in ${literalList(ACTIVE_EXECUTION_STATUSES)}
        returning id, step_number, current_step_id
      ),
      waits as (delete from event_wait w using failed f where w.execution_id = f.id)
      insert into step_execution (id, execution_id, step_number, step_id, status, error, started_at, completed_at)
      select everpost_uuid_v7(), id, step_number, current_step_id, ${stepStatus.FAILED}, ${reason}, now(), now()
      from failed where current_step_id is not null
      on conflict (execution_id, step_number) do update
        set status = excluded.status, error = excluded.error, completed_at = excluded.completed_at`,
  );
}
