import { sql, type SqlFragment } from '../../database/sql.ts';

/**
 * The key of `addressHash`, for a join in the statement that hashes addresses. The limit tells the planner that there
 * is one row. Without statistics of so small a table, it would expect 870 rows for each email, and read all emails.
 */
export const ADDRESS_HASH_KEY = sql`(select inner_pad, outer_pad from address_hash_key limit 1) hash_key`;

/**
 * The keyed hash (HMAC-SHA-256) that identifies an address after its contact was erased. The same address has another
 * hash in each project. `address` is normalised; null gives null. The statement must join `ADDRESS_HASH_KEY`.
 */
export function addressHash(projectId: SqlFragment, address: SqlFragment): SqlFragment {
  return sql`everpost_address_hash(hash_key.inner_pad, hash_key.outer_pad, ${projectId}, ${address})`;
}
