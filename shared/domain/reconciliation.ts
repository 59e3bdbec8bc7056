import { ACTIVE_CAMPAIGN_STATUSES } from '../pure/campaign-status.ts';
import { campaignWorkflowId } from '../pure/workflow-contracts.ts';
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

/** Campaigns that claim to be at work, some at a time, by id. */
export async function findActiveClaims(em: Em, afterId: string | undefined, limit: number): Promise<ActiveClaim[]> {
  const after = afterId === undefined ? sql`true` : sql`id > ${afterId}`;
  const rows = await query<{ id: string; projectId: string }>(
    em,
    sql`
      select id, project_id as "projectId" from campaign
      where status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[]) and ${after}
        and updated_at < now() - ${QUIET_MINUTES}::int * interval '1 minute'
      order by id limit ${limit}`,
  );
  return rows.map((row) => ({ ...row, kind: 'campaign', workflowId: campaignWorkflowId(row.id) }));
}

/** Has a workflow started anew for a row that still claims to be at work. The workflow goes on where the rows say. */
export async function restartLost(em: Em, claim: ActiveClaim): Promise<void> {
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id, is_restart)
      select everpost_uuid_v7(), project_id, ${claim.kind}, id, true from campaign
      where id = ${claim.id} and status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])`,
  );
}
