import type { Em } from '../database/em.ts';
import { joinSql, query, queryOne, sql } from '../database/sql.ts';
import { ADDRESS_HASH_KEY, addressHash } from './address-hash.ts';
import type { Suppression, SuppressionReason } from './suppressions.ts';

/** A place in the list. */
export interface SuppressionPlace {
  at: Date;
  /** The hash of the address, in hex. */
  hash: string;
}

export interface SuppressionQuery {
  limit: number;
  after?: SuppressionPlace | undefined;
  reason?: SuppressionReason | undefined;
  /** A normalised address. */
  address?: string | undefined;
}

export interface ListedSuppression extends Suppression {
  /** The server's text, or who suppressed the address by hand. */
  words: string | null;
  /** The campaign of the email that came back. */
  campaignId: string | null;
}

export interface SuppressionPage {
  suppressions: ListedSuppression[];
  /** The place of the last one; missing at the end. */
  next?: SuppressionPlace;
}

/** Suppressions that one page looks through, so that a rare reason costs no more than a frequent one. */
const WINDOW = 5_000;

/** One page of a project's suppressions, newest first. With a reason it may have fewer than `limit` and more behind it. */
export async function pageOfSuppressions(
  em: Em,
  projectId: string,
  { limit, after, reason, address }: SuppressionQuery,
): Promise<SuppressionPage> {
  const way = [sql`s.project_id = ${projectId}`];
  if (after) way.push(sql`(s.created_at, s.address_hash) < (${after.at}::timestamptz, decode(${after.hash}, 'hex'))`);
  if (address !== undefined)
    way.push(
      sql`s.address_hash = (select ${addressHash(sql`${projectId}::uuid`, sql`${address}::text`)} from ${ADDRESS_HASH_KEY})`,
    );
  const along = sql`
    from suppression s where ${joinSql(way, ' and ')} order by s.created_at desc, s.address_hash desc`;
  const wanted = reason === undefined ? sql`true` : sql`s.reason = ${reason}`;
  const found = await query<ListedSuppression & { hash: string }>(
    em,
    sql`
      select s.email, s.reason, s.email_id as "emailId", s.created_at as "createdAt",
        coalesce(s.words, e.error) as words, e.campaign_id as "campaignId", encode(s.address_hash, 'hex') as hash
      from (select * ${along} limit ${WINDOW}) s left join email e on e.id = s.email_id
      where ${wanted} order by s.created_at desc, s.address_hash desc limit ${limit + 1}`,
  );
  const suppressions: ListedSuppression[] = found.slice(0, limit);
  const last = found[limit - 1];
  if (found.length > limit && last) return { suppressions, next: { at: last.createdAt, hash: last.hash } };
  const next = await queryOne<SuppressionPlace>(
    em,
    sql`select s.created_at as at, encode(s.address_hash, 'hex') as hash ${along} offset ${WINDOW - 1} limit 1`,
  );
  return next ? { suppressions, next } : { suppressions };
}

/** A normalised address, and why it is suppressed. */
export interface SuppressedAddress {
  address: string;
  words: string | null;
}

/**
 * Suppresses addresses by hand. One that is suppressed already keeps its reason and its words.
 * @returns how many were added
 */
export async function suppressAddresses(
  em: Em,
  projectId: string,
  suppressed: readonly SuppressedAddress[],
): Promise<number> {
  const added = await query(
    em,
    sql`
      insert into suppression (project_id, address_hash, email, reason, words, created_at)
      select ${projectId}::uuid, ${addressHash(sql`${projectId}::uuid`, sql`a.address`)}, a.address, 'MANUAL', a.words, now()
      from (
        select distinct on (address) address, words
        from unnest(${suppressed.map(({ address }) => address)}::text[], ${suppressed.map(({ words }) => words)}::text[])
          as given (address, words)
        order by address
      ) a
        cross join ${ADDRESS_HASH_KEY}
      on conflict (project_id, address_hash) do nothing returning 1`,
  );
  return added.length;
}
