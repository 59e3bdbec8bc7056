import { query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

/** The order in which contacts are locked and created, independent of the collation of the database. */
export const IN_LOCK_ORDER = sql`order by email collate "C"`;

/** Locks contacts for a change, or for their deletion. @returns the ids that exist */
export async function lockContacts(
  tx: Em,
  projectId: string,
  ids: string[],
  purpose: 'change' | 'deletion',
): Promise<string[]> {
  const strength: SqlFragment = purpose === 'deletion' ? sql`for update` : sql`for no key update`;
  const rows = await query(
    tx,
    sql`
      select id from contact where project_id = ${projectId} and id = any(${ids}::uuid[]) ${IN_LOCK_ORDER} ${strength}`,
    { id: tables.contact.id },
  );
  return rows.map((row) => row.id);
}

/**
 * Locks the contacts of emails. This comes before locking the emails, because recording a result may change the
 * contact.
 */
export async function lockRecipients(tx: Em, emailIds: string[]): Promise<void> {
  if (emailIds.length === 0) return;
  await query(
    tx,
    sql`
      select from contact where id in (select contact_id from email where id = any(${emailIds}::uuid[]))
      ${IN_LOCK_ORDER} for no key update`,
  );
}
