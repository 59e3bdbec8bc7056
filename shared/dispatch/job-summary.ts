import type { Em } from '../domain/database/em.ts';
import { queryOne, sql } from '../domain/database/sql.ts';
import type { JobKind } from '../domain/jobs/jobs.ts';

const SUMMARIES: Record<JobKind, string> = {
  IMPORT: 'import contacts',
  SUBSCRIBE: 'subscribe contacts',
  UNSUBSCRIBE: 'unsubscribe contacts',
  DELETE: 'delete contacts',
  DELETE_FIELD: 'delete a custom field',
  CANCEL_EXECUTIONS: 'cancel executions',
  DELETE_EXECUTIONS: 'delete the executions of a workflow',
};

/** A description of a job for Temporal's UI; it holds no customer data. */
export async function findJobSummary(em: Em, jobId: string): Promise<string> {
  const job = await queryOne<{ kind: JobKind }>(em, sql`select kind from job where id = ${jobId}`);
  return job ? SUMMARIES[job.kind] : 'a job';
}
