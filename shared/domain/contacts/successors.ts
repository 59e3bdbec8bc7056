import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { sql, type SqlFragment } from '../database/sql.ts';

/**
 * The statement that notes which contact has the address of an erased contact now, so that links in old email lead to it.
 * `created` is a table of contacts that have just got their address, with `id` and `email`, under the alias `n`.
 */
export function successorUpdate(projectId: string, created: SqlFragment): SqlFragment {
  return sql`
    update erased_contact x set successor_id = n.id
    from ${created} cross join ${ADDRESS_HASH_KEY}
    where x.project_id = ${projectId} and x.address_hash = ${addressHash(sql`x.project_id`, sql`n.email`)}`;
}
