import { cancelExecutionChunk, deleteExecutionChunk, EXECUTION_CHUNK } from '../automations/execution-jobs.ts';
import { retryChunk, type RetryPosition } from '../automations/retry-executions.ts';
import { AppError } from '../../pure/app-error.ts';
import { DATA_TOO_LARGE } from '../contacts/contact-data-limit.ts';
import { deleteFieldChunk } from '../contacts/field-removal.ts';
import { noteFieldTypes } from '../contacts/contact-fields.ts';
import { createContactBatch, type ContactBatch } from './contact-batch.ts';
import { findImportedTopics, importContacts, importSource, type ImportSource } from './import-contacts.ts';
import { ImportFileError } from './csv-file.ts';
import type { ColumnMapping } from './import-header.ts';
import { readPart } from './import-parts.ts';
import { checkImportFile } from './import-file.ts';
import type { ImportFile, ImportedContact } from './imported-rows.ts';
import { yieldNow } from '../../platform/yielding.ts';
import { eraseAtOnce } from '../lifecycle/erase-contacts.ts';
import { findTopic } from '../topics/topics.ts';
import type { Em } from '../../database/sql.ts';
import { changeContacts } from './bulk-change.ts';
import {
  beginJob,
  endJob,
  findJobFile,
  runJobChunk,
  setJobTotal,
  type BulkKind,
  type ChunkOutcome,
  type Job,
  type JobError,
} from '../jobs/jobs.ts';

export interface JobRun {
  /** Creates an entity manager for one unit of work. */
  em: () => Em;
  /** Checked before each chunk. */
  signal: AbortSignal;
  /** Checked after each chunk. */
  turn?: AbortSignal;
  /** Called after each chunk that is committed. */
  onChunk: () => void;
}

/**
 * Rows of a chunk: enough to make the fixed cost of a statement small, and few enough to take less than a heartbeat.
 */
const IMPORT_CHUNK = 4_000;
const BULK_CHUNK = 500;
const FIELD_CHUNK = 2_000;

/**
 * Runs a job to its end, from where an earlier attempt stopped. Faults of the uploaded file end the job as failed;
 * other errors are thrown, and the job can be run again.
 */
export async function runJob(jobId: string, run: JobRun): Promise<void> {
  const job = await beginJob(run.em(), jobId);
  if (!job) return;
  try {
    await runnerOf(job)(job, run);
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error;
    await endJob(run.em(), jobId, error.message);
  }
}

function runnerOf(job: Job): (job: Job, run: JobRun) => Promise<void> {
  switch (job.kind) {
    case 'IMPORT':
      return runImport;
    case 'DELETE_FIELD':
      return runFieldDeletion;
    case 'RETRY_EXECUTIONS':
      return runRetries;
    case 'CANCEL_EXECUTIONS':
    case 'DELETE_EXECUTIONS':
      return runExecutionChunks;
    default:
      return runBulkChange;
  }
}

/** Does a chunk in the caller's transaction; undefined when there is none left. */
type ChunkWork = ((tx: Em) => Promise<ChunkOutcome>) | undefined;

/** Runs chunk after chunk until `next` returns undefined, and ends the job. Calls `afterChunk` after each commit. */
async function runChunks(
  job: Job,
  run: JobRun,
  next: (job: Job) => ChunkWork | Promise<ChunkWork>,
  afterChunk: (done: Job) => Promise<void> = async () => undefined,
): Promise<void> {
  let current = job;
  for (;;) {
    run.signal.throwIfAborted();
    const work = await next(current);
    if (!work) break;
    const after = await runJobChunk(run.em(), current, work);
    if (!after) return;
    run.onChunk();
    await afterChunk(current);
    current = after;
    run.turn?.throwIfAborted();
  }
  await endJob(run.em(), job.id, null);
}

/** Rethrows an error about a limit of the project as a fault of the file, which ends the job. */
function throwAsFileFault(error: unknown): never {
  throw error instanceof AppError ? new ImportFileError(error.errors?.[0]?.message ?? error.message) : error;
}

async function runImport(job: Job, run: JobRun): Promise<void> {
  const content = await findJobFile(run.em(), job.id);
  if (!content) throw new ImportFileError('The file no longer exists');
  const file = readPart(job, content) ?? (await checkImportFile(content, (job.input['map'] ?? []) as ColumnMapping[]));
  const topicIds = await findImportedTopics(run.em(), job.projectId, file.topicKeys);
  if (job.total === null) {
    // A transaction of its own, before the contacts, so that two imports with new fields cannot deadlock.
    await noteFieldTypes(run.em(), job.projectId, file.firstValues).catch(throwAsFileFault);
    await setJobTotal(run.em(), job.id, file.total);
  }
  const rows = file.rowsFrom(job.position, IMPORT_CHUNK);
  const prepareNext = async (): Promise<ImportChunk | undefined> => {
    // The statement that stores the chunk before goes first.
    await yieldNow();
    const next = await rows.next();
    return next.done ? undefined : createImportChunk(next.value);
  };
  const source = importSource(job);
  let ahead: ReturnType<typeof prepareNext> | undefined;
  await runChunks(job, run, async () => {
    const chunk = await (ahead ?? prepareNext());
    ahead = undefined;
    if (!chunk) return undefined;
    return async (tx) => {
      // The next chunk is read and prepared while PostgreSQL stores this one. A transaction may be repeated.
      ahead ??= prepareNext();
      const [outcome] = await Promise.all([storeImportChunk(tx, source, chunk, topicIds), ahead]);
      // A file that began with new contacts likely goes on so.
      source.isForNew = outcome.counts['updatedCount'] === 0;
      return outcome;
    };
  });
}

