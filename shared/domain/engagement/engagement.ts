import type { MachineReason } from '../../pure/engagement/machine-judge.ts';
import { emailStatusesBelow, REPORTABLE_STATUSES } from '../../pure/emails/email-types.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { emailStatus } from '../../database/constants.ts';
import {
  isoText,
  literalList,
  lockTimeoutSelect,
  query,
  queryPrepared,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { nullable, number, tables } from '../../database/tables.ts';
import { recordedEmailEvents } from '../events/email-events.ts';

/** An email was opened, or one of its links was followed. */
export interface Engagement {
  /** Becomes the id of its event. */
  id: string;
  emailId: string;
  /** The address behind the link; null for an open. */
  url: string | null;
  /** How long ago it happened, in milliseconds; the clock of the database counts. */
  ageMs: number;
  /** Further engagements of the same kind, which are counted with this one and have no event. */
  repeats: number;
  /** Why it is a machine's; null for a person's. */
  machineReason: MachineReason | null;
}

/** An open or a click that was recorded as a person's, and was a machine's. */
export interface Revision extends Pick<Engagement, 'id' | 'emailId'> {
  machineReason: MachineReason;
}

/** What judging an engagement takes of its email. */
export interface EngagedEmail {
  projectId: string;
  /** How long ago it was handed over, in milliseconds of the clock of the database; null before, or while unrecorded. */
  sentAgoMs: number | null;
}

/**
 * Most events of one email and kind. Anybody who has a link can follow it any number of times, so later engagements are
 * counted but get no event.
 */
export const ENGAGEMENT_EVENTS_MAX = 50;

const REPORTABLE = literalList(REPORTABLE_STATUSES);
const BELOW_OPENED = literalList(emailStatusesBelow('OPENED'));
const BELOW_CLICKED = literalList(emailStatusesBelow('CLICKED'));

/**
 * Records opens and clicks, any number at once. A caller may pass engagements again when the commit was not confirmed.
 * They are recorded once, because their events have the ids of the engagements. If none of them has an event any more,
 * they may be counted twice.
 * @param lockMs the longest wait for a lock; that of the session when undefined
 */
export async function recordEngagements(em: Em, engagements: Engagement[], lockMs?: number): Promise<void> {
  try {
    await insertEngagements(em, engagements, lockMs);
  } catch (error) {
    if (!isUniqueViolation(error, 'event_pkey')) throw error;
  }
}

/** What is known of emails, by their id. Emails that are gone are missing. */
export async function readEngagedEmails(em: Em, emailIds: string[]): Promise<Map<string, EngagedEmail>> {
  const rows = await query(
    em,
    sql`
      select id, project_id as "projectId", (extract(epoch from now() - sent_at) * 1000)::float8 as "sentAgoMs"
      from email where id = any(${emailIds}::uuid[])`,
    { id: tables.email.id, projectId: tables.email.projectId, sentAgoMs: nullable(number) },
  );
  return new Map(rows.map(({ id, ...email }) => [id, email]));
}

/** The id of the open that a click implies: that of the click, but for the last bit. */
function impliedOpenId(clickId: SqlFragment): SqlFragment {
  return sql`encode(set_byte(uuid_send(${clickId}), 15, get_byte(uuid_send(${clickId}), 15) # 1), 'hex')::uuid`;
}

interface Verdict {
  isClick: SqlFragment;
  /** Whether it is the first of its kind in its email. */
  isFirst: SqlFragment;
  /** The reason; null for a person. */
  machine: SqlFragment;
  isHumanOpen: SqlFragment;
  isHumanClick: SqlFragment;
}

/**
 * What the data of an event says of who did it, as JSON. Whether it is the first of a person is said only where that
 * differs from being the first of all, so the index of these events is small. A click that is the first that a person
 * did with an email says so when no open can.
 */
function verdictOf({ isClick, isFirst, machine, isHumanOpen, isHumanClick }: Verdict): SqlFragment {
  return sql`
    jsonb_strip_nulls(jsonb_build_object(
      'isMachine', ${machine} is not null, 'machineReason', ${machine},
      'isFirstHumanOpen', case when ${isHumanOpen} <> (${isFirst} and not ${isClick}) then ${isHumanOpen} end,
      'isFirstHumanClick', case when ${isClick} and ${isHumanClick} <> ${isFirst} then ${isHumanClick} end
    ))`;
}

/** What the data of an event says of a row of `numbered`. */
const ENGAGEMENT_DETAILS = sql`case
          when m.url is null then jsonb_build_object('openedAt', m.moment, 'opens', m.nth, 'isFirstOpen', m.nth = 1)
          else jsonb_build_object('link', m.url, 'clickedAt', m.moment, 'clicks', m.nth, 'isFirstClick', m.nth = 1) end
          || ${verdictOf({
            isClick: sql`(m.url is not null)`,
            isFirst: sql`(m.nth = 1)`,
            machine: sql`m.machine`,
            isHumanOpen: sql`m.is_human_open`,
            isHumanClick: sql`m.is_human_click`,
          })}`;

/** Adds what `updated` says of emails to the counters of their campaigns, which are locked in the order of their ids. */
const countedInCampaigns = sql`
  counts as (
    select campaign_id, sum(opened)::int as opened, sum(clicked)::int as clicked,
      sum(human_opened)::int as human_opened, sum(human_clicked)::int as human_clicked
    from updated where campaign_id is not null group by campaign_id
    having bool_or(opened <> 0 or clicked <> 0 or human_opened <> 0 or human_clicked <> 0)
  ),
  locked as materialized (
    select c.id, n.* from campaign c join counts n on n.campaign_id = c.id order by c.id for no key update of c
  ),
  counted as (
    update campaign c set opened_count = c.opened_count + l.opened, clicked_count = c.clicked_count + l.clicked,
      human_opened_count = c.human_opened_count + l.human_opened,
      human_clicked_count = c.human_clicked_count + l.human_clicked
    from locked l where c.id = l.id
  )`;

/** Somebody who has withdrawn the consent to tracking may still follow links of an earlier email `e`. */
const MAY_BE_TRACKED = sql`
  not exists (
    select from contact c join project p on p.id = c.project_id
    where c.id = e.contact_id and not coalesce(c.tracking_allowed, p.tracking <> ${'CONSENTED'}))`;

/**
 * One statement: the status of each email moves up and never down, the campaign counts an email the first time only
 * (and apart from that the first time of a person), and the first engagements are recorded as events. A click in an email
 * that was never opened is recorded as an open, too. Engagements of emails that are gone, or were never handed over,
 * change nothing. Those of an erased contact are counted, but get no event.
 *
 * Rows are locked in the order of their ids, emails before campaigns, as everywhere. So two processes that record
 * engagements of the same emails wait for each other instead of failing.
 */
async function insertEngagements(em: Em, engagements: Engagement[], lockMs: number | undefined): Promise<void> {
  await queryPrepared(
    em,
    sql`
      with lock_limit as materialized (${lockTimeoutSelect(lockMs)}),
      engagement as (
        select h.id, h.email_id, h.url, h.machine, h.n, h.repeats, (now() - h.age_ms * interval '1 millisecond')::timestamptz(3) as at
        from unnest(
          ${engagements.map(({ id }) => id)}::uuid[], ${engagements.map(({ emailId }) => emailId)}::uuid[],
          ${engagements.map(({ url }) => url)}::text[], ${engagements.map(({ ageMs }) => ageMs)}::float8[],
          ${engagements.map(({ repeats }) => repeats)}::int[],
          ${engagements.map(({ machineReason }) => machineReason)}::text[]
        ) with ordinality as h (id, email_id, url, age_ms, repeats, machine, n)
      ),
      target as materialized (
        select e.* from email e, lock_limit
        where e.id in (select email_id from engagement) and e.status in ${REPORTABLE}
          and ${MAY_BE_TRACKED}
        order by e.id for no key update of e
      ),
      tally as (
        select t.id, coalesce(sum(1 + h.repeats) filter (where h.url is not null), 0)::int as clicks,
          coalesce(sum(1 + h.repeats) filter (where h.url is null), 0)::int
            + (t.opened_at is null and bool_and(h.url is not null))::int as opens,
          min(h.at) as first_at, min(h.at) filter (where h.url is not null) as first_click_at,
          min(h.at) filter (where h.machine is null) as human_at,
          min(h.at) filter (where h.machine is null and h.url is not null) as human_click_at,
          coalesce(
            min(h.n) filter (where h.machine is null and h.url is null),
            case when t.opened_at is null and bool_and(h.url is not null) then 0
              else min(h.n) filter (where h.machine is null) end
          ) as human_open_n,
          min(h.n) filter (where h.machine is null and h.url is not null) as human_click_n
        from target t join engagement h on h.email_id = t.id group by t.id, t.opened_at
      ),
      with_implied_opens as (
        select h.id, h.email_id, h.url, h.machine, h.n, h.repeats, h.at from engagement h
        union all
        (select distinct on (t.id) ${impliedOpenId(sql`h.id`)}, t.id, null, h.machine, 0, 0, y.first_at
        from target t join tally y on y.id = t.id join engagement h on h.email_id = t.id
        where t.opened_at is null and not exists (select from engagement o where o.email_id = t.id and o.url is null)
        order by t.id, h.machine is not null, h.n)
      ),
      numbered as (
        select t.*, s.id as event_id, s.url, s.n, s.at, s.machine, ${isoText(sql`s.at`)} as moment,
          t.human_opened_at is null and s.machine is null and s.n = y.human_open_n as is_human_open,
          coalesce(t.human_clicked_at is null and s.machine is null and s.n = y.human_click_n, false) as is_human_click,
          case when s.url is null then t.opens else t.clicks end
            + (sum(1 + s.repeats) over (partition by t.id, s.url is null order by s.n))::int - s.repeats as nth
        from with_implied_opens s join target t on t.id = s.email_id join tally y on y.id = t.id
      ),
      ${recordedEmailEvents({
        emails: sql`numbered`,
        id: sql`m.event_id`,
        name: sql`case when m.url is null then 'email.open' else 'email.click' end`,
        details: ENGAGEMENT_DETAILS,
        at: sql`m.at`,
        where: sql`
          m.nth <= ${ENGAGEMENT_EVENTS_MAX} * (1 + (m.is_human_open or m.is_human_click)::int) order by m.n`,
      })},
      updated as (
        update email e set
          opens = t.opens + y.opens, clicks = t.clicks + y.clicks, opened_at = coalesce(t.opened_at, y.first_at),
          clicked_at = coalesce(t.clicked_at, y.first_click_at),
          human_opened_at = coalesce(t.human_opened_at, y.human_at),
          human_clicked_at = coalesce(t.human_clicked_at, y.human_click_at),
          status = case
            when y.clicks > 0 and t.status in ${BELOW_CLICKED} then ${emailStatus.CLICKED}
            when t.status in ${BELOW_OPENED} then ${emailStatus.OPENED} else t.status end
        from target t join tally y on y.id = t.id where e.id = t.id
        returning e.campaign_id, (t.opened_at is null)::int as opened,
          (t.clicked_at is null and y.clicks > 0)::int as clicked,
          (t.human_opened_at is null and y.human_at is not null)::int as human_opened,
          (t.human_clicked_at is null and y.human_click_at is not null)::int as human_clicked
      ),
      ${countedInCampaigns}
      select`,
  );
}

/** Events of one email and kind that are read to find the first one of a person. */
const WINDOW = 2_000;

/**
 * Turns opens and clicks of people into those of machines, any number at once: their events, the first moments of
 * people in their emails, and the counters of people in campaigns. The counters of all opens and clicks stay. Doing it
 * again changes nothing. Rows are locked in the order of `insertEngagements`.
 */
export async function reviseEngagements(em: Em, revisions: Revision[], lockMs?: number): Promise<void> {
  const emailIds = revisions.map(({ emailId }) => emailId);
  await inTransaction(em, async (tx) => {
    await query(
      tx,
      sql`
        with lock_limit as materialized (${lockTimeoutSelect(lockMs)})
        select from email e, lock_limit where e.id = any(${emailIds}::uuid[]) order by e.id for no key update of e`,
    );
    await reviseLocked(tx, revisions);
  });
}

/** Sees all events of the emails, because whoever records one holds the lock on its email. */
async function reviseLocked(tx: Em, revisions: Revision[]): Promise<void> {
  await queryPrepared(
    tx,
    sql`
      with revision as (
        select h.* from unnest(
          ${revisions.map(({ id }) => id)}::uuid[], ${revisions.map(({ emailId }) => emailId)}::uuid[],
          ${revisions.map(({ machineReason }) => machineReason)}::text[]
        ) as h (id, email_id, machine)
      ),
      target as (select e.* from email e where e.id in (select email_id from revision)),
      judged as (
        select v.*, t.human_opened_at, t.human_clicked_at, v.name = 'email.click' as is_click,
          'true' in (v.data->>'isFirstOpen', v.data->>'isFirstClick') as is_first,
          coalesce(v.data->>'machineReason', r.machine) as machine, r.id is not null as is_revised
        from target t cross join (values ('email.open'), ('email.click')) k (name)
        cross join lateral (
          (select v.* from event v
          where v.contact_id = t.contact_id and v.name = k.name and v.created_at >= t.created_at
          order by v.created_at limit ${WINDOW})
          union all
          select v.* from event v where t.contact_id is null and v.contact_id is null and v.email_id = t.id and v.name = k.name
        ) v
        left join revision r on r.id = v.id or ${impliedOpenId(sql`r.id`)} = v.id
        where v.email_id = t.id and v.data->>'isMachine' is not null
      ),
      ranked as (
        select j.*,
          j.machine is null and 1 = row_number() over (
            partition by j.email_id order by j.machine is not null, j.created_at, j.is_click, j.id
          ) as is_human_open,
          j.machine is null and j.is_click and 1 = row_number() over (
            partition by j.email_id, j.is_click order by j.machine is not null, j.created_at, j.id
          ) as is_human_click
        from judged j
      ),
      revised as (
        update event v set data = d.data
        from (
          select m.id, m.data - '{isFirstHumanOpen,isFirstHumanClick}'::text[] || ${verdictOf({
            isClick: sql`m.is_click`,
            isFirst: sql`m.is_first`,
            machine: sql`m.machine`,
            isHumanOpen: sql`m.is_human_open`,
            isHumanClick: sql`m.is_human_click`,
          })} as data
          from ranked m
        ) d
        where v.id = d.id and v.data <> d.data
      ),
      left_over as (
        select email_id, min(created_at) filter (where machine is null) as human_at,
          min(created_at) filter (where machine is null and is_click) as human_click_at,
          bool_or(is_revised and created_at = human_opened_at) as is_other_open,
          bool_or(is_revised and created_at = human_clicked_at) as is_other_click
        from judged group by email_id
      ),
      updated as (
        update email e set human_opened_at = case when l.is_other_open then l.human_at else t.human_opened_at end,
          human_clicked_at = case when l.is_other_click then l.human_click_at else t.human_clicked_at end
        from target t join left_over l on l.email_id = t.id
        where e.id = t.id and (l.is_other_open or l.is_other_click)
        returning e.campaign_id, 0 as opened, 0 as clicked,
          -(t.human_opened_at is not null and e.human_opened_at is null)::int as human_opened,
          -(t.human_clicked_at is not null and e.human_clicked_at is null)::int as human_clicked
      ),
      ${countedInCampaigns}
      select`,
  );
}
