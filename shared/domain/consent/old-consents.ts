import { sql, type SqlFragment } from '../../database/sql.ts';

const olderThan = (days: number): SqlFragment => sql`created_at < now() - ${days}::int * interval '1 day'`;

/** What an entry is about, besides its topic: tracking, a pause, or a subscription. */
const aboutOf = (entry: SqlFragment): SqlFragment =>
  sql`case when ${entry}.state like 'tracking%' then 1 when ${entry}.state in ('paused', 'resumed') then 2 else 3 end`;

/**
 * A select of the keys of old entries of the record of consent that a later one has replaced. The last one about all
 * marketing, about each topic, about a pause, and about tracking is none of them, because it proves what holds. A request
 * that waits for its confirmation, or has expired, replaces no subscription and no end of one.
 */
export function replacedConsents(days: number): SqlFragment {
  return sql`
    select contact_id, id from consent_record t where ${olderThan(days)} and exists (
      select from consent_record n where n.contact_id = t.contact_id and n.id > t.id
        and n.topic_id is not distinct from t.topic_id and ${aboutOf(sql`n`)} = ${aboutOf(sql`t`)}
        and (n.state not in ('pending', 'expired') or t.state in ('pending', 'expired')))`;
}

/** A select of the ids of old words that nobody has consented to, or whose consents were erased. */
export function unusedWordings(days: number): SqlFragment {
  return sql`
    select id from wording w where ${olderThan(days)}
      and not exists (select from consent_record r where r.wording_id = w.id)
      and not exists (select from opt_in o where o.wording_id = w.id)`;
}
