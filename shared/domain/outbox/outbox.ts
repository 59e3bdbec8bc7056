import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../orm.ts';
import { query, queryOne, sql } from '../sql.ts';

/**
 * What must reach Temporal: deliver a mail, start or wake a campaign, run a job, compute a segment; start an automation's
 * execution, tell it of an event, cancel it.
 */
export type OutboxKind = 'email' | 'campaign' | 'job' | 'segment' | 'execution' | 'executionEvent' | 'executionCancel';

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
  batch_id: string | null;
  attempts: number;
  is_restart: boolean;
}

/** Rows taken in one round. */
const ROUND_SIZE = 200;
/** Of them, starts of executions: an event can start thousands, which no mail shall wait for. */
const EXECUTIONS_A_ROUND = 60;
/** How many rows of one kind and project go into one start. */
const BATCH_SIZE: Record<OutboxKind, number> = {
  email: 100,
  campaign: 1,
  job: 1,
  segment: 1,
  execution: 20,
  executionEvent: 20,
  executionCancel: 20,
};
/** A process that dies between claiming and starting leaves its batches to the others after this long. */
const LEASE_SECONDS = 30;
const RECOVERY_LOCK = 7_310_526;
const RETRY_SECONDS_MAX = 60;

/** Adds what must reach Temporal to the caller's transaction. Wake the dispatcher after the commit. */
export async function addToOutbox(em: Em, kind: OutboxKind, projectId: string, subjectIds: string[]): Promise<void> {
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id)
      select i, ${projectId}, ${kind}, s from unnest(${subjectIds.map(() => uuidV7())}::uuid[], ${subjectIds}::uuid[]) as n (i, s)`,
  );
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

function groupIntoBatches(rows: OutboxRow[]): { batch: OutboxBatch; rowIds: string[] }[] {
  const open = new Map<string, { batch: OutboxBatch; rowIds: string[] }>();
  const all: { batch: OutboxBatch; rowIds: string[] }[] = [];
  for (const row of rows) {
    const key = row.batch_id ?? `${row.kind} ${row.project_id}`;
    let group = open.get(key);
    if (!group || (row.batch_id === null && group.rowIds.length >= BATCH_SIZE[row.kind])) {
      // A mail is queued once, so it can name its batch; a campaign is woken many times.
      const batchId = row.batch_id ?? (row.kind === 'email' ? row.subject_id : row.id);
      group = {
        batch: { batchId, kind: row.kind, projectId: row.project_id, subjectIds: [], attempts: row.attempts, isRestart: row.is_restart },
        rowIds: [],
      };
      open.set(key, group);
      all.push(group);
    }
    group.batch.subjectIds.push(row.subject_id);
    group.rowIds.push(row.id);
  }
  return all;
}

/**
 * Claims new rows and fixes, committed, which of them belong together, before anything is started: a batch that is
 * started again after a crash has the same id and the same content.
 */
export async function claimOutboxBatches(em: Em): Promise<OutboxBatch[]> {
  return em.transactional(async (tx) => {
    const rows = await query<OutboxRow>(
      tx,
      sql`
        with urgent as (
          select id, project_id, kind, subject_id, batch_id, attempts, is_restart from outbox
          where batch_id is null and kind <> 'execution' and available_at <= now()
          order by id limit ${ROUND_SIZE} for update skip locked
        ),
        executions as (
          select id, project_id, kind, subject_id, batch_id, attempts, is_restart from outbox
          where batch_id is null and kind = 'execution' and available_at <= now()
          order by id limit ${EXECUTIONS_A_ROUND} for update skip locked
        )
        select * from urgent union all select * from executions`,
    );
    if (rows.length === 0) return [];
    const groups = groupIntoBatches(rows);
    const assignments = groups.flatMap(({ batch, rowIds }) => rowIds.map((id) => ({ id, batchId: batch.batchId })));
    await query(
      tx,
      sql`
        update outbox o set batch_id = a.batch_id, available_at = now() + ${LEASE_SECONDS}::int * interval '1 second'
        from unnest(${assignments.map((item) => item.id)}::uuid[], ${assignments.map((item) => item.batchId)}::uuid[]) as a (id, batch_id)
        where o.id = a.id`,
    );
    return groups.map((group) => group.batch);
  });
}

/** Takes over whole batches whose start failed or whose process died. One process at a time does this. */
export async function recoverOutboxBatches(em: Em): Promise<OutboxBatch[]> {
  return em.transactional(async (tx) => {
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
    return groupIntoBatches(rows).map((group) => group.batch);
  });
}

/** Removes batches that Temporal has. */
export async function deleteOutboxBatches(em: Em, batchIds: string[]): Promise<void> {
  await query(em, sql`delete from outbox where batch_id = any(${batchIds}::uuid[])`);
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
