import { sql, type SqlFragment } from '../database/sql.ts';

/**
 * The key of `addressHash`, to be joined to a statement that hashes addresses. The limit tells the planner that it is one
 * row: it has no statistics of so small a table, and would expect 870 times as many emails and read them all.
 */
export const ADDRESS_HASH_KEY = sql`(select inner_pad, outer_pad from address_hash_key limit 1) hash_key`;

/**
 * The keyed hash (HMAC-SHA-256) that identifies an address after its contact was erased. It differs from project to
 * project. `address` is a normalised address; null gives null. The statement joins `ADDRESS_HASH_KEY`.
 */
export function addressHash(projectId: SqlFragment, address: SqlFragment): SqlFragment {
  return sql`everpost_address_hash(hash_key.inner_pad, hash_key.outer_pad, ${projectId}, ${address})`;
}
