import { normalizeAddress } from '../../pure/emails/email-address.ts';
import { sql, type SqlFragment } from '../database/sql.ts';

/** The number that the index `email_of_address` has for an address of a project; very few addresses share one. */
function keyOf(projectId: SqlFragment, address: SqlFragment): SqlFragment {
  return sql`hashtextextended(${address}, uuid_hash_extended(${projectId}, 0))`;
}

/** Whether an email `e` went to an address of a project, read by the index. */
export function wentTo(projectId: string, address: SqlFragment): SqlFragment {
  const key = keyOf(sql`e.project_id`, sql`e.to_address`);
  return sql`${key} = ${keyOf(sql`${projectId}::uuid`, address)} and e.project_id = ${projectId} and e.to_address = ${address}`;
}

/** An address as emails have it. */
export function storedAddress(address: string): SqlFragment {
  return sql`${normalizeAddress(address)}::text`;
}
