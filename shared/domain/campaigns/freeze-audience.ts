import { MAX, NIL } from 'uuid';
import { contactsAfter } from '../contacts/contact-order.ts';
import { atCallersCost } from '../../database/database-errors.ts';
import { audienceType, campaignStatus, emailStatus, segmentType } from '../../database/constants.ts';
import { joinSql, json, query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, date, nullable, number, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { warmsUp } from '../emails/sources.ts';
import type { SegmentForFilter } from '../filters/segment-references.ts';
import { audiencePredicate, findAudienceSegments, type AudienceSegments } from './audience.ts';
import { CampaignEndedError } from './campaign-state.ts';

export interface FreezeProgress {
  isComplete: boolean;
  totalRecipients: number;
}

const AUDIENCE = {
  ...pick(tables.campaign, 'type', 'topicId', 'projectId', 'audienceType', 'audienceCondition', 'segmentId'),
  /** Whether the audience is a STATIC segment. */
  isMemberList: boolean,
  asOf: date,
  /** The segments that it depends on; null before the first recipients are stored. */
  segments: tables.campaign.audienceSegments,
  cursor: tables.campaign.audienceCursor,
  /** Null for the order of ids, unless `warmsUp`. */
  order: tables.campaign.audienceOrder,
  /** The moment of the cursor in such an order. */
  before: tables.campaign.audienceBefore,
  /** Whether mail of the project goes over a source that warms up. */
  warmsUp: boolean,
  isFrozen: tables.campaign.audienceFrozen,
  total: tables.campaign.totalRecipients,
};
type AudienceRow = RowOf<typeof AUDIENCE>;

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
        segment_id as "segmentId", coalesce(audience_as_of, now()) as "asOf", audience_segments as segments,
        audience_cursor as cursor, audience_frozen as "isFrozen", total_recipients as "total", audience_order as "order", audience_before as before,
        audience_as_of is null and ${warmsUp(sql`campaign.project_id`)} as "warmsUp",
        audience_type = ${audienceType.SEGMENT} and exists (
          select from segment s where s.id = segment_id and s.type = ${segmentType.STATIC}
        ) as "isMemberList"
      from campaign where id = ${campaignId} and status = ${campaignStatus.SENDING}`,
    AUDIENCE,
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
      const order = campaign.order ?? (campaign.warmsUp ? 'engaged' : 'id');
      return takeWindow(tx, campaignId, { ...campaign, order }, windowSize);
    });
  } catch (error) {
    if (error instanceof CampaignEndedError) return undefined;
    throw error;
  }
}

/** People who opened or clicked longer ago come in the order of their subscription. */
const ENGAGED_DAYS = 365;

/** Those who opened or clicked, the last one first; machines do not count. Each row is such an event. */
function nextEngaged({ projectId, cursor, before, asOf }: AudienceRow, windowSize: number): SqlFragment {
  const upTo = before ?? asOf;
  const engagements = ['email.open', 'email.click'].map(
    (name) => sql`
      (select id, contact_id, created_at from event
      where project_id = ${projectId} and name = ${name} and not everpost_is_of_machine(data)
        and created_at between ${asOf}::timestamptz - ${ENGAGED_DAYS}::int * interval '1 day' and ${upTo}
        and (created_at, id) < (${upTo}, ${cursor ?? MAX}::uuid)
      order by created_at desc, id desc limit ${windowSize})`,
  );
  return sql`
    select e.id as event_id, e.created_at as engaged_at, c.* from (
      ${joinSql(engagements, ' union all ')} order by created_at desc, id desc limit ${windowSize}
    ) e left join contact c on c.id = e.contact_id and c.project_id = ${projectId} and c.created_at <= ${asOf}`;
}

/** The contacts of a project, the newest first. */
function nextNewest({ projectId, cursor, before, asOf }: AudienceRow, windowSize: number): SqlFragment {
  return sql`
    select * from contact
    where (project_id, created_at, id) < (${projectId}::uuid, ${before ?? asOf}, ${cursor ?? MAX}::uuid)
      and (project_id, created_at, id) >= (${projectId}::uuid, '-infinity'::timestamptz, ${NIL}::uuid)
    order by project_id desc, created_at desc, id desc limit ${windowSize}`;
}

/** How the recipients are found and stored in an order. */
interface Walk {
  candidates: SqlFragment;
  /** Each candidate once, as a select from `candidates`. */
  each: SqlFragment;
  orderBy: SqlFragment;
  /** The cursor after the candidates: an id, and a moment. */
  last: SqlFragment;
  /** The order of what follows. */
  next: 'newest' | null;
}

const EVERYBODY = sql`select * from candidates`;

function walkOf(campaign: AudienceRow, windowSize: number): Walk {
  if (campaign.order === 'engaged') {
    return {
      candidates: nextEngaged(campaign, windowSize),
      each: sql`select distinct on (id) * from candidates where id is not null order by id, engaged_at desc`,
      orderBy: sql`c.engaged_at desc, c.event_id desc`,
      last: sql`select event_id as id, engaged_at as at from candidates order by 2, 1 limit 1`,
      next: 'newest',
    };
  }
  if (campaign.order === 'newest') {
    const last = sql`select id, created_at as at from candidates order by 2, 1 limit 1`;
    const orderBy = sql`c.created_at desc, c.id desc`;
    return { candidates: nextNewest(campaign, windowSize), each: EVERYBODY, orderBy, last, next: null };
  }
  const last = sql`select id, null::timestamptz as at from candidates order by id desc limit 1`;
  return { candidates: nextCandidates(campaign, windowSize), each: EVERYBODY, orderBy: sql`c.id`, last, next: null };
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

/** The segments as they were when the first recipients were stored. @throws AppError BAD_REQUEST when a topic was deleted */
async function segmentsOf(em: Em, campaign: AudienceRow): Promise<AudienceSegments> {
  const present = await findAudienceSegments(em, campaign);
  const stored = campaign.segments as SegmentForFilter[] | null;
  return stored ? new Map(stored.map((segment) => [segment.id, segment])) : present;
}

/** Stores those of the candidates that belong to the audience. */
async function storeRecipients(
  em: Em,
  campaignId: string,
  campaign: AudienceRow,
  { candidates, each, orderBy, last }: Walk,
  predicate: SqlFragment,
) {
  const isNew =
    campaign.order === 'id'
      ? sql`true`
      : sql`not exists (select from email e where e.campaign_id = ${campaignId} and e.contact_id = c.id)`;
  const statement = sql`
      with candidates as materialized (${candidates}),
      recipients as (
        insert into email (id, project_id, contact_id, campaign_id, topic_id, campaign_seq, to_address, status,
          created_at)
        select everpost_uuid_v7(), ${campaign.projectId}, c.id, ${campaignId}, ${campaign.topicId}::uuid,
          ${campaign.total}::int + (row_number() over (order by ${orderBy}))::int, c.email, ${emailStatus.PENDING}, now()
        from (${each}) c where ${predicate} and ${isNew}
        returning 1
      )
      select (select count(*) from candidates)::int as seen, (select count(*) from recipients)::int as count,
        last.id as last, last.at from (select) one left join (${last}) last on true`;
  return atCallersCost(() =>
    queryOne(em, statement, { seen: number, count: number, last: nullable(text), at: nullable(date) }),
  );
}

async function takeWindow(
  em: Em,
  campaignId: string,
  campaign: AudienceRow,
  windowSize: number,
): Promise<FreezeProgress> {
  const isById = campaign.order === 'id';
  const range = { after: campaign.cursor ?? NIL, last: sql`(select id from candidates order by id desc limit 1)` };
  const segments = await segmentsOf(em, campaign);
  const known = { segments, range: isById ? range : undefined };
  const predicate = await audiencePredicate(em, campaign, campaign.asOf, known);
  const walk = walkOf(campaign, windowSize);
  const { next } = walk;
  const taken = await storeRecipients(em, campaignId, campaign, walk, predicate);
  const isOver = (taken?.seen ?? 0) < windowSize;
  const isComplete = isOver && next === null;
  const order = isOver && next !== null ? next : campaign.order;
  const goesOn = order === campaign.order;
  const totalRecipients = campaign.total + (taken?.count ?? 0);
  const kept = await queryOne(
    em,
    sql`
      update campaign set total_recipients = ${totalRecipients}, audience_frozen = ${isComplete},
        audience_as_of = ${campaign.asOf}, audience_segments = coalesce(audience_segments, ${campaign.segments ? null : json([...segments.values()])}::jsonb),
        updated_at = now(), audience_order = ${isById ? null : order},
        audience_before = ${(goesOn && taken?.at) || null},
        audience_cursor = ${goesOn ? sql`coalesce(${taken?.last ?? null}::uuid, audience_cursor)` : null}
      where id = ${campaignId} and status = ${campaignStatus.SENDING} returning id`,
    { id: tables.campaign.id },
  );
  if (!kept) throw new CampaignEndedError();
  return { isComplete, totalRecipients };
}
