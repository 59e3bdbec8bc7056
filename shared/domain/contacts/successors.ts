import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { sql, type SqlFragment } from '../../database/sql.ts';

/**
 * The statement that stores which contact now has the address of an erased contact, so that links in old emails lead to
 * it.
 * @param created a table with the alias `n` and the columns `id` and `email`: contacts that have just got their address
 */
export function successorUpdate(projectId: string, created: SqlFragment): SqlFragment {
  return sql`
    update erased_contact x set successor_id = n.id
    from ${created} cross join ${ADDRESS_HASH_KEY}
    where x.project_id = ${projectId} and x.address_hash = ${addressHash(sql`x.project_id`, sql`n.email`)}`;
}
