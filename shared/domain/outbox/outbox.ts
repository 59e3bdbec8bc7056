import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../orm.ts';
import { json, query, queryOne, queryPrepared, sql, type SqlFragment } from '../sql.ts';
import { inTransaction } from '../transaction.ts';

/**
 * What must reach Temporal: deliver an email, transactional or of an automation; start or wake a campaign, run a job, compute a segment; start an automation's
 * execution, tell it of an event, cancel it.
 */
export type OutboxKind =
  EmailOutboxKind | 'campaign' | 'job' | 'segment' | 'execution' | 'executionEvent' | 'executionCancel';

export type EmailOutboxKind = 'email' | 'automationEmail';

export interface OutboxBatch {
  /** The id that makes starting it twice harmless. */
  batchId: string;
  kind: OutboxKind;
  projectId: string;
  subjectIds: string[];
  attempts: number;
  /** Whether a closed workflow of the same id may be followed by another. */
  isRestart: boolean;
}

interface OutboxRow {
  id: string;
  project_id: string;
  kind: OutboxKind;
  subject_id: string;
  batch_id: string;
  attempts: number;
  is_restart: boolean;
}

/** Starts of executions go their own way: an event can start thousands, which no mail shall wait for. */
export type OutboxLane = 'urgent' | 'execution';

/** Rows claimed at once. */
const CLAIM_SIZE: Record<OutboxLane, number> = { urgent: 200, execution: 20 };
/** How many rows of one kind and project go into one start. */
const BATCH_SIZE: Record<OutboxKind, number> = {
  email: 100,
  automationEmail: 100,
  campaign: 1,
  job: 1,
  segment: 1,
  execution: CLAIM_SIZE.execution,
  executionEvent: 20,
  executionCancel: 20,
};
/** A process that dies between claiming and starting leaves its batches to the others after this long. */
const LEASE_SECONDS = 30;
const RECOVERY_LOCK = 7_310_526;
const RETRY_SECONDS_MAX = 60;

/** An event may start something or end a wait, and mostly does not: look for that as often as this, not at every event. */
export const EVENT_WAKE_MS = 50;

/** Rows that are gathered become due together, at the next full second of the database. */
const GATHER_MS = 1_000;
/** Until what is gathered now is due, where this process and the database agree about the time; polling sees to the rest. */
export function untilGatheredMs(): number {
  const marginMs = 20;
  return GATHER_MS - (Date.now() % GATHER_MS) + marginMs;
}

/**
 * The statement of `addToOutbox`, to stand in a CTE of another one. `isGathered` is for what may wait a moment: what the
 * processes add within a second goes into one start, which costs Temporal as much as some hundred rows cost PostgreSQL.
 */
export function outboxInsert(
  kind: OutboxKind,
  projectId: string,
  subjectIds: string[],
  options: { isGathered: boolean } = { isGathered: false },
): SqlFragment {
  const due = options.isGathered ? sql`date_trunc('second', now()) + interval '1 second'` : sql`now()`;
  return sql`
    insert into outbox (id, project_id, kind, subject_id, available_at)
    select i, ${projectId}, ${kind}, s, ${due}
    from unnest(${subjectIds.map(() => uuidV7())}::uuid[], ${subjectIds}::uuid[]) as n (i, s)`;
}

/** Adds what must reach Temporal to the caller's transaction. Wake the dispatcher after the commit. */
export async function addToOutbox(em: Em, kind: OutboxKind, projectId: string, subjectIds: string[]): Promise<void> {
  await queryPrepared(em, outboxInsert(kind, projectId, subjectIds));
}

/**
 * As `addToOutbox`, for work that the caller is about to do itself: it goes to Temporal only when the caller has not
 * been heard of for this long. @returns the row, for `extendOutboxLease` and `dropFromOutbox`
 */
