import { activeTraceParent } from '../../platform/tracing/spans.ts';
import { parseTraceParent, type TraceParent } from '../../pure/trace-parent.ts';
import type { Em } from '../../database/em.ts';
import { query, queryPrepared, sql, type SqlFragment } from '../../database/sql.ts';
import type { OutboxKind } from './outbox.ts';

/** The trace that work from the outbox continues. */
export interface TraceContext {
  parent: TraceParent;
  /** When the request added the work to the outbox. */
  at: Date;
}

/** Contexts by subject, or by execution where the outbox names one. */
export type TraceContexts = ReadonlyMap<string, TraceContext>;

/** Emails, events, campaigns, executions or jobs, and the trace of the request that made them, if it has one. */
export interface TracedSubjects {
  traceParent: string | undefined;
  subjectIds: readonly string[];
}

/** Stores in the caller's transaction that these subjects belong to the active trace. Without one it does nothing. */
export async function keepTraceContexts(em: Em, subjectIds: readonly string[]): Promise<void> {
  await keepTracesOf(em, [{ traceParent: activeTraceParent(), subjectIds }]);
}

/** As `keepTraceContexts`, for several requests. */
export async function keepTracesOf(em: Em, requests: readonly TracedSubjects[]): Promise<void> {
  const traced = requests.flatMap(({ traceParent, subjectIds }) =>
    traceParent === undefined ? [] : [...new Set(subjectIds)].map((subjectId) => ({ subjectId, traceParent })),
  );
  if (traced.length === 0) return;
  await query(
    em,
    sql`
      insert into trace_context (subject_id, trace_parent, created_at)
      select s, p, clock_timestamp()
      from unnest(
        ${traced.map(({ subjectId }) => subjectId)}::uuid[], ${traced.map(({ traceParent }) => traceParent)}::text[]
      ) as t (s, p)
      on conflict (subject_id) do update set trace_parent = excluded.trace_parent, created_at = excluded.created_at`,
  );
}

/**
 * An execution belongs to the trace of the event that started it: the contact's event of the trigger's name in the same
 * transaction. An execution that was started by hand has a trace of its own.
 */
function contextsOf(kind: OutboxKind, subjectIds: string[]): SqlFragment {
  const own = sql`
    select subject_id as id, trace_parent, created_at from trace_context where subject_id = any(${subjectIds}::uuid[])`;
  switch (kind) {
    case 'execution':
      return sql`
        ${own}
        union all
        select x.id, t.trace_parent, t.created_at
        from automation_execution x join automation a on a.id = x.automation_id
          join event e on e.contact_id = x.contact_id and e.name = a.trigger_event and e.created_at = x.created_at
          join trace_context t on t.subject_id = e.id
        where x.id = any(${subjectIds}::uuid[])`;
    case 'executionEvent':
      return sql`
        select w.execution_id as id, t.trace_parent, t.created_at
        from event_wait w join trace_context t on t.subject_id = w.event_id
        where w.execution_id = any(${subjectIds}::uuid[])`;
    default:
      return own;
  }
}

/** Finds the traces of subjects that the outbox names, in one statement. Subjects without a trace are missing. */
export async function findTraceContexts(em: Em, kind: OutboxKind, subjectIds: string[]): Promise<TraceContexts> {
  if (subjectIds.length === 0) return new Map();
  const rows = await queryPrepared<{ id: string; trace_parent: string; created_at: Date }>(
    em,
    contextsOf(kind, subjectIds),
  );
  return new Map(
    rows.flatMap((row): [string, TraceContext][] => {
      const parent = parseTraceParent(row.trace_parent);
      return parent ? [[row.id, { parent, at: row.created_at }]] : [];
    }),
  );
}
