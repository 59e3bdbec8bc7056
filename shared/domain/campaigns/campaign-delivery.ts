import type { Hold } from '../../pure/emails/hold.ts';
import type { Brand } from '../../pure/brand.ts';
import { LIMITS } from '../../pure/limits.ts';
import { applyHardBounces } from '../emails/hard-bounces.ts';
import { storedHold } from '../emails/held-mail.ts';
import {
  bouncedAmong,
  lockBounced,
  resultColumns,
  resultEvents,
  resultTable,
  type RecordedResult,
} from '../emails/delivery-results.ts';
import type { DeliveryResult } from '../../sending/ports.ts';
import { PUT_OFF } from '../../sending/verdict/delivery-result.ts';
import { topicChoice } from '../consent/consent.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import type { EmailHeading } from '../events/email-events.ts';
import { BRAND } from '../projects/brand.ts';
import { suppressionJoin } from '../suppressions/suppressions.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import {
  columnsOf,
  literalList,
  query,
  queryOne,
  queryPrepared,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { boolean, jsonAs, notNull, nullable, number, pick, tables, type RowOf } from '../../database/tables.ts';

/** Whether emails of a campaign `c` may be sent now. */
const MAY_SEND = sql`(c.status = ${campaignStatus.SENDING} and c.paused_at is null)`;

const CONTENT = {
  ...pick(tables.campaign, 'id', 'projectId', 'type', 'subject', 'body', 'preheader', 'fromName', 'replyTo', 'topicId'),
  text: tables.campaign.bodyText,
  from: tables.campaign.fromAddress,
  /** Whether it is sent whatever the rate of complaints is. */
  complaintsAccepted: tables.campaign.complaintsAccepted,
  totalRecipients: tables.campaign.totalRecipients,
};
const SENDING_CAMPAIGN = { ...CONTENT, tracking: tables.project.tracking, brand: jsonAs<Brand>() };

/** The content of a campaign as it is being sent. */
export type CampaignContent = RowOf<typeof SENDING_CAMPAIGN> & { topic: EmailTopic | null };

/**
 * Loads the content of a campaign.
 * @returns undefined when the campaign is not being sent, or is paused
 * @throws AppError TOPIC_NOT_FOUND
 */
export async function loadSendingCampaign(em: Em, campaignId: string): Promise<CampaignContent | undefined> {
  const campaign = await queryOne(
    em,
    sql`
      select ${columnsOf(CONTENT, 'c')}, p.tracking, ${BRAND} as brand
      from campaign c join project p on p.id = c.project_id where c.id = ${campaignId} and ${MAY_SEND}`,
    SENDING_CAMPAIGN,
  );
  return campaign && { ...campaign, topic: await findEmailTopic(em, campaign.projectId, campaign.topicId) };
}

export interface CampaignPage {
  campaignId: string;
  firstSeq: number;
  lastSeq: number;
}

/** Makes this attempt the only one that may record results of the page. */
export async function claimCampaignPage(em: Em, page: CampaignPage, claimToken: string): Promise<void> {
  await query(
    em,
    sql`
      insert into campaign_page (campaign_id, first_seq, claim_token)
      values (${page.campaignId}, ${page.firstSeq}, ${claimToken})
      on conflict (campaign_id, first_seq) do update set claim_token = excluded.claim_token`,
  );
}

/** A recipient whose email is still to be sent, with what rendering needs. */
const PENDING_RECIPIENT = {
  emailId: tables.email.id,
  /** Null when the contact was erased. */
  toAddress: tables.email.toAddress,
  ...pick(tables.email, 'deferrals', 'uncertainAttempts', 'heldAt', 'answered'),
  /** Null when the contact has been deleted since the audience was frozen. */
  contactId: nullable(tables.contact.id),
  subscribed: nullable(tables.contact.subscribed),
  isPending: nullable(tables.contact.isPending),
  pausedUntil: tables.contact.pausedUntil,
  trackingAllowed: tables.contact.trackingAllowed,
  topicChoice: nullable(boolean),
  data: nullable(tables.contact.data),
  /** Why the address is suppressed; null when it is not. */
  suppression: nullable(tables.suppression.reason),
  seq: notNull(tables.email.campaignSeq),
};
export type PendingRecipient = RowOf<typeof PENDING_RECIPIENT>;

/** The approximate size of custom data in memory. Large data is stored compressed and decompressed to be measured. */
const DATA_BYTES = sql`
  case when pg_column_compression(r.data) is null then coalesce(pg_column_size(r.data), 0)
    else octet_length(r.data::text) end`;

