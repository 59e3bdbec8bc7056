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

/** A row that says that a workflow is at work for it, or the delivery that emails name. */
export interface ActiveClaim {
  kind: ClaimKind;
  id: string;
  workflowId: string;
}

/** A claim whose workflow is not at work; `endedAt` is unknown if Temporal does not know the workflow. */
export interface OrphanedClaim extends ActiveClaim {
  endedAt?: Date;
}

/** The workflow of a younger row may not have been started yet. */
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
 * Claims that have not moved on as they should have, unless they are in the outbox: some at a time, by id. Waiting
 * executions and deferred emails are not looked up in Temporal before their time, because there may be hundreds of
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

/** Puts erasures that should have gone on long ago into the outbox again. */
export async function requeueErasures(em: Em): Promise<void> {
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), project_id, 'erasure', project_id from (
        select distinct project_id from erased_contact where due_at < now() - ${QUIET_MINUTES}::int * interval '1 minute'
      ) x
      where not exists (select from outbox o where o.kind = 'erasure' and o.subject_id = x.project_id)`,
  );
}

/**
 * Has workflows restarted for claims that still stand. They go on from the state in the rows; a second start finds the
 * first workflow at work, or its work done.
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
        select everpost_uuid_v7(), project_id, ${kind}, id, true from ${ACTIVE_ROWS[kind]} and id = any(${ids}::uuid[])`,
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
