import { sql, type SqlFragment } from '../../database/sql.ts';

/**
 * The common table expressions that record events. Every statement that records events has them, because an event
 * starts executions and ends waits in the same transaction: `everpost_start_executions` and `everpost_end_waits` do
 * that and return the executions, and `added_to_outbox` adds an outbox row for each.
 *
 * The statement may read `recorded`, the rows of `event`, but need not: PostgreSQL always runs the parts that write.
 * @param rows a select of all columns of the insert below, in their order
 * @param onConflict `on conflict …`, for events that may have been recorded before; these have no consequences again
 */
export function recordedEvents(rows: SqlFragment, onConflict: SqlFragment = sql``): SqlFragment {
  return sql`
    recorded as (
      insert into event (id, project_id, contact_id, email_id, name, data, created_at) ${rows} ${onConflict} returning *
    ),
    added_to_outbox as (
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), affected.project_id, affected.kind, affected.execution_id
      from (select array(select recorded::event from recorded) as events) given cross join lateral (
        select 'execution' as kind, * from everpost_start_executions(given.events)
        union all
        select 'executionEvent', * from everpost_end_waits(given.events)
      ) affected where cardinality(given.events) > 0
    )`;
}
