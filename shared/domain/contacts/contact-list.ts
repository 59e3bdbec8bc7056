import type { Em } from '../../database/em.ts';
import { joinSql, likePattern, query, queryOne, sql, type SqlFragment } from '../../database/sql.ts';
import { number, type RowOf } from '../../database/tables.ts';
import { RETURNED, RETURNED_COLUMNS } from './contacts.ts';

export interface ContactFilters {
  search?: string;
  subscribed?: boolean;
  pending?: boolean;
  /** Whether marketing is paused now. */
  paused?: boolean;
}

export interface ContactListQuery extends ContactFilters {
  limit: number;
  cursor?: ContactCursor;
  sort: 'email' | 'createdAt';
  dir: 'asc' | 'desc';
}

/** The position of a contact in the list: its value of the sorted column, and its id. */
export interface ContactCursor {
  value: string;
  id: string;
}

export interface ContactPage {
  contacts: RowOf<typeof RETURNED>[];
  hasMore: boolean;
  /** Counted on the first page only; 0 on later ones. */
  total: number;
}

async function countContacts(em: Em, filters: SqlFragment[]): Promise<number> {
  const row = await queryOne(em, sql`select count(*) from contact where ${joinSql(filters, ' and ')}`, {
    count: number,
  });
  return row?.count ?? 0;
}

/** The conditions on a contact of the list. */
export function contactFilters(projectId: string, list: ContactFilters): SqlFragment[] {
  const filters = [sql`project_id = ${projectId}`];
  if (list.search !== undefined) filters.push(sql`email like ${likePattern(list.search.toLowerCase())}`);
  if (list.subscribed !== undefined) filters.push(sql`subscribed = ${list.subscribed}`);
  if (list.pending !== undefined) filters.push(sql`is_pending = ${list.pending}`);
  if (list.paused !== undefined) filters.push(sql`coalesce(paused_until > now(), false) = ${list.paused}`);
  return filters;
}

/** One page of a project's contacts. It continues by keyset, so the last page costs as much as the first. */
export async function listContacts(em: Em, projectId: string, list: ContactListQuery): Promise<ContactPage> {
  const filters = contactFilters(projectId, list);
  const total = list.cursor ? 0 : await countContacts(em, filters);

  const key = list.sort === 'email' ? sql`email` : sql`created_at`;
  const type = list.sort === 'email' ? sql`text` : sql`timestamptz`;
  const after = list.dir === 'asc' ? sql`>` : sql`<`;
  const direction = list.dir === 'asc' ? sql`asc` : sql`desc`;
  if (list.cursor) filters.push(sql`(${key}, id) ${after} (${list.cursor.value}::${type}, ${list.cursor.id}::uuid)`);
  const rows = await query(
    em,
    sql`
      select ${RETURNED_COLUMNS} from contact where ${joinSql(filters, ' and ')}
      order by ${key} ${direction}, id ${direction} limit ${list.limit + 1}`,
    RETURNED,
  );
  return { contacts: rows.slice(0, list.limit), hasMore: rows.length > list.limit, total };
}
