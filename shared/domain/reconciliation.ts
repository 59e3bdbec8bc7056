import { ACTIVE_CAMPAIGN_STATUSES } from '../pure/campaign-status.ts';
import { campaignWorkflowId, executionWorkflowId } from '../pure/workflow-contracts.ts';
import type { Em } from './orm.ts';
import type { OutboxKind } from './outbox/outbox.ts';
import { query, sql } from './sql.ts';

/** A row that says that a workflow is at work for it. */
export interface ActiveClaim {
  kind: OutboxKind;
  id: string;
  projectId: string;
  workflowId: string;
}

/** A row younger than this may have its start still before it. */
const QUIET_MINUTES = 10;

/**
 * Campaigns that claim to be at work, and executions that should have moved on: some at a time, by id. Executions that
 * wait are not looked for in Temporal before their time, for there may be hundreds of thousands.
 */
export async function findActiveClaims(em: Em, afterId: string | undefined, limit: number): Promise<ActiveClaim[]> {
  const after = afterId === undefined ? sql`true` : sql`id > ${afterId}`;
  const quietSince = sql`now() - ${QUIET_MINUTES}::int * interval '1 minute'`;
  const rows = await query<{ id: string; projectId: string; kind: 'campaign' | 'execution' }>(
    em,
    sql`
      select * from (
        select id, project_id as "projectId", 'campaign' as kind from campaign
        where status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[]) and updated_at < ${quietSince}
        union all
        select id, project_id, 'execution' from automation_execution
        where status = 'RUNNING' and updated_at < ${quietSince} or status = 'WAITING' and resume_at < ${quietSince}
        union all
        select execution_id, project_id, 'execution' from event_wait
        where resolved_at < ${quietSince}
      ) claim
      where ${after} order by id limit ${limit}`,
  );
  return rows.map((row) => ({
    ...row,
    workflowId: row.kind === 'campaign' ? campaignWorkflowId(row.id) : executionWorkflowId(row.id),
  }));
}

/** Has a workflow started anew for a row that still claims to be at work. The workflow goes on where the rows say. */
export async function restartLost(em: Em, claim: ActiveClaim): Promise<void> {
  if (claim.kind === 'execution') {
    await query(
      em,
      sql`
        insert into outbox (id, project_id, kind, subject_id, is_restart)
        select everpost_uuid_v7(), project_id, 'execution', id, true from automation_execution
        where id = ${claim.id} and status in ('RUNNING', 'WAITING')`,
    );
    return;
  }
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id, is_restart)
      select everpost_uuid_v7(), project_id, ${claim.kind}, id, true from campaign
      where id = ${claim.id} and status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])`,
  );
}
