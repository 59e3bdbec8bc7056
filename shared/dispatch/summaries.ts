import type { Em } from '../database/em.ts';
import { queryOne, sql } from '../database/sql.ts';
import type { JobKind } from '../domain/jobs/jobs.ts';

/** Temporal allows 200 bytes in a summary. Two names of characters with at most four bytes fit. */
export const SUMMARY_NAME_LENGTH_MAX = 40;

/** The summary of a campaign in the Temporal UI: "project · campaign". */
export async function findCampaignSummary(em: Em, campaignId: string): Promise<string> {
  const row = await queryOne<{ project: string; campaign: string }>(
    em,
    sql`
      select left(p.name, ${SUMMARY_NAME_LENGTH_MAX}::int) as project,
        left(c.name, ${SUMMARY_NAME_LENGTH_MAX}::int) as campaign
      from campaign c join project p on p.id = c.project_id where c.id = ${campaignId}`,
  );
  return row ? `${row.project} · ${row.campaign}` : 'a deleted campaign';
}

const JOB_SUMMARIES: Record<JobKind, string> = {
  IMPORT: 'import contacts',
  SUBSCRIBE: 'subscribe contacts',
  UNSUBSCRIBE: 'unsubscribe contacts',
  DELETE: 'delete contacts',
  DELETE_FIELD: 'delete a custom field',
  RETRY_EXECUTIONS: 'retry failed executions',
  CANCEL_EXECUTIONS: 'cancel executions',
  DELETE_EXECUTIONS: 'delete the executions of a workflow',
};

/** The summary of a job in the Temporal UI. It contains no customer data. */
export async function findJobSummary(em: Em, jobId: string): Promise<string> {
  const job = await queryOne<{ kind: JobKind }>(em, sql`select kind from job where id = ${jobId}`);
  return job ? JOB_SUMMARIES[job.kind] : 'a job';
}
