import { sql, type SqlFragment } from '../../database/sql.ts';

const olderThan = (days: number): SqlFragment => sql`created_at < now() - ${days}::int * interval '1 day'`;

/**
 * A select of the keys of old entries of the record of consent that a later one has replaced. The last one about all
 * marketing, about each topic, and about tracking is none of them, because it proves what holds.
 */
export function replacedConsents(days: number): SqlFragment {
  return sql`
    select contact_id, id from consent_record t where ${olderThan(days)} and exists (
      select from consent_record n where n.contact_id = t.contact_id and n.id > t.id
        and n.topic_id is not distinct from t.topic_id and (n.state like 'tracking%') = (t.state like 'tracking%'))`;
}

/** A select of the ids of old words that nobody has consented to, or whose consents were erased. */
export function unusedWordings(days: number): SqlFragment {
  return sql`
    select id from wording w where ${olderThan(days)}
      and not exists (select from consent_record r where r.wording_id = w.id)
      and not exists (select from opt_in o where o.wording_id = w.id)`;
}
