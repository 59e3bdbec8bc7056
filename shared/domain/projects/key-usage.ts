import type { Brand } from '../../pure/brand.ts';
import { query, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { boolean, jsonAs, number, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { BRAND } from './brand.ts';
import { hashKey } from './keys.ts';

/** The columns of `KeyOwner` in a join of a table `w (lookup)` with the key `k` and its project `p`. */
const OWNER_COLUMNS = sql`
  w.lookup, k.id as key_id, k.name as key_name, k.role, k.sender_domains, k.expires_at,
  coalesce(k.expires_at <= now(), false) as has_expired,
  p.id, p.name, p.disabled, p.tracking, p.client_addresses as "clientAddresses",
  p.track_accepts_secret_key, p.public_key_rules, ${BRAND} as brand`;

const KEY_OWNER = {
  /** The hash of the key. */
  lookup: text,
  key_id: tables.apiKey.id,
  key_name: tables.apiKey.name,
  role: tables.apiKey.role,
  /** The only domains that the key may send from; null means all of the project. */
  sender_domains: tables.apiKey.senderDomains,
  expires_at: tables.apiKey.expiresAt,
  has_expired: boolean,
  ...pick(tables.project, 'id', 'name', 'disabled', 'tracking', 'clientAddresses'),
  brand: jsonAs<Brand>(),
  /** Whether POST /v1/track accepts the secret key, too. */
  track_accepts_secret_key: tables.project.trackAcceptsSecretKey,
  /** What public keys may do; null means everything that they can do. */
  public_key_rules: tables.project.publicKeyRules,
};
export type KeyOwner = RowOf<typeof KEY_OWNER>;

/** A key and its project, and the project's requests of the current minute, including those just counted. */
const COUNTED_KEY_OWNER = {
  ...KEY_OWNER,
  /** Requests with secret keys, and with public keys. */
  secret_used: tables.rateWindow.used,
  public_used: tables.rateWindow.publicUsed,
  /** Seconds until the minute ends. */
  reset_seconds: number,
};
export type CountedKeyOwner = RowOf<typeof COUNTED_KEY_OWNER>;

/**
 * Finds the owners of keys, counts requests of each key, and notes once a minute that a key is used, in one statement.
 * Unknown keys are left out; requests with expired keys are not counted.
 * @param counts the requests of each key, by the hash of the key
 */
export async function countRequests(em: Em, counts: ReadonlyMap<string, number>): Promise<CountedKeyOwner[]> {
  return queryPrepared(
    em,
    sql`
      with wanted as (
        select * from unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::int[]) as w (lookup, requests)
      ),
      found as (
        select ${OWNER_COLUMNS}, w.requests, k.last_used_at
        from wanted w join api_key k on k.key_hash = w.lookup join project p on p.id = k.project_id
      ),
      counted as (
        insert into rate_window as r (project_id, window_start, used, public_used)
        select id, date_trunc('minute', now()), coalesce(sum(requests) filter (where role <> 'track'), 0),
          coalesce(sum(requests) filter (where role = 'track'), 0)
        from found where not has_expired group by id order by id
        on conflict (project_id) do update set
          used = case when r.window_start = excluded.window_start then r.used else 0 end + excluded.used,
          public_used =
            case when r.window_start = excluded.window_start then r.public_used else 0 end + excluded.public_used,
          window_start = excluded.window_start
        returning project_id, used, public_used
      ),
      noted as (
        update api_key set last_used_at = now() where id in (
          select k.id from found f join api_key k on k.id = f.key_id
          where not f.has_expired and coalesce(f.last_used_at < now() - interval '1 minute', true)
          for no key update of k skip locked
        )
      )
      select f.lookup, f.key_id, f.key_name, f.role, f.sender_domains, f.expires_at, f.has_expired, f.id, f.name,
        f.disabled, f.tracking, f."clientAddresses", f.track_accepts_secret_key, f.public_key_rules, f.brand,
        coalesce(c.used, 0) as secret_used, coalesce(c.public_used, 0) as public_used,
        ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - clock_timestamp()))::int as reset_seconds
      from found f left join counted c on c.project_id = f.id`,
    COUNTED_KEY_OWNER,
  );
}

/** Finds the owners of keys by their hashes. Unknown keys are left out. */
export async function findKeyOwners(em: Em, lookups: string[]): Promise<KeyOwner[]> {
  return query(
    em,
    sql`
      select ${OWNER_COLUMNS}
      from unnest(${lookups}::text[]) as w (lookup) join api_key k on k.key_hash = w.lookup
        join project p on p.id = k.project_id`,
    KEY_OWNER,
  );
}

/** The project of a public key. @returns undefined for an unknown, secret or ended key, and for a disabled project */
export async function findPublicKeyOwner(em: Em, key: string): Promise<KeyOwner | undefined> {
  const [owner] = await findKeyOwners(em, [hashKey(key)]);
  return owner?.role === 'track' && !owner.disabled && !owner.has_expired ? owner : undefined;
}
