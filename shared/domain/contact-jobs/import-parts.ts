import { hash } from 'node:crypto';
import { uuidV7 } from '../../platform/uuid.ts';
import { readClock } from '../../database/clock.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { jobKind } from '../../database/constants.ts';
import { createJob, type Job } from '../jobs/jobs.ts';
import type { CheckedFile } from './import-file.ts';
import type { ImportFile } from './imported-rows.ts';

/**
 * A large import is a chain of jobs, one for each part of its rows. A part that is stored is imported whatever becomes
 * of the command that stored it.
 */

/** What the job of a part knows in addition. */
interface PartInput extends Record<string, unknown> {
  /** The import that the part belongs to. */
  importId: string;
  /** The SHA-256 of what is imported and how, by which a command finds an import that it has not finished. */
  key: string;
  /** The SHA-256 of the rows. */
  part: string;
  isLast: boolean;
  /** When the import began. */
  startedAt: string;
  /** Whether topics that contacts have left stay left. */
  keepsLeft: boolean;
}

export function partContent(part: ImportFile): Buffer {
  return Buffer.from(JSON.stringify(part));
}

/** The file of a job, if it is a part of a large import. */
export function readPart(job: Pick<Job, 'input'>, content: Buffer): CheckedFile | undefined {
  if (job.input['part'] === undefined) return undefined;
  const { rows, ...part } = JSON.parse(content.toString()) as ImportFile;
  return {
    ...part,
    total: rows.length,
    async *rowsFrom(position, count) {
      for (let at = position; at < rows.length; at += count) yield rows.slice(at, at + count);
    },
  };
}

/** An import that a command goes on with. */
export interface OpenImport {
  importId: string;
  startedAt: string;
  /** Jobs of stored parts by the hashes of their rows; those that failed are left out, so that they are stored again. */
  stored: Map<string, string>;
}

/** The import of this key that no command has stored to its end, or a new one. */
export async function openImport(em: Em, projectId: string, key: string): Promise<OpenImport> {
  const jobs = await query(
    em,
    sql`
      select id, input, state from job
      where project_id = ${projectId} and kind = ${jobKind.IMPORT} and input ->> 'key' = ${key} order by created_at, id`,
    { id: tables.job.id, input: tables.job.input, state: tables.job.state },
  );
  const inputs = jobs.map((job) => ({ ...job, input: job.input as unknown as PartInput }));
  const last = inputs.at(-1);
  if (!last || last.input.isLast) {
    return { importId: uuidV7(), startedAt: (await readClock(em)).toISOString(), stored: new Map() };
  }
  const { importId, startedAt } = last.input;
  const kept = inputs.filter(({ input, state }) => input.importId === importId && state !== 'failed');
  return { importId, startedAt, stored: new Map(kept.map(({ id, input }) => [input.part, id])) };
}

/**
 * Stores a part, unless it is stored already. When this returns, its rows will be imported.
 * @returns the id of its job
 * @throws AppError VALIDATION_ERROR while too many jobs of the project wait or run
 */
export async function storePart(
  em: Em,
  projectId: string,
  { importId, startedAt, stored }: OpenImport,
  part: { content: Buffer } & Pick<PartInput, 'key' | 'isLast' | 'keepsLeft'>,
): Promise<string> {
  const { content, ...input } = part;
  const known = stored.get(hash('sha256', content));
  if (known !== undefined) return known;
  const whole: PartInput = { importId, startedAt, part: hash('sha256', content), ...input };
  return inTransaction(em, (tx) => createJob(tx, { projectId, kind: 'IMPORT', input: whole, file: content }));
}
