import { emailStatusesBelow, REPORTABLE_STATUSES } from '../../pure/emails/email-types.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import type { Em } from '../../database/em.ts';
import { emailStatus } from '../../database/constants.ts';
import { isoText, literalList, lockTimeoutSelect, query, queryPrepared, sql } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
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

/** The projects of emails, by the id of the email. Emails that are gone are missing. */
export async function projectsOfEmails(em: Em, emailIds: string[]): Promise<Map<string, string>> {
  const rows = await query(
    em,
    sql`select id, project_id as "projectId" from email where id = any(${emailIds}::uuid[])`,
    { id: tables.email.id, projectId: tables.email.projectId },
  );
  return new Map(rows.map(({ id, projectId }) => [id, projectId]));
}

/**
 * One statement: the status of each email moves up and never down, the campaign counts an email the first time only,
 * and the first engagements are recorded as events. A click in an email that was never opened is recorded as an open,
 * too. Engagements of emails that are gone, or were never handed over, change nothing. Those of an erased contact are
 * counted, but get no event.
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
        select h.id, h.email_id, h.url, h.n, h.repeats, (now() - h.age_ms * interval '1 millisecond')::timestamptz(3) as at
        from unnest(
          ${engagements.map(({ id }) => id)}::uuid[], ${engagements.map(({ emailId }) => emailId)}::uuid[],
          ${engagements.map(({ url }) => url)}::text[], ${engagements.map(({ ageMs }) => ageMs)}::float8[],
          ${engagements.map(({ repeats }) => repeats)}::int[]
        ) with ordinality as h (id, email_id, url, age_ms, repeats, n)
      ),
      target as materialized (
        select e.* from email e, lock_limit
        where e.id in (select email_id from engagement) and e.status in ${REPORTABLE}
        order by e.id for no key update of e
      ),
      tally as (
        select t.id, coalesce(sum(1 + h.repeats) filter (where h.url is not null), 0)::int as clicks,
          coalesce(sum(1 + h.repeats) filter (where h.url is null), 0)::int
            + (t.opened_at is null and bool_and(h.url is not null))::int as opens,
          min(h.at) as first_at, min(h.at) filter (where h.url is not null) as first_click_at
        from target t join engagement h on h.email_id = t.id group by t.id, t.opened_at
      ),
      with_implied_opens as (
        select h.id, h.email_id, h.url, h.n, h.repeats, h.at from engagement h
        union all
        select everpost_uuid_v7(), t.id, null, 0, 0, y.first_at from target t join tally y on y.id = t.id
        where t.opened_at is null and not exists (select from engagement h where h.email_id = t.id and h.url is null)
      ),
      numbered as (
        select t.*, s.id as event_id, s.url, s.n, s.at, ${isoText(sql`s.at`)} as moment,
          case when s.url is null then t.opens else t.clicks end
            + (sum(1 + s.repeats) over (partition by t.id, s.url is null order by s.n))::int - s.repeats as nth
        from with_implied_opens s join target t on t.id = s.email_id
      ),
      ${recordedEmailEvents({
        emails: sql`numbered`,
        id: sql`m.event_id`,
        name: sql`case when m.url is null then 'email.open' else 'email.click' end`,
        details: sql`case
          when m.url is null then jsonb_build_object('openedAt', m.moment, 'opens', m.nth, 'isFirstOpen', m.nth = 1)
          else jsonb_build_object('link', m.url, 'clickedAt', m.moment, 'clicks', m.nth, 'isFirstClick', m.nth = 1) end`,
        at: sql`m.at`,
        where: sql`m.nth <= ${ENGAGEMENT_EVENTS_MAX} order by m.n`,
      })},
      updated as (
        update email e set
          opens = t.opens + y.opens, clicks = t.clicks + y.clicks, opened_at = coalesce(t.opened_at, y.first_at),
          clicked_at = coalesce(t.clicked_at, y.first_click_at),
          status = case
            when y.clicks > 0 and t.status in ${BELOW_CLICKED} then ${emailStatus.CLICKED}
            when t.status in ${BELOW_OPENED} then ${emailStatus.OPENED} else t.status end
        from target t join tally y on y.id = t.id where e.id = t.id
        returning e.campaign_id, (t.opened_at is null)::int as opened,
          (t.clicked_at is null and y.clicks > 0)::int as clicked
      ),
      counts as (
        select campaign_id, sum(opened)::int as opened, sum(clicked)::int as clicked from updated
        where campaign_id is not null group by campaign_id having sum(opened) + sum(clicked) > 0
      ),
      locked as materialized (
        select c.id, n.opened, n.clicked from campaign c join counts n on n.campaign_id = c.id
        order by c.id for no key update of c
      ),
      counted as (
        update campaign c set opened_count = c.opened_count + l.opened, clicked_count = c.clicked_count + l.clicked
        from locked l where c.id = l.id
      )
      select`,
  );
}
