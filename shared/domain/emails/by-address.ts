import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { text } from '../../database/tables.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';

/** How many contacts, the newest, a search for one address reads the emails of. */
const CONTACTS_MAX = 20;

/** The number under which the index `email_without_contact` has an address of a project. Few addresses share one. */
function keyOf(projectId: SqlFragment, address: SqlFragment): SqlFragment {
  return sql`hashtextextended(${address}, uuid_hash_extended(${projectId}, 0))`;
}

/** Whether an email `e` has no contact, as test sends have none, and went to this address. It fits that index. */
export function wentWithoutContact(projectId: string, address: SqlFragment): SqlFragment {
  const key = keyOf(sql`${projectId}::uuid`, address);
  return sql`${hasKeyWithoutContact(projectId, key)} and e.to_address = ${address}`;
}

/**
 * Whether an email `e` without a contact went to an address with this key of the index, as `former_address.address_key`
 * is one. Few addresses share a key, so the caller compares the address.
 */
export function hasKeyWithoutContact(projectId: string, key: SqlFragment): SqlFragment {
  return sql`
    e.contact_id is null and ${keyOf(sql`e.project_id`, sql`e.to_address`)} = ${key} and e.project_id = ${projectId}`;
}

/**
 * Ids of the contact that has an address and of those that had it before. All other emails to the address are theirs.
 */
export async function contactIdsOfAddress(em: Em, projectId: string, address: string): Promise<string[]> {
  const spellings = sql`${spellingsOf(normalizeAddress(address))}::text[]`;
  const contacts = await query(
    em,
    sql`
      select id from contact where project_id = ${projectId} and email = any(${spellings})
      union
      select f.contact_id from former_address f cross join ${ADDRESS_HASH_KEY} cross join unnest(${spellings}) as a (address)
      where f.project_id = ${projectId} and f.address_hash = ${addressHash(sql`${projectId}::uuid`, sql`a.address`)}
      order by id desc limit ${CONTACTS_MAX}`,
    { id: text },
  );
  return contacts.map(({ id }) => id);
}
