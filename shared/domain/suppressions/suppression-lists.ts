import { inSnapshot, joinSql, query, queryOne, sql, type Em } from '../../database/sql.ts';
import { nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { spellingsOf } from '../../pure/emails/email-address.ts';
import { ADDRESS_HASH_KEY, addressHash } from './address-hash.ts';
import { respell } from './spellings.ts';
import type { Suppression, SuppressionReason } from './suppressions.ts';

/** The position of a suppression in the list, which is ordered from new to old. */
const SUPPRESSION_CURSOR = {
  at: tables.suppression.createdAt,
  /** The hash of the address, in hex. */
  hash: text,
};
export type SuppressionCursor = RowOf<typeof SUPPRESSION_CURSOR>;

export interface SuppressionQuery {
  limit: number;
  after?: SuppressionCursor | undefined;
  reason?: SuppressionReason | undefined;
  /** A normalised address. */
  address?: string | undefined;
}

export interface ListedSuppression extends Suppression {
  /** The text of the mail server, or the note of the person who suppressed the address by hand. */
  words: string | null;
  /** The campaign of the email that came back. */
  campaignId: string | null;
}

export interface SuppressionPage {
  suppressions: ListedSuppression[];
  /** The position from which the next page continues; missing at the end. */
  next?: SuppressionCursor;
}

/** The most suppressions that one page reads, so that a rare reason costs no more than a frequent one. */
const SCANNED_MAX = 5_000;

/**
 * One page of a project's suppressions, newest first. With a reason it may have fewer than `limit`, and more may
 * follow.
 */
export async function pageOfSuppressions(
  em: Em,
  projectId: string,
  { limit, after, reason, address }: SuppressionQuery,
): Promise<SuppressionPage> {
  const conditions = [sql`s.project_id = ${projectId}`];
  if (after) {
    conditions.push(sql`(s.created_at, s.address_hash) < (${after.at}::timestamptz, decode(${after.hash}, 'hex'))`);
  }
  if (address !== undefined) {
    const hash = addressHash(sql`${projectId}::uuid`, sql`a.address`);
    const spellings = sql`unnest(${spellingsOf(address)}::text[]) as a (address)`;
    conditions.push(sql`s.address_hash = any(array(select ${hash} from ${ADDRESS_HASH_KEY} cross join ${spellings}))`);
  }
  const inOrder = sql`
    from suppression s where ${joinSql(conditions, ' and ')} order by s.created_at desc, s.address_hash desc`;
  const wanted = reason === undefined ? sql`true` : sql`s.reason = ${reason}`;
  return inSnapshot(em, async (tx) => {
    const found = await query(
      tx,
      sql`
      select s.email, s.reason, s.email_id as "emailId", s.created_at as "createdAt",
        coalesce(s.words, e.error) as words, e.campaign_id as "campaignId", encode(s.address_hash, 'hex') as hash
      from (select * ${inOrder} limit ${SCANNED_MAX}) s left join email e on e.id = s.email_id
      where ${wanted} order by s.created_at desc, s.address_hash desc limit ${limit + 1}`,
      {
        words: nullable(text),
        campaignId: tables.email.campaignId,
        ...pick(tables.suppression, 'email', 'reason', 'emailId', 'createdAt'),
        hash: text,
      },
    );
    const suppressions: ListedSuppression[] = found.slice(0, limit);
    const last = found[limit - 1];
    if (found.length > limit && last) return { suppressions, next: { at: last.createdAt, hash: last.hash } };
    // Even if this page is not full, more may follow the last suppression that it has read.
    const next = await queryOne(
      tx,
      sql`select s.created_at as at, encode(s.address_hash, 'hex') as hash ${inOrder} offset ${SCANNED_MAX - 1} limit 1`,
      SUPPRESSION_CURSOR,
    );
    return next ? { suppressions, next } : { suppressions };
  });
}

export interface SuppressedAddress {
  /** A normalised address. */
  address: string;
  /** The note of the person who suppresses it. */
  words: string | null;
  /** Why; MANUAL when left out. */
  reason?: SuppressionReason;
}

/**
 * Suppresses addresses by hand, or as another tool has. An address that is already suppressed keeps its reason and its
 * words.
 * @returns how many were added
 */
export async function suppressAddresses(
  em: Em,
  projectId: string,
  suppressed: readonly SuppressedAddress[],
): Promise<number> {
  const addresses = suppressed.map(({ address }) => address);
  await respell(em, projectId, addresses);
  const added = await query(
    em,
    sql`
      insert into suppression (project_id, address_hash, email, reason, words, created_at)
      select ${projectId}::uuid, ${addressHash(sql`${projectId}::uuid`, sql`a.address`)}, a.address, a.reason, a.words, now()
      from (
        select distinct on (address) address, words, reason
        from unnest(${addresses}::text[], ${suppressed.map(({ words }) => words)}::text[],
            ${suppressed.map(({ reason = 'MANUAL' }) => reason)}::text[])
          as given (address, words, reason)
        order by address
      ) a
        cross join ${ADDRESS_HASH_KEY}
      on conflict (project_id, address_hash) do nothing returning reason`,
    { reason: tables.suppression.reason },
  );
  return added.length;
}