export async function leaseInOutbox(
  em: Em,
  kind: OutboxKind,
  projectId: string,
  subjectId: string,
  seconds: number,
): Promise<string> {
  const id = uuidV7();
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id, available_at)
      values (${id}, ${projectId}, ${kind}, ${subjectId}, now() + ${seconds}::int * interval '1 second')`,
  );
  return id;
}

/** The caller is still at it. */
export async function extendOutboxLease(em: Em, id: string, seconds: number): Promise<void> {
  await query(
    em,
    sql`
      update outbox set available_at = now() + ${seconds}::int * interval '1 second'
      where id = ${id} and batch_id is null`,
  );
}

/** The caller has done it. */
export async function dropFromOutbox(em: Em, id: string): Promise<void> {
  await query(em, sql`delete from outbox where id = ${id}`);
}

function groupIntoBatches(rows: OutboxRow[]): OutboxBatch[] {
  const batches = new Map<string, OutboxBatch>();
  for (const row of rows) {
    let batch = batches.get(row.batch_id);
    if (!batch) {
      batch = {
        batchId: row.batch_id,
        kind: row.kind,
        projectId: row.project_id,
        subjectIds: [],
        attempts: row.attempts,
        isRestart: row.is_restart,
      };
      batches.set(row.batch_id, batch);
    }
    batch.subjectIds.push(row.subject_id);
  }
  return [...batches.values()];
}

/** Whether a claim took as much as it could, so that more may be left. */
export function isFullClaim(lane: OutboxLane, batches: OutboxBatch[]): boolean {
  return batches.reduce((sum, batch) => sum + batch.subjectIds.length, 0) === CLAIM_SIZE[lane];
}

const LANE_ROWS: Record<OutboxLane, SqlFragment> = {
  urgent: sql`kind <> 'execution'`,
  execution: sql`kind = 'execution'`,
};

/**
 * Claims new rows and fixes, committed, which of them belong together, before anything is started: a batch that is
 * started again after a crash has the same id and the same content. A mail is queued once, so the first one names its
 * batch; the others may be woken many times and their rows do.
 */
export async function claimOutboxBatches(em: Em, lane: OutboxLane): Promise<OutboxBatch[]> {
  const rows = await queryPrepared<OutboxRow>(
    em,
    sql`
      with due as (
        select id, project_id, kind, subject_id, is_restart from outbox
        where batch_id is null and ${LANE_ROWS[lane]} and available_at <= now()
        order by id limit ${CLAIM_SIZE[lane]} for update skip locked
      ),
      placed as (
        select *, (row_number() over (partition by kind, project_id, is_restart order by id) - 1)
          / (${json(BATCH_SIZE)}::jsonb ->> kind)::int as place
        from due
      ),
      batched as (
        select id, first_value(case when kind in ('email', 'automationEmail') then subject_id else id end)
          over (partition by kind, project_id, is_restart, place order by id) as batch_id
        from placed
      )
      update outbox o set batch_id = b.batch_id, available_at = now() + ${LEASE_SECONDS}::int * interval '1 second'
      from batched b where o.id = b.id
      returning o.id, o.project_id, o.kind, o.subject_id, o.batch_id, o.attempts, o.is_restart`,
  );
  return groupIntoBatches(rows);
}

/** Takes over whole batches whose start failed or whose process died. One process at a time does this. */
export async function recoverOutboxBatches(em: Em): Promise<OutboxBatch[]> {
  return inTransaction(em, async (tx) => {
    const lock = await queryOne<{ locked: boolean }>(
      tx,
      sql`select pg_try_advisory_xact_lock(${RECOVERY_LOCK}) as locked`,
    );
    if (!lock?.locked) return [];
    const rows = await query<OutboxRow>(
      tx,
      sql`
        update outbox set available_at = now() + ${LEASE_SECONDS}::int * interval '1 second', attempts = attempts + 1
        where batch_id in (
          select distinct batch_id from outbox where batch_id is not null and available_at <= now() limit 50
        )
        returning id, project_id, kind, subject_id, batch_id, attempts, is_restart`,
    );
    return groupIntoBatches(rows);
  });
}

/** Removes batches that Temporal has. */
export async function deleteOutboxBatches(em: Em, batchIds: string[]): Promise<void> {
  await queryPrepared(em, sql`delete from outbox where batch_id = any(${batchIds}::uuid[])`);
}

/** Puts a batch back after a failed start, with a growing pause. */
export async function postponeOutboxBatch(em: Em, batch: OutboxBatch, error: string): Promise<void> {
  const delaySeconds = Math.min(2 ** Math.min(batch.attempts, 6), RETRY_SECONDS_MAX);
  await query(
    em,
    sql`
      update outbox set available_at = now() + ${delaySeconds}::int * interval '1 second', last_error = ${error}
      where batch_id = ${batch.batchId}`,
  );
}
