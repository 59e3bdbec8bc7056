import { badRequest } from '../../pure/app-error.ts';
import type { ResendableState } from '../../pure/campaigns/campaign-status.ts';
import { mayReceive, purposeOf } from '../consent/consent.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, notNull, number, tables, type RowOf } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { suppressionJoin } from '../suppressions/suppressions.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import type { Campaign } from './campaign.entity.ts';
import { CampaignEndedError } from './campaign-state.ts';
import { assertActiveCampaignLimit, findCampaign, lockCampaignAndPages } from './campaigns.ts';

/** Whether a campaign was sent or could not go on. A campaign that could not go on is CANCELLED with an `error`. */
function hasEnded({ status, error }: Campaign): boolean {
  return status === 'SENT' || (status === 'CANCELLED' && Boolean(error));
}

/** The `from … where …` of the recipients in these states who may get the email now, as `email e` and `contact c`. */
async function resendable(
  em: Em,
  { id, projectId, type, topicId }: Pick<Campaign, 'id' | 'projectId' | 'type' | 'topicId'>,
  states: readonly string[],
): Promise<SqlFragment> {
  const topic = await findEmailTopic(em, projectId, topicId);
  return sql`
    from email e join contact c on c.id = e.contact_id ${suppressionJoin(sql`${projectId}::uuid`, sql`e.to_address`)}
    where e.campaign_id = ${id} and e.status = any(${[...states]}::text[]) and e.to_address is not null
      and ${mayReceive(purposeOf(type), topic)}`;
}

/**
 * How many recipients are in these states, and how many of them would get the email if it were sent again now.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function countResendable(
  em: Em,
  projectId: string,
  campaignId: string,
  states: readonly ResendableState[],
) {
  const campaign = await findCampaign(em, projectId, campaignId);
  const counts = await queryOne(
    em,
    sql`
      select (select count(*) from email where campaign_id = ${campaignId} and trouble = any(${[...states]}::text[])) as matching,
        (select count(*) ${await resendable(em, campaign, states)}) as receiving`,
    { matching: number, receiving: number },
  );
  return counts ?? { matching: 0, receiving: 0 };
}

async function assertResendable(em: Em, campaign: Campaign, states: readonly ResendableState[]): Promise<void> {
  const { id, projectId, status } = campaign;
  if (!hasEnded(campaign)) {
    throw badRequest(`A campaign that is ${status} cannot be sent again`, {
      details: { status },
      suggestion: 'Only a campaign that is SENT, or that ended with an error, can be sent again',
    });
  }
  const found = await queryOne(
    em,
    sql`
      select exists (select from email where campaign_id = ${id} and trouble = any(${[...states]}::text[])) as "isAny",
        ${status === 'CANCELLED'}::boolean
          and exists (select from email where campaign_id = ${id} and status in (${emailStatus.PENDING}, ${emailStatus.SENDING})) as "isClosing"`,
    { isAny: boolean, isClosing: boolean },
  );
  if (!campaign.audienceFrozen || found?.isClosing) {
    throw badRequest('The campaign ended before all of its recipients had an outcome', {
      details: { status },
      suggestion: campaign.audienceFrozen ? 'Try again in a minute' : 'Send a copy to those who do not have the email',
    });
  }
  if (!found?.isAny) throw badRequest('Campaign has no recipients in these states', { details: { states } });
  const first = await queryOne(em, sql`select ${await resendable(em, campaign, states)} limit 1`, {});
  if (!first) {
    throw badRequest('Campaign has no recipients in these states who may have it', {
      details: { states },
      suggestion:
        'All of them have unsubscribed, left the topic or paused, are suppressed or were deleted; nothing was changed',
    });
  }
  await assertActiveCampaignLimit(em, projectId, id);
  await assertSenderDomain(em, projectId, campaign.from);
}

/**
 * Sends a campaign that has ended again to the recipients who are in one of the states now. Those who may not get it
 * keep their states: contacts that are gone or have not consented, and suppressed addresses. The campaign is SENDING
 * until all recipients have an outcome.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST when it has not ended, or no recipient in these states may get it,
 *   SENDER_DOMAIN_REFUSED, VALIDATION_ERROR while too many are active
 */