/** Whether the email `e` of a recipient of a page is to be sent now. */
const isDue = ({ campaignId, lastSeq }: CampaignPage, firstSeq: number): SqlFragment => sql`
  e.campaign_id = ${campaignId} and e.campaign_seq between ${firstSeq} and ${lastSeq}
    and e.status = ${emailStatus.PENDING} and (e.retry_at is null or e.retry_at <= now())`;

/**
 * The most recipients that are loaded at once. With the whole page, they live so long that the garbage collector moves
 * them to the old generation, and a worker takes 100 MB more.
 */
const SLICE_MAX = 250;

/**
 * The recipients of a page whose emails are to be sent now, in slices whose custom data fits into memory: at most
 * `limit` recipients, and `LIMITS.campaignSliceBytes` plus one contact. The next slice is loaded on demand and begins
 * after the one before, whether or not that one has its results by then.
 * @param topicId of the campaign, if it has a topic
 */
export async function* loadPendingRecipients(
  em: () => Em,
  page: CampaignPage,
  topicId: string | undefined,
  limit = SLICE_MAX,
): AsyncGenerator<PendingRecipient[]> {
  let firstSeq = page.firstSeq;
  for (;;) {
    const rows = await queryPrepared(
      em(),
      sql`
        select p.id as "emailId", p.to_address as "toAddress", p.deferrals,
          p.uncertain_attempts as "uncertainAttempts", p.held_at as "heldAt", p.answered, p.contact_id as "contactId", p.subscribed,
          p.is_pending as "isPending", p.paused_until as "pausedUntil", p.tracking_allowed as "trackingAllowed",
          p.topic_choice as "topicChoice", p.data, s.reason as suppression, p.campaign_seq as seq, p.loaded
        from (
          select r.*, (count(*) over ())::int as loaded,
            sum(${DATA_BYTES}) over (order by r.campaign_seq rows between unbounded preceding and 1 preceding)
              as bytes_before
          from (
            select e.id, e.to_address, e.deferrals, e.uncertain_attempts, e.held_at, e.answered, e.project_id, e.campaign_seq,
              c.id as contact_id, c.subscribed, c.is_pending, c.paused_until, c.tracking_allowed, ${topicChoice(topicId)} as topic_choice, c.data
            from email e left join contact c on c.id = e.contact_id
            where ${isDue(page, firstSeq)} order by e.campaign_seq limit ${limit}
          ) r
        ) p ${suppressionJoin(sql`p.project_id`, sql`p.to_address`)}
        where coalesce(p.bytes_before, 0) < ${LIMITS.campaignSliceBytes} order by p.campaign_seq`,
      { ...PENDING_RECIPIENT, loaded: number },
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    if (rows.length === last.loaded && last.loaded < limit) return;
    firstSeq = last.seq + 1;
  }
}

/** The number of recipients of a page, from a sequence number on, whose emails are to be sent now. */
export async function countPendingRecipients(em: Em, page: CampaignPage, firstSeq: number): Promise<number> {
  const count = sql`select count(*)::int as count from email e where ${isDue(page, firstSeq)}`;
  const row = await queryOne(em, count, { count: number });
  return row?.count ?? 0;
}

/** Stores what a campaign that is being sent waits for. */
export async function noteHold(em: Em, campaignId: string, hold: Hold): Promise<void> {
  await query(
    em,
    sql`update campaign set waiting = ${storedHold(hold)} where id = ${campaignId} and status = ${campaignStatus.SENDING}`,
  );
}

export interface RecordOutcome {
  /**
   * Whether this attempt may go on sending: its claim of the page still counts, and the campaign is still being sent
   * and not paused.
   */
  mayContinue: boolean;
}

/** A page that an attempt has claimed, and what its emails have in common. */
export interface ClaimedPage extends CampaignPage {
  claimToken: string;
  projectId: string;
  heading: EmailHeading;
}

interface RecordedPage {
  bounced: RecordedResult[];
  maySend: boolean;
  /** Whether no other attempt has claimed the page; also true when the campaign was deleted. */
  isClaimed: boolean;
}

/** The recipients that results may change. */
interface Changeable {
  where: SqlFragment;
  /** Whether they were counted as failed. */
  areFailed: boolean;
}

const OPEN: Changeable = {
  where: sql`(e.status = ${emailStatus.PENDING} or (e.status = ${emailStatus.CANCELLED} and r.verdict not in ${literalList(PUT_OFF)}))`,
  areFailed: false,
};
/** The end of a campaign with an error makes emails FAILED that are on the wire. What became of them is known later. */
const CLOSED_EARLY: Changeable = {
  where: sql`(e.status = ${emailStatus.FAILED} and r.verdict in ('sent', 'bounced'))`,
  areFailed: true,
};

/** Changes recipients, events and the campaign's counters in one statement. */
async function recordOnPage(
  tx: Em,
  page: ClaimedPage,
  results: DeliveryResult[],
  retrySeconds: readonly number[],
  { where, areFailed }: Changeable,
): Promise<RecordedPage> {
  const hold = results.findLast((result) => result.held)?.held;
  const [row] = await queryPrepared(
    tx,
    sql`
      with page as (
        select from campaign_page
        where campaign_id = ${page.campaignId} and first_seq = ${page.firstSeq} and claim_token = ${page.claimToken}
        for share
      ),
      claimed as (
        select where exists (select from page) or not exists (select from campaign where id = ${page.campaignId})
      ),
      changed as (
        update email e set ${resultColumns(retrySeconds, page.claimToken)} from ${resultTable(results)}
        where e.id = r.email_id and exists (select from claimed)
          and (e.claim_token is distinct from ${page.claimToken} or e.wait_reason is distinct from 'deferred'
            or r.verdict not in ${literalList(PUT_OFF)})
          and ${where}
        returning e.*, r.verdict
      ),
      ${resultEvents(page.heading)},
      counts as (
        select count(*) filter (where verdict = 'sent')::int as sent,
          (count(*) filter (where verdict = 'failed') - case when ${areFailed}::bool then count(*) else 0 end)::int
            as failed,
          count(*) filter (where verdict = 'bounced')::int as bounced,
          count(*) filter (where verdict = 'skipped')::int as skipped,
          count(*) filter (where verdict = 'suppressed')::int as suppressed
        from changed
      ),
      counted as (
        update campaign c set sent_count = c.sent_count + n.sent, failed_count = c.failed_count + n.failed,
          bounced_count = c.bounced_count + n.bounced, skipped_count = c.skipped_count + n.skipped,
          suppressed_count = c.suppressed_count + n.suppressed, waiting = coalesce(${storedHold(hold)}, c.waiting)
        from counts n where c.id = ${page.campaignId} returning ${MAY_SEND} as may_send
      )
      select (select may_send from counted) as "maySend", exists (select from claimed) as "isClaimed",
        (select json_agg(json_build_object('email_id', id, 'contact_id', contact_id, 'verdict', verdict))
         from changed where verdict = 'bounced') as bounced`,
    { bounced: nullable(jsonAs<RecordedResult[]>()), maySend: nullable(boolean), isClaimed: boolean },
  );
  return { bounced: row?.bounced ?? [], maySend: row?.maySend ?? false, isClaimed: row?.isClaimed ?? false };
}

/**
 * Records results of a page. An attempt that lost the page to another changes nothing. A deferral that an attempt
 * records again counts once: the answer of PostgreSQL may be lost, and two processes may read one kept file. What was
 * held before counts as well, because the attempt may have tried the email again. Results of
 * emails that have been sent are recorded even when the campaign was cancelled, ended with an error or was deleted
 * meanwhile.
 */
export async function recordCampaignResults(
  em: Em,
  page: ClaimedPage,
  results: DeliveryResult[],
  retrySeconds: readonly number[],
): Promise<RecordOutcome> {
  const recordWithBounces = async (tx: Em, changeable: Changeable): Promise<RecordedPage> => {
    await lockBounced(tx, results);
    const recorded = await recordOnPage(tx, page, results, retrySeconds, changeable);
    await applyHardBounces(tx, page.projectId, bouncedAmong(recorded.bounced));
    return recorded;
  };
  const hasBounces = results.some((result) => result.verdict === 'bounced');
  const record = (changeable: Changeable) =>
    hasBounces
      ? inTransaction(em, (tx) => recordWithBounces(tx, changeable))
      : recordOnPage(em, page, results, retrySeconds, changeable);
  let outcome = await record(OPEN);
  // The page may have been deleted with its campaign while the statement waited for it; only a new statement sees that.
  if (!outcome.isClaimed) outcome = await record(OPEN);
  if (outcome.isClaimed && !outcome.maySend) await record(CLOSED_EARLY);
  return { mayContinue: outcome.isClaimed && outcome.maySend };
}
