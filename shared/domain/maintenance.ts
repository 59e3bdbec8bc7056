import { sweepIdempotencyKeys } from './idempotency/idempotency.ts';
import type { Em } from './orm.ts';
import { limitStatements, queryOne, sql, type SqlFragment } from './sql.ts';
import { inTransaction } from './transaction.ts';

/** How many rows of each kind went. */
export interface CleanUpReport {
  idempotencyKeys: number;
  mailBodies: number;
  attachments: number;
  jobs: number;
  jobFiles: number;
  graphSnapshots: number;
  refusals: number;
}

/** Bodies of mail that has its outcome are kept this long, for support. */
const BODY_DAYS = 30;
const ATTACHMENT_DAYS = 7;
/** For this long whoever polls a job learns what became of it. */
const JOB_DAYS = 30;
/** Executions that were not started. */
const REFUSAL_DAYS = 30;
/** Rows of one kind that go at a time. */
export const CLEAN_UP_CHUNK = 5_000;
/** A sweep may read a large table to find its chunk. */
const SWEEP_MS = 10 * 60_000;

/** Deletes rows of `table` whose `key` is in a chunk of those that `old` selects. @returns how many went */
async function deleteChunk(em: Em, table: SqlFragment, key: SqlFragment, old: SqlFragment): Promise<number> {
  const deleted = await queryOne<{ count: number }>(
    em,
    sql`
      with old as (${old} limit ${CLEAN_UP_CHUNK}),
      gone as (delete from ${table} where ${key} in (select * from old) returning 1)
      select count(*) from gone`,
  );
  return deleted?.count ?? 0;
}

function olderThan(days: number): SqlFragment {
  return sql`< now() - ${days}::int * interval '1 day'`;
}

function sweepMailBodies(em: Em): Promise<number> {
  const old = sql`
    select c.email_id from email_content c join email e on e.id = c.email_id
    where c.created_at ${olderThan(BODY_DAYS)} and e.status not in ('PENDING', 'SENDING')`;
  return deleteChunk(em, sql`email_content`, sql`email_id`, old);
}

function sweepAttachments(em: Em): Promise<number> {
  const old = sql`
    select set_id, position from attachment a
    where created_at ${olderThan(ATTACHMENT_DAYS)} and not exists (
      select from email_content c join email e on e.id = c.email_id
      where c.attachment_set_id = a.set_id and e.status in ('PENDING', 'SENDING')
    )`;
  return deleteChunk(em, sql`attachment`, sql`(set_id, position)`, old);
}

function sweepJobs(em: Em): Promise<number> {
  const old = sql`select id from job where state in ('completed', 'failed') and updated_at ${olderThan(JOB_DAYS)}`;
  return deleteChunk(em, sql`job`, sql`id`, old);
}

/** Files that are there although their job has ended; the end of a job drops its file. */
function sweepJobFiles(em: Em): Promise<number> {
  const old = sql`
    select f.job_id from job_file f join job j on j.id = f.job_id where j.state in ('completed', 'failed')`;
  return deleteChunk(em, sql`job_file`, sql`job_id`, old);
}

/**
 * Graphs that an automation had before its present one and that no execution was given, or whose executions are gone.
 * An execution is created while its graph is the present one, give or take the length of a transaction, so it is found
 * by the index on the time of creation, and needs no other.
 */
function sweepGraphSnapshots(em: Em): Promise<number> {
  const old = sql`
    select id from (
      select id, automation_id, created_at,
        lead(created_at) over (partition by automation_id order by created_at, id) as replaced_at
      from automation_graph
    ) g
    where replaced_at ${olderThan(1)}
      and not exists (select from automation a where a.id = g.automation_id and a.graph_id = g.id)
      and not exists (
        select from automation_execution x
        where x.automation_id = g.automation_id and x.graph_id = g.id
          and x.created_at between g.created_at - interval '1 day' and g.replaced_at + interval '1 day'
      )`;
  return deleteChunk(em, sql`automation_graph`, sql`id`, old);
}

function sweepRefusals(em: Em): Promise<number> {
  const old = sql`select id from automation_refusal where created_at ${olderThan(REFUSAL_DAYS)}`;
  return deleteChunk(em, sql`automation_refusal`, sql`id`, old);
}

const SWEEPS: Record<keyof CleanUpReport, (em: Em, idempotencyTtlHours: number) => Promise<number>> = {
  idempotencyKeys: (em, ttlHours) => sweepIdempotencyKeys(em, ttlHours, CLEAN_UP_CHUNK),
  mailBodies: sweepMailBodies,
  attachments: sweepAttachments,
  jobs: sweepJobs,
  jobFiles: sweepJobFiles,
  graphSnapshots: sweepGraphSnapshots,
  refusals: sweepRefusals,
};

/** The kinds of rows that are swept, in order. */
export const CLEAN_UP_KINDS = Object.keys(SWEEPS) as (keyof CleanUpReport)[];

/**
 * Removes rows of one kind that are kept only for a while: a chunk, so that a large backlog is many short transactions.
 * @returns how many rows went; as many as `CLEAN_UP_CHUNK` mean that more may be left
 */
export async function cleanUpChunk(em: Em, kind: keyof CleanUpReport, idempotencyTtlHours: number): Promise<number> {
  return inTransaction(em, async (tx) => {
    await limitStatements(tx, SWEEP_MS);
    return SWEEPS[kind](tx, idempotencyTtlHours);
  });
}
