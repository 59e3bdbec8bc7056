import { NIL } from 'uuid';
import type { Em } from '../../database/em.ts';
import { contactsAfter } from '../contacts/contact-order.ts';
import { atCallersCost } from '../../database/database-errors.ts';
import { audienceType, campaignStatus, emailStatus, segmentType } from '../../database/constants.ts';
import { query, queryOne, sql, type SqlFragment } from '../../database/sql.ts';
import { boolean, date, nullable, number, pick, tables, text } from '../../database/tables.ts';
import { inTransaction } from '../../database/transaction.ts';
import { audiencePredicate, type StatedAudience } from './audience.ts';
import { CampaignEndedError } from './campaign-state.ts';

export interface FreezeProgress {
  isComplete: boolean;
  totalRecipients: number;
}

interface AudienceRow extends StatedAudience {
  /** Whether the audience is a STATIC segment. */
  isMemberList: boolean;
  asOf: Date;
  cursor: string | null;
  isFrozen: boolean;
  total: number;
}

/**
 * Loads the audience of a campaign for the one attempt at a time that may work on it. The lock is an advisory one: the
 * row stays free, so that the campaign can be cancelled at once.
 */
async function loadAudience(em: Em, campaignId: string): Promise<AudienceRow | undefined> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`);
  return queryOne(
    em,
    sql`
      select project_id as "projectId", type, topic_id as "topicId", audience_type as "audienceType", audience_condition as "audienceCondition",
        segment_id as "segmentId", coalesce(audience_as_of, now()) as "asOf", audience_cursor as cursor,
        audience_frozen as "isFrozen", total_recipients as "total",
        audience_type = ${audienceType.SEGMENT} and exists (
          select from segment s where s.id = segment_id and s.type = ${segmentType.STATIC}
        ) as "isMemberList"
      from campaign where id = ${campaignId} and status = ${campaignStatus.SENDING}`,
    {
      isMemberList: boolean,
      asOf: date,
      cursor: tables.campaign.audienceCursor,
      isFrozen: tables.campaign.audienceFrozen,
      total: tables.campaign.totalRecipients,
      ...pick(tables.campaign, 'type', 'topicId', 'projectId', 'audienceType', 'audienceCondition', 'segmentId'),
    },
  );
}

/**
 * Adds those of the next `windowSize` contacts, by id, that belong to the audience of a campaign that is being sent.
 * Recipients, their numbers and the cursor are committed together, so a repeated or concurrent call continues where the
 * last one stopped. Contacts created after the first call are not added. A campaign that is cancelled meanwhile gets no
 * more recipients.
 * @returns undefined when the campaign is not being sent any more
 * @throws AppError BAD_REQUEST when the condition makes no sense
 */
export async function freezeNextRecipients(
  em: Em,
  campaignId: string,
  windowSize: number,
): Promise<FreezeProgress | undefined> {
  try {
    return await inTransaction(em, async (tx) => {
      const campaign = await loadAudience(tx, campaignId);
      if (!campaign) return undefined;
      if (campaign.isFrozen) return { isComplete: true, totalRecipients: campaign.total };
      return takeWindow(tx, campaignId, campaign, windowSize);
    });
  } catch (error) {
    if (error instanceof CampaignEndedError) return undefined;
    throw error;
  }
}

/** The next contacts by id among whom the recipients are looked for. */
function nextCandidates(
  { projectId, segmentId, isMemberList, cursor, asOf }: AudienceRow,
  windowSize: number,
): SqlFragment {
  const after = cursor ?? NIL;
  if (isMemberList) {
    return sql`
      select c.* from segment_member m join contact c on c.id = m.contact_id
      where m.segment_id = ${segmentId} and m.contact_id > ${after} and c.created_at <= ${asOf}
      order by m.contact_id limit ${windowSize}`;
  }
  return sql`
    select * from contact where ${contactsAfter(projectId, after)} and created_at <= ${asOf}
    order by project_id, id limit ${windowSize}`;
}

async function takeWindow(
  em: Em,
  campaignId: string,
  campaign: AudienceRow,
  windowSize: number,
): Promise<FreezeProgress> {
  const range = { after: campaign.cursor ?? NIL, last: sql`(select id from candidates order by id desc limit 1)` };
  const predicate = await audiencePredicate(em, campaign, campaign.asOf, range);
  const statement = sql`
      with candidates as materialized (${nextCandidates(campaign, windowSize)}),
      recipients as (
        insert into email (id, project_id, contact_id, campaign_id, topic_id, campaign_seq, to_address, status,
          created_at)
        select everpost_uuid_v7(), ${campaign.projectId}, c.id, ${campaignId}, ${campaign.topicId}::uuid,
          ${campaign.total}::int + (row_number() over (order by c.id))::int, c.email, ${emailStatus.PENDING}, now()
        from candidates c where ${predicate}
        returning 1
      )
      select (select count(*) from candidates)::int as seen, (select max(id::text) from candidates) as last,
        (select count(*) from recipients)::int as count`;
  const taken = await atCallersCost(() =>
    queryOne(em, statement, { seen: number, count: number, last: nullable(text) }),
  );
  const isComplete = (taken?.seen ?? 0) < windowSize;
  const totalRecipients = campaign.total + (taken?.count ?? 0);
  const kept = await queryOne(
    em,
    sql`
      update campaign set total_recipients = ${totalRecipients}, audience_frozen = ${isComplete},
        audience_as_of = ${campaign.asOf}, audience_cursor = coalesce(${taken?.last ?? null}::uuid, audience_cursor),
        updated_at = now()
      where id = ${campaignId} and status = ${campaignStatus.SENDING} returning id`,
    { id: tables.campaign.id },
  );
  if (!kept) throw new CampaignEndedError();
  return { isComplete, totalRecipients };
}
