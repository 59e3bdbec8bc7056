import { sql, type SqlFragment } from '../database/sql.ts';

/**
 * The common table expressions by which a statement records events. Every event of Everpost passes here, since an event
 * starts executions and ends waits, in the transaction that records it: `everpost_start_executions` and
 * `everpost_end_waits` do that and return the executions, and their outbox rows let Temporal know.
 *
 * The statement may read `recorded`, the rows of `event`, but need not: PostgreSQL runs writing parts in any case.
 * @param rows a select of the columns below in their order, all of them
 * @param onConflict for events that may have been recorded before, `on conflict …`; they have no consequences again
 */
export function recordedEvents(rows: SqlFragment, onConflict: SqlFragment = sql``): SqlFragment {
  return sql`
    recorded as (
      insert into event (id, project_id, contact_id, email_id, name, data, created_at) ${rows} ${onConflict} returning *
    ),
    told as (
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), affected.project_id, affected.kind, affected.execution_id
      from (select array(select recorded::event from recorded) as events) given cross join lateral (
        select 'execution' as kind, * from everpost_start_executions(given.events)
        union all
        select 'executionEvent', * from everpost_end_waits(given.events)
      ) affected
    )`;
}
