import { activeTraceParent } from '../../platform/tracing/spans.ts';
import { parseTraceParent, type TraceParent } from '../../pure/trace-parent.ts';
import { query, queryPrepared, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { date, text } from '../../database/tables.ts';

/** The trace that work from the outbox continues. */
export interface TraceContext {
  parent: TraceParent;
  /** When the request added the work to the outbox. */
  at: Date;
}

/** Contexts by subject. */
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
 * Finds the traces of subjects that the outbox names, in one statement. Subjects without a trace are missing.
 * @param others selects traces that the subjects continue beside their own
 */
export async function findTraceContexts(
  em: Em,
  subjectIds: readonly string[],
  others?: SqlFragment,
): Promise<TraceContexts> {
  if (subjectIds.length === 0) return new Map();
  const rows = await queryPrepared(
    em,
    sql`
      select subject_id as id, trace_parent, created_at from trace_context
      where subject_id = any(${[...subjectIds]}::uuid[]) ${others ? sql`union all ${others}` : sql``}`,
    { id: text, trace_parent: text, created_at: date },
  );
  return new Map(
    rows.flatMap((row): [string, TraceContext][] => {
      const parent = parseTraceParent(row.trace_parent);
      return parent ? [[row.id, { parent, at: row.created_at }]] : [];
    }),
  );
}
