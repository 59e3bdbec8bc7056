import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { ACTIVE_CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import {
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  executionWorkflowId,
  jobWorkflowId,
} from '../../pure/workflow-contracts.ts';
import { ATTEMPT_ENDS_MS, DELIVERY_OF_EMAIL, redeliver, overdueEmails } from '../emails/orphaned-deliveries.ts';
import type { Em } from '../database/em.ts';
import { query, sql, type SqlFragment, literalList } from '../database/sql.ts';

type RowKind = 'campaign' | 'execution' | 'job';
type ClaimKind = RowKind | 'email';

/**
 * Something that a workflow should be working on: a row that has not ended, or the delivery of emails without a result.
 */
export interface ActiveClaim {
  kind: ClaimKind;
  id: string;
  workflowId: string;
}

/** A claim without a running workflow. */
export interface OrphanedClaim extends ActiveClaim {
  /** When its workflow ended; missing when Temporal does not know the workflow. */
  endedAt?: Date;
}

/** Rows that changed later are left alone: their workflow may not have been started yet. */
const QUIET_MINUTES = 10;

const WORKFLOW_ID_OF: Record<ClaimKind, (id: string) => string> = {
  campaign: campaignWorkflowId,
  execution: executionWorkflowId,
  job: jobWorkflowId,
  email: emailDeliveryWorkflowId,
};

/** The rows of each kind that have not ended. */
const ACTIVE_ROWS: Record<RowKind, SqlFragment> = {
  campaign: sql`campaign where status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])`,
  execution: sql`automation_execution where status in ${literalList(ACTIVE_EXECUTION_STATUSES)}`,
  job: sql`job where state in ('waiting', 'active')`,
};

/**
 * Finds claims that have not made progress in time and are not in the outbox: up to `limit` of them, by id. Executions
 * that wait and emails that were deferred are found only once they are overdue, because there may be hundreds of
 * thousands.
 */
export async function findActiveClaims(em: Em, afterId: string | undefined, limit: number): Promise<ActiveClaim[]> {
  const after = afterId === undefined ? sql`true` : sql`id > ${afterId}`;
  const quietSince = sql`now() - ${QUIET_MINUTES}::int * interval '1 minute'`;
  const rows = await query<{ id: string; kind: ClaimKind }>(
    em,
    sql`
      select * from (
        select id, 'campaign' as kind from ${ACTIVE_ROWS.campaign} and updated_at < ${quietSince}
        union all
        select id, 'execution' from automation_execution
        where status = 'RUNNING' and updated_at < ${quietSince} or status = 'WAITING' and resume_at < ${quietSince}
        union all
        select execution_id, 'execution' from event_wait
        where resolved_at < ${quietSince}
        union all
        select id, 'job' from ${ACTIVE_ROWS.job} and updated_at < ${quietSince}
        union all
        select distinct ${DELIVERY_OF_EMAIL}, 'email' from ${overdueEmails(QUIET_MINUTES)}
      ) claim
      where ${after} and not exists (select from outbox o where o.kind = claim.kind and o.subject_id = claim.id)
      order by id limit ${limit}`,
  );
  return rows.map((row) => ({ ...row, workflowId: WORKFLOW_ID_OF[row.kind](row.id) }));
}

/** Adds overdue erasures to the outbox again. */
export async function requeueErasures(em: Em): Promise<void> {
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), project_id, 'erasure', project_id from (
        select distinct project_id from erased_contact
        where due_at < now() - ${QUIET_MINUTES}::int * interval '1 minute'
      ) x
      where not exists (select from outbox o where o.kind = 'erasure' and o.subject_id = x.project_id)`,
  );
}

/**
 * Has the workflows of claims that have not ended started again. They continue from the state in the rows. Starting one
 * twice is harmless: the second start finds the first workflow running, or the work done.
 */
export async function restartOrphans(em: Em, claims: OrphanedClaim[]): Promise<void> {
  const idsOf = (kind: ClaimKind) => claims.filter((claim) => claim.kind === kind).map((claim) => claim.id);
  for (const kind of ['campaign', 'execution', 'job'] as const) {
    const ids = idsOf(kind);
    if (ids.length === 0) continue;
    await query(
      em,
      sql`
        insert into outbox (id, project_id, kind, subject_id, is_restart)
        select everpost_uuid_v7(), project_id, ${kind}, id, true
        from ${ACTIVE_ROWS[kind]} and id = any(${ids}::uuid[])`,
    );
  }
  const deliveries = claims
    .filter((claim) => claim.kind === 'email')
    .map(({ id, endedAt }) => ({
      id,
      isSettled: endedAt === undefined || endedAt.getTime() < Date.now() - ATTEMPT_ENDS_MS,
    }));
  if (deliveries.length > 0) await redeliver(em, deliveries, QUIET_MINUTES);
}
