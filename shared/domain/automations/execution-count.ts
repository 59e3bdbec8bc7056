import { ACTIVE_EXECUTION_STATUSES, hasEnded, type ExecutionStatus } from '../../pure/automations/automation-status.ts';
import { literalList, query, queryCount, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';
import { executionStatus } from '../../database/constants.ts';

/**
 * The number of executions of an automation, or of those in one status, as an SQL expression. Executions that have ended
 * are not read: the database function `everpost_count_ended_executions` counts them when they end, and subtracts those
 * that are deleted. So the cost grows with the active executions only.
 */
export function executionCount(automationId: SqlFragment, status?: ExecutionStatus): SqlFragment {
  const ended = sql`(
    select coalesce(sum(n.count), 0)::bigint from ended_execution_count n
    where n.automation_id = ${automationId} and ${status ? sql`n.status = ${status}` : sql`true`})`;
  if (status && hasEnded(status)) return ended;
  const active = sql`(
    select count(*) from automation_execution e
    where e.automation_id = ${automationId} and e.status in ${literalList(status ? [status] : ACTIVE_EXECUTION_STATUSES)})`;
  return status ? active : sql`${ended} + ${active}`;
}

/** How many executions of an automation have ended in each status; a status without any is left out. */
export function countEnded(em: Em, automationId: string) {
  return query(
    em,
    sql`
      select n.status, sum(n.count)::bigint as executions from ended_execution_count n
      where n.automation_id = ${automationId} group by 1 having sum(n.count) > 0 order by 2 desc`,
    { status: tables.endedExecutionCount.status, executions: number },
  );
}

/** How many executions of all automations of a project have failed. */
export function countFailed(em: Em, projectId: string): Promise<number> {
  return queryCount(
    em,
    sql`
      select coalesce(sum(n.count), 0)::bigint as count
      from automation a join ended_execution_count n on n.automation_id = a.id
      where a.project_id = ${projectId} and n.status = ${executionStatus.FAILED}`,
  );
}