/** Rows of a file that are prepared for `importContacts`. */
interface ImportChunk {
  size: number;
  contacts: ContactBatch;
  errors: JobError[];
}

function createImportChunk(rows: ImportFile['rows']): ImportChunk {
  const contacts: ImportedContact[] = [];
  const errors: JobError[] = [];
  for (const row of rows) {
    if (row === null) continue;
    if ('error' in row) errors.push({ ...row });
    else contacts.push(row);
  }
  return { size: rows.length, contacts: createContactBatch(contacts), errors };
}

async function storeImportChunk(
  em: Em,
  source: ImportSource,
  { size, contacts, errors }: ImportChunk,
  topicIds: ReadonlyMap<string, string>,
): Promise<ChunkOutcome> {
  const stored = contacts.rows.length;
  if (stored === 0) return { done: size, counts: { failureCount: size }, errors };
  const { refused, erasedCount, createdCount, updatedCount } = await importContacts(em, source, contacts, topicIds);
  const all: JobError[] = [...errors, ...refused.map(({ row, email }) => ({ row, email, error: DATA_TOO_LARGE }))];
  all.sort((left, right) => Number(left['row']) - Number(right['row']));
  const failureCount = size - stored + refused.length + erasedCount;
  return { done: size, counts: { createdCount, updatedCount, failureCount }, errors: all };
}

async function runBulkChange(job: Job, run: JobRun): Promise<void> {
  const { contactIds, topicId } = job.input as { contactIds: string[]; topicId?: string };
  if (topicId !== undefined) await findTopic(run.em(), job.projectId, topicId).catch(throwAsFileFault);
  const idsAt = (position: number) => contactIds.slice(position, position + BULK_CHUNK);
  await runChunks(
    job,
    run,
    ({ position }) => {
      const ids = idsAt(position);
      return ids.length === 0
        ? undefined
        : (tx) => changeContacts(tx, { ...job, kind: job.kind as BulkKind, topicId }, ids);
    },
    async ({ position }) => {
      if (job.kind === 'DELETE') await eraseAtOnce(run.em(), job.projectId, idsAt(position));
    },
  );
}

async function runFieldDeletion(job: Job, run: JobRun): Promise<void> {
  const path = job.input['path'] as string;
  let isDone = false;
  await runChunks(job, run, ({ input }) => {
    if (isDone) return undefined;
    return async (tx) => {
      const after = input['after'] as string | undefined;
      const { count, lastId } = await deleteFieldChunk(tx, job.projectId, path, { after, limit: FIELD_CHUNK });
      isDone = count < FIELD_CHUNK;
      return {
        done: count,
        counts: { successCount: count },
        ...(lastId !== undefined && { input: { after: lastId } }),
      };
    };
  });
}

/** Cancels or deletes executions. The first chunk was done by the request that created the job. */
async function runExecutionChunks(job: Job, run: JobRun): Promise<void> {
  const { automationId = null, reason, startedBefore } = job.input as Record<string, string | null>;
  const chunk = async (tx: Em): Promise<number> => {
    if (job.kind === 'DELETE_EXECUTIONS') return deleteExecutionChunk(tx, String(automationId));
    const { found } = await cancelExecutionChunk(tx, {
      projectId: job.projectId,
      automationId,
      reason: String(reason),
      startedBefore: new Date(String(startedBefore)),
    });
    return found;
  };
  await runChunks(job, run, ({ input }) => {
    if (input['isDone'] === true) return undefined;
    return async (tx) => {
      const done = await chunk(tx);
      return { done, counts: { successCount: done }, input: { isDone: done < EXECUTION_CHUNK } };
    };
  });
}

/** Retries failed executions, from the newest to the oldest, so each is looked at once. */
async function runRetries(job: Job, run: JobRun): Promise<void> {
  const { automationId, stepId = null, failedBefore } = job.input as Record<string, string | null>;
  const failed = {
    projectId: job.projectId,
    automationId: String(automationId),
    stepId,
    failedBefore: new Date(String(failedBefore)),
  };
  await runChunks(job, run, ({ input }) => {
    if (input['isDone'] === true) return undefined;
    return async (tx) => {
      const { seen, retried, next } = await retryChunk(tx, failed, input['after'] as RetryPosition | undefined);
      const counts = { successCount: retried, skippedCount: seen - retried };
      return { done: seen, counts, input: next ? { after: next } : { isDone: true } };
    };
  });
}
