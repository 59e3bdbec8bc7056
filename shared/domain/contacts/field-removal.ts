import { isPathTooLong } from '../../pure/filters/filter-target.ts';
import { lockContacts } from './contact-locks.ts';
import { contactsAfter } from './contact-order.ts';
import { query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';

/** The condition for contacts with a value at a path: a key with that exact name, or a nested key. */
function holds(path: string): SqlFragment {
  if (!path.includes('.') || isPathTooLong(path)) return sql`jsonb_exists(data, ${path})`;
  return sql`everpost_field(data, ${path}) is not null`;
}

/** The data of a contact without the value at a path. */
function without(path: string): SqlFragment {
  const keys = path.split('.');
  if (keys.length === 1 || isPathTooLong(path)) return sql`data - ${path}::text`;
  return sql`(data - ${path}::text) #- ${keys}::text[]`;
}

/** The number of contacts of a project that have a value at a path of their custom data. */
export async function countFieldHolders(em: Em, projectId: string, path: string): Promise<number> {
  const row = await queryOne(em, sql`select count(*) from contact where project_id = ${projectId} and ${holds(path)}`, {
    count: number,
  });
  return row?.count ?? 0;
}

/** Removes a field from the catalogue. Its type is inferred again from its next value. */
export async function forgetField(em: Em, projectId: string, key: string): Promise<void> {
  await query(em, sql`delete from contact_field where project_id = ${projectId} and key = ${key}`);
}

/**
 * Removes a field from the next contacts by id, in the caller's transaction. A statement of its own locks them first: a
 * statement that locks and changes can deadlock on contacts that have changed since it began.
 * @returns the number of contacts that had the field, and the id of the last one
 */
export async function deleteFieldChunk(
  tx: Em,
  projectId: string,
  path: string,
  chunk: { after?: string; limit: number },
): Promise<{ count: number; lastId?: string }> {
  const holders = await query(
    tx,
    sql`
      select id from contact where ${contactsAfter(projectId, chunk.after)} and ${holds(path)}
      order by project_id, id limit ${chunk.limit}`,
    { id: tables.contact.id },
  );
  const ids = await lockContacts(
    tx,
    projectId,
    holders.map((holder) => holder.id),
    'change',
  );
  await query(
    tx,
    sql`update contact set data = ${without(path)}, updated_at = now() where id = any(${ids}::uuid[]) and ${holds(path)}`,
  );
  return { count: holders.length, lastId: holders.at(-1)?.id };
}