export async function resendCampaign(
  em: Em,
  projectId: string,
  campaignId: string,
  states: readonly ResendableState[],
): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const campaign = await lockCampaignAndPages(tx, projectId, campaignId);
    await assertResendable(tx, campaign, states);
    // Without its claim, an attempt that is still sending a page records nothing any more.
    await query(tx, sql`delete from campaign_page where campaign_id = ${campaignId}`);
    await query(
      tx,
      sql`
        update campaign set status = ${campaignStatus.SENDING}, error = null, waiting = null, resend_states = ${[...states]}::text[],
          resend_as_of = now(), resend_after_seq = 0, updated_at = now()
        where id = ${campaignId}`,
    );
    await addToOutbox(tx, 'campaign', projectId, [campaignId], { isRestart: true });
    return findCampaign(tx, projectId, campaignId);
  });
}

const RESEND = {
  projectId: tables.campaign.projectId,
  type: tables.campaign.type,
  topicId: tables.campaign.topicId,
  states: tables.campaign.resendStates,
  asOf: notNull(tables.campaign.resendAsOf),
  afterSeq: tables.campaign.resendAfterSeq,
  total: tables.campaign.totalRecipients,
};
type Resend = RowOf<typeof RESEND>;

/** Recipients of one statement. It is limited because the commits of others wait until its writes are on the disk. */
const CHUNK = 2_000;

/**
 * Queues the next recipients of a campaign that is sent again, by their numbers. Each becomes PENDING as if its email
 * had never been sent. The same statement subtracts them from the counters, so that counters and states agree at every
 * moment. The emails keep their events, opens and clicks.
 * @returns whether no recipients are left to be queued, or the campaign is not being sent any more
 */
export async function requeueNextRecipients(em: Em, campaignId: string): Promise<boolean> {
  try {
    return await inTransaction(em, async (tx) => {
      await query(tx, sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`);
      const resend = await queryOne(
        tx,
        sql`
          select project_id as "projectId", type, topic_id as "topicId", resend_states as states, resend_as_of as "asOf",
            resend_after_seq as "afterSeq", total_recipients as total
          from campaign where id = ${campaignId} and status = ${campaignStatus.SENDING}`,
        RESEND,
      );
      return resend?.states ? requeueChunk(tx, campaignId, resend, resend.states) : true;
    });
  } catch (error) {
    if (error instanceof CampaignEndedError) return true;
    throw error;
  }
}

async function requeueChunk(em: Em, campaignId: string, resend: Resend, states: string[]): Promise<boolean> {
  const { asOf, afterSeq, total } = resend;
  const lastSeq = afterSeq + CHUNK;
  const isComplete = lastSeq >= total;
  const kept = await queryOne(
    em,
    sql`
      with due as materialized (
        select e.id, e.status, e.sent_at, e.delivered_at, e.bounced_at
        ${await resendable(em, { ...resend, id: campaignId }, states)}
          and e.campaign_seq > ${afterSeq} and e.campaign_seq <= ${lastSeq}
          and (e.bounced_at is null or e.bounced_at <= ${asOf})
        order by e.id for no key update of e
      ),
      requeued as (
        update email e set status = ${emailStatus.PENDING}, deferrals = 0, uncertain_attempts = 0, retry_at = null, held_at = null,
          answered = null,
          error = null, refusal = null, sent_at = null, delivered_at = null, bounced_at = null
        from due d where e.id = d.id
      ),
      counts as (
        select count(sent_at)::int as sent, count(delivered_at)::int as delivered, count(bounced_at)::int as bounced,
          count(*) filter (where status = ${emailStatus.FAILED})::int as failed,
          count(*) filter (where status = ${emailStatus.SKIPPED})::int as skipped,
          count(*) filter (where status = ${emailStatus.SUPPRESSED})::int as suppressed
        from due
      )
      update campaign c set sent_count = c.sent_count - n.sent, delivered_count = c.delivered_count - n.delivered,
        bounced_count = c.bounced_count - n.bounced, failed_count = c.failed_count - n.failed,
        skipped_count = c.skipped_count - n.skipped, suppressed_count = c.suppressed_count - n.suppressed,
        resend_after_seq = ${lastSeq}, resend_states = case when not ${isComplete}::boolean then c.resend_states end
      from counts n where c.id = ${campaignId} and c.status = ${campaignStatus.SENDING} returning c.id`,
    { id: tables.campaign.id },
  );
  if (!kept) throw new CampaignEndedError();
  return isComplete;
}
