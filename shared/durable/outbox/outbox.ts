import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../../database/em.ts';
import { queryPrepared, sql, type SqlFragment } from '../../database/sql.ts';

/**
 * What must reach Temporal: deliver emails (transactional, of an automation), start or wake a campaign, start an
 * execution, signal its event to it, cancel it, run a job, erase the deleted contacts of a project, start or wake a
 * webhook endpoint.
 */
export const OUTBOX_KINDS = [
  'email',
  'automationEmail',
  'campaign',
  'execution',
  'executionEvent',
  'executionCancel',
  'job',
  'erasure',
  'webhook',
] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];

/** Few events start an execution or end a wait, so events wake the dispatcher this often at most, not one by one. */
export const EVENT_WAKE_MS = 50;

/** Batched rows become due together, at the next full second of the database. */
const GATHER_MS = 1_000;
/** Time until the rows batched now are due, if the clocks of process and database agree; polling handles the rest. */
export function untilNextBatchMs(): number {
  const marginMs = 20;
  return GATHER_MS - (Date.now() % GATHER_MS) + marginMs;
}

/**
 * The statement of `addToOutbox`, for a CTE of another statement. `isBatched` is for rows that may wait up to a second:
 * all rows of that second go into one start, because a start costs Temporal as much as some hundred rows cost
 * PostgreSQL. With `isRestart`, a closed workflow is followed by another one with the same id.
 */
export function outboxInsert(
  kind: OutboxKind,
  projectId: string,
  subjectIds: string[],
  options: { isBatched?: boolean; isRestart?: boolean } = {},
): SqlFragment {
  const due = options.isBatched ? sql`date_trunc('second', now()) + interval '1 second'` : sql`now()`;
  return sql`
    insert into outbox (id, project_id, kind, subject_id, available_at, is_restart)
    select i, ${projectId}, ${kind}, s, ${due}, ${options.isRestart ?? false}::boolean
    from unnest(${subjectIds.map(() => uuidV7())}::uuid[], ${subjectIds}::uuid[]) as n (i, s)`;
}

/** Adds outbox rows in the caller's transaction. Wake the dispatcher after the commit. */
export async function addToOutbox(
  em: Em,
  kind: OutboxKind,
  projectId: string,
  subjectIds: string[],
  options?: { isRestart: boolean },
): Promise<void> {
  await queryPrepared(em, outboxInsert(kind, projectId, subjectIds, options));
}
