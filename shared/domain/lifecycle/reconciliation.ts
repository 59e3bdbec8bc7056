import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { ACTIVE_CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import {
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  executionWorkflowId,
  jobWorkflowId,
  optInWorkflowId,
} from '../../pure/workflow-contracts.ts';
import {
  ATTEMPT_ENDS_MS,
  DELIVERY_OF_EMAIL,
  overdueEmails,
  redeliver,
  redeliverAll,
} from '../emails/orphaned-deliveries.ts';
import { executionStatus, jobState, optInState } from '../../database/constants.ts';
import { literalList, query, queryCount, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { oneOf, text, type RowOf } from '../../database/tables.ts';

const ROW_KINDS = ['campaign', 'execution', 'job', 'optIn'] as const;
type RowKind = (typeof ROW_KINDS)[number];
const CLAIM = { id: text, kind: oneOf('campaign', 'execution', 'job', 'optIn', 'email') };
type ClaimKind = RowOf<typeof CLAIM>['kind'];

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

/** Which claims a look is about. */
export interface Reach {
  /** Rows are left alone that changed later than so many seconds ago, or have been due for less. */
  quietSeconds: number;
  /** Whether it finds executions and opt-ins that wait for a later time, and emails that may be in a delivery not yet started. */
  isComplete?: boolean;
  /** The most claims of a kind, those that have been due for longest; all by default. */
  perKindMax?: number;
}

export const REACHES = {
  /** Every 30 seconds: what has just become due, or has been due for longest. */
  soon: { quietSeconds: 20, perKindMax: 500 },
  /** Every five minutes: everything that is late. */
  late: { quietSeconds: 600 },
  /** On demand: everything that has not ended. */
  all: { quietSeconds: 0, isComplete: true },
} as const satisfies Record<string, Reach>;

const WORKFLOW_ID_OF: Record<ClaimKind, (id: string) => string> = {
  campaign: campaignWorkflowId,
  execution: executionWorkflowId,
  job: jobWorkflowId,
  optIn: optInWorkflowId,
  email: emailDeliveryWorkflowId,
};

/** A disabled project rests. Rows of an import that has not ended have no project yet. */
const IN_USE = sql`exists (select from project p where p.id = project_id and not p.disabled)`;

/** The rows of each kind that have not ended. */
const ACTIVE_ROWS: Record<RowKind, SqlFragment> = {
  campaign: sql`campaign where ${IN_USE} and status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])`,
  execution: sql`automation_execution where ${IN_USE} and status in ${literalList(ACTIVE_EXECUTION_STATUSES)}`,
  job: sql`job where ${IN_USE} and state in (${jobState.waiting}, ${jobState.active})`,
  optIn: sql`opt_in where ${IN_USE} and state = ${optInState.pending}`,
};

/** Selects of the claims within a reach, with columns `id` and `kind`. */
function claimsWithin({ quietSeconds, isComplete = false, perKindMax }: Reach): SqlFragment {
  const quietSince = sql`now() - ${quietSeconds}::int * interval '1 second'`;
  const oldest = (time: SqlFragment): SqlFragment =>
    perKindMax === undefined ? sql`` : sql`order by ${time} limit ${perKindMax}`;
  const executions = isComplete
    ? sql`(select id, 'execution' as kind from ${ACTIVE_ROWS.execution})`
    : sql`
      (select id, 'execution' as kind from automation_execution
        where ${IN_USE} and status = ${executionStatus.RUNNING} and updated_at < ${quietSince} ${oldest(sql`updated_at`)})
      union all
      (select id, 'execution' from automation_execution
        where ${IN_USE} and status = ${executionStatus.WAITING} and resume_at < ${quietSince} ${oldest(sql`resume_at`)})
      union all
      (select execution_id, 'execution' from event_wait where ${IN_USE} and resolved_at < ${quietSince} ${oldest(sql`resolved_at`)})`;
  return sql`
    ${executions}
    union all
    (select id, 'campaign' from ${ACTIVE_ROWS.campaign} and updated_at < ${quietSince} ${oldest(sql`updated_at`)})
    union all
    (select id, 'job' from ${ACTIVE_ROWS.job} and updated_at < ${quietSince} ${oldest(sql`updated_at`)})
    union all
    (select id, 'optIn' from ${ACTIVE_ROWS.optIn} and ${isComplete ? sql`true` : sql`due_at < ${quietSince}`} ${oldest(sql`due_at`)})
    union all
    (select distinct id, 'email' from (
      select ${DELIVERY_OF_EMAIL} as id from ${overdueEmails(quietSeconds, isComplete)} ${oldest(sql`delivery_due_at`)}
    ) delivery)`;
}

/**
 * Finds claims within a reach that are not in the outbox: up to `limit` of them, by id. Unless the reach is complete,
 * executions that wait and emails that were deferred are found only once they are overdue, because there may be
 * hundreds of thousands.
 */
export async function findActiveClaims(
  em: Em,
  reach: Reach,
  afterId: string | undefined,
  limit: number,
): Promise<ActiveClaim[]> {
  const after = afterId === undefined ? sql`true` : sql`id > ${afterId}`;
  const rows = await query(
    em,
    sql`
      select distinct id, kind from (${claimsWithin(reach)}) claim
      where ${after} and not exists (select from outbox o where o.kind = claim.kind and o.subject_id = claim.id)
      order by id limit ${limit}`,
    CLAIM,
  );
  return rows.map((row) => ({ ...row, workflowId: WORKFLOW_ID_OF[row.kind](row.id) }));
}

/** Adds erasures to the outbox again that have been due for so many seconds. */
export async function requeueErasures(em: Em, quietSeconds: number): Promise<void> {
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), project_id, 'erasure', project_id from (
        select distinct project_id from erased_contact
        where due_at < now() - ${quietSeconds}::int * interval '1 second'
      ) x
      where not exists (select from outbox o where o.kind = 'erasure' and o.subject_id = x.project_id)`,
  );
}

/** Adds active rows of a kind to the outbox, so that their workflows are started again. @returns how many */
async function restartRows(em: Em, kind: RowKind, which: SqlFragment): Promise<number> {
  return queryCount(
    em,
    sql`
      with added as (
        insert into outbox (id, project_id, kind, subject_id, is_restart)
        select everpost_uuid_v7(), project_id, ${kind}, id, true from ${ACTIVE_ROWS[kind]} and ${which} returning 1
      )
      select count(*)::int as count from added`,
  );
}

/**
 * Has the workflows of claims that have not ended started again. They continue from the state in the rows. Starting one
 * twice is harmless: the second start finds the first workflow running, or the work done.
 * @param asOf a moment that has passed by the clock of Temporal
 */
export async function restartOrphans(em: Em, claims: OrphanedClaim[], asOf: Date): Promise<void> {
  for (const kind of ROW_KINDS) {
    const ids = claims.filter((claim) => claim.kind === kind).map((claim) => claim.id);
    if (ids.length > 0) await restartRows(em, kind, sql`id = any(${ids}::uuid[])`);
  }
  const deliveries = claims
    .filter((claim) => claim.kind === 'email')
    .map(({ id, endedAt }) => ({
      id,
      isSettled: endedAt === undefined || endedAt.getTime() < asOf.getTime() - ATTEMPT_ENDS_MS,
    }));
  if (deliveries.length > 0) await redeliver(em, deliveries);
}

/** How many rows of each kind are started again. */
export type RestartedWork = Record<RowKind | 'email', number>;

/**
 * Has the workflows of everything that has not ended started again, without asking Temporal. Only for a namespace that
 * knows none of them, while no process works with the one before: emails that are being sent are sent again.
 */
export async function restartAllWork(em: Em): Promise<RestartedWork> {
  await requeueErasures(em, 0);
  const restart = (kind: RowKind) =>
    restartRows(em, kind, sql`id not in (select subject_id from outbox o where o.kind = ${kind})`);
  return {
    campaign: await restart('campaign'),
    execution: await restart('execution'),
    job: await restart('job'),
    optIn: await restart('optIn'),
    email: await redeliverAll(em),
  };
}
