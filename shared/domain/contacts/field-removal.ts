import type { Em } from '../database/em.ts';
import { IN_LOCK_ORDER } from './contact-locks.ts';
import { query, queryOne, sql, type SqlFragment } from '../database/sql.ts';

/** Holds for contacts with a value under a path: a key that is spelt so, or a key inside of others. */
function holds(path: string): SqlFragment {
  if (!path.includes('.')) return sql`jsonb_exists(data, ${path})`;
  return sql`everpost_field(data, ${path}) is not null`;
}

function without(path: string): SqlFragment {
  const keys = path.split('.');
  if (keys.length === 1) return sql`data - ${path}::text`;
  return sql`(data - ${path}::text) #- ${keys}::text[]`;
}

/** How many contacts of a project hold a value under a path of their custom data. */
export async function countFieldHolders(em: Em, projectId: string, path: string): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*) from contact where project_id = ${projectId} and ${holds(path)}`,
  );
  return row?.count ?? 0;
}

/** Takes a field out of the catalogue; its type is inferred anew when it is seen again. */
export async function forgetField(em: Em, projectId: string, key: string): Promise<void> {
  await query(em, sql`delete from contact_field where project_id = ${projectId} and key = ${key}`);
}

/** Removes a field from the next contacts by id. @returns how many held it, and the last of them */
export async function deleteFieldChunk(
  em: Em,
  projectId: string,
  path: string,
  chunk: { after?: string; limit: number },
): Promise<{ count: number; lastId?: string }> {
  const after = chunk.after === undefined ? sql`true` : sql`id > ${chunk.after}::uuid`;
  const rows = await query<{ id: string }>(
    em,
    sql`
      with chosen as materialized (
        select id from contact where project_id = ${projectId} and ${after} and ${holds(path)}
        order by id limit ${chunk.limit}
      ), holder as materialized (
        select id from contact where id in (select id from chosen) ${IN_LOCK_ORDER} for no key update
      ), removed as (
        update contact c set data = ${without(path)}, updated_at = now() from holder h where c.id = h.id
      )
      select id from chosen order by id`,
  );
  return { count: rows.length, lastId: rows.at(-1)?.id };
}
