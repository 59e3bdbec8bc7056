import { campaignStatusesBefore } from '../../pure/campaigns/campaign-status.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, jsonAs, nullable, number, pick, tables, type RowOf } from '../../database/tables.ts';
import { findRefusedSenders } from '../domains/sender-domains.ts';
import { resultEvents } from '../emails/delivery-results.ts';
import { warmsUp } from '../emails/sources.ts';

/** What the workflow needs to know to decide what comes next. */
const CAMPAIGN_STATE = {
  ...pick(tables.campaign, 'projectId', 'status', 'scheduledFor', 'totalRecipients'),
  /** The number of emails by their outcome. A sent one may have bounced since. */
  outcomes: jsonAs<Record<string, number>>(),
  isAudienceFrozen: tables.campaign.audienceFrozen,
  /** Whether its recipients get the email in an order. */
  isOrdered: boolean,
  pausedAt: tables.campaign.pausedAt,
  /** Whether recipients who are to be sent to again are still to be queued. */
  isResending: boolean,
  /** What the campaign waits for; null when it does not wait. */
  waiting: nullable(jsonAs<Hold>()),
};
export type CampaignState = RowOf<typeof CAMPAIGN_STATE>;

/** Reads the state of a campaign. @returns undefined when the campaign has been deleted */
export async function readCampaignState(em: Em, campaignId: string): Promise<CampaignState | undefined> {
  return queryOne(
    em,
    sql`
      select project_id as "projectId", status, scheduled_for as "scheduledFor", total_recipients as "totalRecipients",
        jsonb_build_object(${emailStatus.SENT}, sent_count, ${emailStatus.BOUNCED}, bounced_count, ${emailStatus.FAILED}, failed_count,
          ${emailStatus.SKIPPED}, skipped_count, ${emailStatus.SUPPRESSED}, suppressed_count) as outcomes,
        audience_frozen as "isAudienceFrozen",
        case when audience_as_of is null then ${warmsUp(sql`campaign.project_id`)} else audience_order is not null end as "isOrdered", paused_at as "pausedAt",
        resend_states is not null as "isResending",
        case when (waiting ->> 'until')::timestamptz > now() then waiting end as waiting
      from campaign where id = ${campaignId}`,
    CAMPAIGN_STATE,
  );
}

/**
 * Changes a campaign from SCHEDULED to SENDING if it is due. One that has got a later time stays SCHEDULED. Between the
 * request and this moment the project may have lost the sender domain. In this case the campaign ends with the reason.
 * @param asOf the clock of the workflow
 */
export async function beginScheduledCampaign(em: Em, campaignId: string, asOf: Date): Promise<void> {
  await inTransaction(em, async (tx) => {
    const begun = await queryOne(
      tx,
      sql`
        update campaign set status = ${campaignStatus.SENDING}, updated_at = now()
        where id = ${campaignId} and status = ${campaignStatus.SCHEDULED} and scheduled_for <= ${asOf}
        returning project_id as "projectId", from_address as "from"`,
      { projectId: tables.campaign.projectId, from: tables.campaign.fromAddress },
    );
    if (!begun) return;
    const refusal = (await findRefusedSenders(tx, begun.projectId, [begun.from])).get(begun.from);
    if (!refusal) return;
    const reason = `${refusal.message}. Correct that, and send a copy of the campaign.`;
    await markCampaignCancelled(tx, campaignId, reason);
  });
}

/** The columns that an update resets when a campaign ends. */
export const ENDED = sql`paused_at = null, resend_states = null, updated_at = now()`;

/** Thrown to undo the work for a campaign that is not being sent any more. */
export class CampaignEndedError extends Error {}

const REASON_LENGTH_MAX = 1_000;

/**
 * Changes a campaign from SCHEDULED or SENDING to CANCELLED; another status stays.
 * @param reason why the campaign cannot go on, and what to do; null when somebody cancelled it
 */
export async function markCampaignCancelled(em: Em, campaignId: string, reason: string | null): Promise<void> {
  await query(
    em,
    sql`
      update campaign set status = ${campaignStatus.CANCELLED}, error = ${reason?.slice(0, REASON_LENGTH_MAX) ?? null}, ${ENDED}
      where id = ${campaignId} and status = any(${campaignStatusesBefore('CANCELLED')}::text[])`,
  );
}

/** Recipients of one statement. It is limited because the commits of others wait until its writes are on the disk. */
const CLOSE_CHUNK = 1_000;

/**
 * Gives an outcome to the recipients of a cancelled or deleted campaign that have none: CANCELLED, or FAILED when the
 * campaign has an error. `error` of each email says why. An email that is being sent gets its own outcome afterwards.
 * @param onChunk is called after each statement
 */
export async function closeRecipients(em: Em, campaignId: string, onChunk: () => void): Promise<void> {
  const last = await queryOne(em, sql`select max(campaign_seq) as seq from email where campaign_id = ${campaignId}`, {
    seq: nullable(number),
  });
  for (let after = 0; after < (last?.seq ?? 0); after += CLOSE_CHUNK) {
    await query(
      em,
      sql`
        with changed as (
          update email e set status = case when c.error is null then ${emailStatus.CANCELLED} else ${emailStatus.FAILED} end,
            error = coalesce(c.error, 'the campaign was ' || case when c.id is null then 'deleted' else 'cancelled' end)
          from (select ${campaignId}::uuid as id) gone left join campaign c on c.id = gone.id
          where e.campaign_id = ${campaignId} and e.status = ${emailStatus.PENDING}
            and e.campaign_seq > ${after} and e.campaign_seq <= ${after + CLOSE_CHUNK}::int
            and (c.id is null or c.status = ${campaignStatus.CANCELLED})
          returning e.*, case when e.status = ${emailStatus.FAILED} then 'failed' end as verdict
        ),
        ${resultEvents()}
        update campaign set failed_count = failed_count + (select count(*) from changed)
        where id = ${campaignId} and exists (select from changed where status = ${emailStatus.FAILED})`,
    );
    onChunk();
  }
}

/**
 * Ends a campaign. It becomes SENT when every recipient has an outcome and none is to be sent to again. Recipients of a
 * cancelled or deleted campaign get an outcome.
 * @returns the state afterwards; its status is still SENDING when recipients without an outcome are left
 */
export async function finishCampaign(
  em: Em,
  campaignId: string,
  onChunk: () => void,
): Promise<CampaignState | undefined> {
  await query(
    em,
    sql`
      update campaign set status = ${campaignStatus.SENT}, sent_at = coalesce(sent_at, now()), ${ENDED}
      where id = ${campaignId} and status = ${campaignStatus.SENDING} and audience_frozen and resend_states is null
        and not exists (select from email where campaign_id = ${campaignId} and status in (${emailStatus.PENDING}, ${emailStatus.SENDING}))`,
  );
  const state = await readCampaignState(em, campaignId);
  if (state?.status !== 'SENT') await closeRecipients(em, campaignId, onChunk);
  await query(
    em,
    sql`
      delete from campaign_page where campaign_id = ${campaignId}
        and exists (select from campaign where id = ${campaignId} and status = ${campaignStatus.SENT})`,
  );
  return state;
}
