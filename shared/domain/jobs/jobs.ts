import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { assertBelowLimit } from '../../database/row-limit.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { jobState } from '../../database/constants.ts';
import { columnsOf, json, query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { pick, tables, text, type RowOf } from '../../database/tables.ts';

export type BulkKind = 'SUBSCRIBE' | 'UNSUBSCRIBE' | 'DELETE';
/** Kinds of jobs that complete a change already made; they are never refused. */
export type ExecutionJobKind = 'CANCEL_EXECUTIONS' | 'DELETE_EXECUTIONS';
export type JobKind = 'IMPORT' | BulkKind | 'DELETE_FIELD' | 'RETRY_EXECUTIONS' | ExecutionJobKind;
export type JobState = 'waiting' | 'active' | 'completed' | 'failed';

/** The error of one item of a job. */
export type JobError = Record<string, string | number | null>;

/** The counts of a job so far, by names that depend on its kind. */
export type JobCounts = Record<string, number>;

const JOB = {
  ...pick(tables.job, 'id', 'projectId', 'kind', 'state'),
  /** What the job works on, such as ids or the name of a field. The file of an import is stored separately. */
  input: tables.job.input,
  /** The number of items done. It is committed with the work on them, so no item is done or counted twice. */
  position: tables.job.position,
  /** Items in all; null while unknown. */
  total: tables.job.total,
  counts: tables.job.counts,
  /** The first `ERRORS_MAX` errors. */
  errors: tables.job.errors,
  failedReason: tables.job.failedReason,
  createdAt: tables.job.createdAt,
};
export type Job = RowOf<typeof JOB>;

/** Errors that a job keeps; the others are only counted. */
const ERRORS_MAX = 100;

const COLUMNS = columnsOf(JOB);

export interface NewJob {
  projectId: string;
  kind: JobKind;
  input?: Record<string, unknown>;
  total?: number;
  file?: Buffer;
}

/** The field of the request that an error names. Jobs of kinds without a field are never refused. */
const FIELDS: Partial<Record<JobKind, string>> = {
  IMPORT: 'file',
  SUBSCRIBE: 'contactIds',
  UNSUBSCRIBE: 'contactIds',
  DELETE: 'contactIds',
  DELETE_FIELD: 'field',
  RETRY_EXECUTIONS: 'stepId',
};

/**
 * Queues a job in the caller's transaction.
 * @returns the id of the job
 * @throws AppError VALIDATION_ERROR while too many jobs of the project wait or run
 */
export async function createJob(em: Em, job: NewJob): Promise<string> {
  const field = FIELDS[job.kind];
  if (field !== undefined) {
    await assertBelowLimit(em, {
      rows: sql`
        from job where project_id = ${job.projectId} and state in (${jobState.waiting}, ${jobState.active})
          and kind = any(${Object.keys(FIELDS)}::text[])`,
      limit: LIMITS.openJobsPerProject,
      field,
      what: 'jobs that wait or run in a project',
    });
  }
  const id = uuidV7();
  await query(
    em,
    sql`
      insert into job (id, project_id, kind, input, total)
      values (${id}, ${job.projectId}, ${job.kind}, ${json(job.input ?? {})}::jsonb, ${job.total ?? null})`,
  );
  if (job.file) await query(em, sql`insert into job_file (job_id, content) values (${id}, ${job.file})`);
  await addToOutbox(em, 'job', job.projectId, [id]);
  return id;
}

/** The job, if it is of one of these kinds. @throws AppError JOB_NOT_FOUND */
export async function findJob(em: Em, projectId: string, jobId: string, kinds: readonly JobKind[]): Promise<Job> {
  const job = await queryOne(
    em,
    sql`
      select ${COLUMNS} from job
      where id = ${jobId} and project_id = ${projectId} and kind = any(${[...kinds]}::text[])`,
    JOB,
  );
  if (!job) throw new AppError('JOB_NOT_FOUND');
  return job;
}

/** The state of a job; undefined when it was deleted with its project. */
export async function findJobState(em: Em, jobId: string): Promise<JobState | undefined> {
  return (await queryOne(em, sql`select state from job where id = ${jobId}`, { state: tables.job.state }))?.state;
}

/** Marks a job as active. Returns undefined when it has ended, or was deleted with its project. */
export async function beginJob(em: Em, jobId: string): Promise<Job | undefined> {
  return queryOne(
    em,
    sql`
      update job set state = 'active', updated_at = now()
      where id = ${jobId} and state in (${jobState.waiting}, ${jobState.active}) returning ${COLUMNS}`,
    JOB,
  );
}

/** Sets the number of items of a job, when it was unknown at its creation. */
export async function setJobTotal(em: Em, jobId: string, total: number): Promise<void> {
  await query(em, sql`update job set total = ${total} where id = ${jobId}`);
}

/** The result of one chunk of a job. */
export interface ChunkOutcome {
  /** The number of items done. */
  done: number;
  counts: JobCounts;
  errors?: JobError[];
  /** Changes of the job's input, for the next chunk. */
  input?: Record<string, unknown>;
}

/**
 * The stored errors with new ones appended. The stored ones are read in SQL, because one may have been erased
 * meanwhile.
 */
function withErrors(errors: JobError[]): SqlFragment {
  if (errors.length === 0) return sql`errors`;
  return sql`(
    select jsonb_agg(e.error order by e.n) from jsonb_array_elements(errors || ${json(errors)}::jsonb)
      with ordinality as e (error, n) where e.n <= ${ERRORS_MAX}
  )`;
}

/**
 * Runs `work` on a chunk of a job, from `job.position` on, and records the result in the same transaction. If another
 * attempt has moved the position, it does nothing: this attempt's worker was wrongly thought dead. Its commit does not wait
 * for the disk: after a crash of PostgreSQL a lost chunk is done again, with its position. Whatever follows from a chunk
 * commits something that waits, which makes the chunk durable, too; so does the end of the job.
 * @returns the job afterwards; undefined when another attempt runs it, or it has ended
 */
export async function runJobChunk(em: Em, job: Job, work: (tx: Em) => Promise<ChunkOutcome>): Promise<Job | undefined> {
  return inTransaction(em, async (tx) => {
    const current = await queryOne(
      tx,
      sql`
        select position, set_config('synchronous_commit', 'off', true) as commit from job
        where id = ${job.id} and state = 'active' for no key update`,
      { position: tables.job.position, commit: text },
    );
    if (current?.position !== job.position) return undefined;
    const { done, counts, errors = [], input = {} } = await work(tx);
    const sums = { ...job.counts };
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    return queryOne(
      tx,
      sql`
        update job set position = position + ${done}::int, counts = ${json(sums)}::jsonb, errors = ${withErrors(errors)},
          input = input || ${json(input)}::jsonb, updated_at = now()
        where id = ${job.id} returning ${COLUMNS}`,
      JOB,
    );
  });
}

/** Ends a job and deletes its file. A job that has ended stays as it is. */
export async function endJob(em: Em, jobId: string, failedReason: string | null): Promise<void> {
  await query(
    em,
    sql`
      with ended as (
        update job set state = ${failedReason === null ? 'completed' : 'failed'}, failed_reason = ${failedReason}, updated_at = now()
        where id = ${jobId} and state in (${jobState.waiting}, ${jobState.active}) returning id
      )
      delete from job_file where job_id = (select id from ended)`,
  );
}

/** The file of an import; undefined when the import has ended. */
export async function findJobFile(em: Em, jobId: string): Promise<Buffer | undefined> {
  const row = await queryOne(em, sql`select content from job_file where job_id = ${jobId}`, {
    content: tables.jobFile.content,
  });
  return row?.content;
}
