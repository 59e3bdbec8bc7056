import { DAY_MS, dayOf } from '../../pure/days.ts';
import { SYSTEM_EVENTS } from '../../pure/activity-types.ts';
import { query, sql, type SqlFragment, type Em, joinSql } from '../../database/sql.ts';
import { number, oneOf, text } from '../../database/tables.ts';
import { eventNames } from '../events/event-names.ts';

/** Conditions on a row of `event`. Each is true for at most one event of an email. */
const FIRST_OPEN = sql`(name = 'email.open' and data->>'isFirstOpen' = 'true')`;
const FIRST_CLICK = sql`(name = 'email.click' and data->>'isFirstClick' = 'true')`;
const HARD_BOUNCE = sql`(name = 'email.bounce' and data->>'bounceType' = 'hard')`;

/** Any of them: exactly the predicate of the index `event_first_of_mail`. */
const FIRST_OF_EMAIL = sql`(${joinSql([FIRST_OPEN, FIRST_CLICK, HARD_BOUNCE], ' or ')})`;

/**
 * Events that are the first of a person or the first of all, but not both: exactly the predicate of the index
 * `event_first_of_human`.
 */
const FIRST_OF_HUMAN = sql`(data->>'isFirstHumanOpen' is not null or data->>'isFirstHumanClick' is not null)`;

/**
 * Opened, clicked and bounced count each email once, whatever the number of its events. Those of people leave machines
 * out.
 */
const NONE = {
  /** Tracked events, and segment entries and exits. */
  events: 0,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  humanOpened: 0,
  humanClicked: 0,
  /** Hard bounces. */
  bounced: 0,
  complaints: 0,
  workflowsStarted: 0,
};
export type ActivityCounts = typeof NONE;

export interface DayCounts extends ActivityCounts {
  /** A UTC day, YYYY-MM-DD. */
  date: string;
}

type Counted = keyof ActivityCounts;

function dayIn(column: SqlFragment): SqlFragment {
  return sql`(${column} at time zone 'UTC')::date`;
}

/**
 * Counts the activities of a project between two moments, the end excluded, by UTC day. The result has days without
 * activities, too. Events of a name are counted by a range of one index, without reading the events themselves.
 */
export async function countActivity(em: Em, projectId: string, from: Date, until: Date): Promise<DayCounts[]> {
  const within = (column: SqlFragment) => sql`${column} >= ${from} and ${column} < ${until}`;
  const rows = await query(
    em,
    sql`
      with recursive ${eventNames(projectId)},
      plain (name, counted) as (
        values ('email.sent', 'sent'), ('email.delivery', 'delivered'), ('email.complaint', 'complaints')
        union all
        select name, 'events' from names where name is not null and name <> all(${[...SYSTEM_EVENTS]}::text[])
      )
      select p.counted, d.date::text, sum(d.count)::bigint as count
      from plain p cross join lateral (
        select ${dayIn(sql`created_at`)} as date, count(*) as count from event
        where project_id = ${projectId} and name = p.name and ${within(sql`created_at`)} group by 1
      ) d group by 1, 2
      union all
      select case name when 'email.open' then 'opened' when 'email.click' then 'clicked' else 'bounced' end,
        ${dayIn(sql`created_at`)}::text, count(*)
      from event
      where project_id = ${projectId} and name in ('email.open', 'email.click', 'email.bounce')
        and ${within(sql`created_at`)} and ${FIRST_OF_EMAIL}
      group by 1, 2
      union all
      select k.counted, ${dayIn(sql`created_at`)}::text, sum(case k.is_first when 'true' then 1 else -1 end)::bigint
      from event cross join lateral (values
        ('humanOpened', data->>'isFirstHumanOpen'), ('humanClicked', data->>'isFirstHumanClick')
      ) k (counted, is_first)
      where project_id = ${projectId} and name in ('email.open', 'email.click') and ${within(sql`created_at`)}
        and ${FIRST_OF_HUMAN} and k.is_first is not null
      group by 1, 2
      union all
      select 'workflowsStarted', ${dayIn(sql`started_at`)}::text, count(*) from automation_execution
      where project_id = ${projectId} and ${within(sql`started_at`)} group by 2`,
    {
      counted: oneOf(...(Object.keys(NONE) as [Counted, ...Counted[]])),
      date: text,
      count: number,
    },
  );
  const days = new Map<string, DayCounts>();
  for (let at = from.getTime() - (from.getTime() % DAY_MS); at < until.getTime(); at += DAY_MS) {
    const date = dayOf(at);
    days.set(date, { date, ...NONE });
  }
  for (const { counted, date, count } of rows) {
    const day = days.get(date);
    if (!day) continue;
    day[counted] += count;
    // The rows of people say by how much they differ from all.
    if (counted === 'opened') day.humanOpened += count;
    if (counted === 'clicked') day.humanClicked += count;
  }
  return [...days.values()];
}

/** The sums over days. */
export function totalOf(days: DayCounts[]): ActivityCounts {
  const total = { ...NONE };
  for (const day of days) {
    for (const key of Object.keys(total) as Counted[]) total[key] += day[key];
  }
  return total;
}
