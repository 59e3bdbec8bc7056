import { ACTIVE_EXECUTION_STATUSES, hasEnded, type ExecutionStatus } from '../../pure/automations/automation-status.ts';
import { literalList, sql, type SqlFragment } from '../../database/sql.ts';

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
