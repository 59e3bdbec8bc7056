import type { Brand } from '../../pure/brand.ts';
import type { Em } from '../../database/em.ts';
import { query, queryPrepared, sql } from '../../database/sql.ts';
import { jsonAs, number, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { BRAND } from './brand.ts';

/** The columns of `KeyOwner` in a join of a table `w (lookup)` with the project `p`. */
const OWNER_COLUMNS = sql`
  w.lookup, p.id, p.name, p.disabled, p.tracking, p.client_addresses as "clientAddresses",
  p.track_accepts_secret_key, p.public_key_rules, ${BRAND} as brand`;

/** The project of a key. */
const KEY_OWNER = {
  /** The lookup form of the key: the public key itself, or the digest of the secret key. */
  lookup: text,
  ...pick(tables.project, 'id', 'name', 'disabled', 'tracking', 'clientAddresses'),
  brand: jsonAs<Brand>(),
  /** Whether POST /v1/track accepts the secret key, too. */
  track_accepts_secret_key: tables.project.trackAcceptsSecretKey,
  /** What the public key may do; null means everything that it can do. */
  public_key_rules: tables.project.publicKeyRules,
};
export type KeyOwner = RowOf<typeof KEY_OWNER>;

/** The project of a key, and its requests of the current minute, including those just counted. */
const COUNTED_KEY_OWNER = {
  ...KEY_OWNER,
  /** Requests with the secret key, and with the public key. */
  secret_used: tables.rateWindow.used,
  public_used: tables.rateWindow.publicUsed,
  /** Seconds until the minute ends. */
  reset_seconds: number,
};
export type CountedKeyOwner = RowOf<typeof COUNTED_KEY_OWNER>;

/** Finds the projects of keys and counts requests of each key, in one statement. Unknown keys are left out. */
export async function countRequests(em: Em, counts: ReadonlyMap<string, number>): Promise<CountedKeyOwner[]> {
  return queryPrepared(
    em,
    sql`
      with wanted as (
        select * from unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::int[]) as w (lookup, requests)
      ),
      found as (
        select ${OWNER_COLUMNS}, 0 as secret_requests, w.requests as public_requests
        from wanted w join project p on p.public_key = w.lookup
        union all
        select ${OWNER_COLUMNS}, w.requests, 0
        from wanted w join project p on p.secret_key_hash = w.lookup
      ),
      counted as (
        insert into rate_window as r (project_id, window_start, used, public_used)
        select id, date_trunc('minute', now()), sum(secret_requests), sum(public_requests)
        from found group by id order by id
        on conflict (project_id) do update set
          used = case when r.window_start = excluded.window_start then r.used else 0 end + excluded.used,
          public_used =
            case when r.window_start = excluded.window_start then r.public_used else 0 end + excluded.public_used,
          window_start = excluded.window_start
        returning project_id, used, public_used
      )
      select f.lookup, f.id, f.name, f.disabled, f.tracking, f."clientAddresses",
        f.track_accepts_secret_key, f.public_key_rules, f.brand,
        c.used as secret_used, c.public_used,
        ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - clock_timestamp()))::int as reset_seconds
      from found f join counted c on c.project_id = f.id`,
    COUNTED_KEY_OWNER,
  );
}

/** Finds the projects of keys. Unknown keys are left out. */
export async function findKeyOwners(em: Em, lookups: string[]): Promise<KeyOwner[]> {
  return query(
    em,
    sql`
      select ${OWNER_COLUMNS}
      from unnest(${lookups}::text[]) as w (lookup) join project p on w.lookup in (p.public_key, p.secret_key_hash)`,
    KEY_OWNER,
  );
}
