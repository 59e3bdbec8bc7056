import { joinSql, likePattern, query, queryCount, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { searchedSpellings } from '../../pure/emails/email-address.ts';
import { number, tables, type RowOf } from '../../database/tables.ts';
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

/** The newest contacts among whose names a text is looked for. */
const NAMES_SEARCHED = 200_000;
const NAME = sql`lower(concat_ws(' ', data ->> 'name', data ->> 'firstName', data ->> 'lastName'))`;

/**
 * The condition that a contact of a project has a text in its address, or, among the newest contacts, in its name.
 * Addresses are read one after another: 0.15 seconds for a million. An index of their parts would make a new contact
 * cost twice as much.
 * @param text of any case
 */
export function hasPart(projectId: string, text: string): SqlFragment {
  const patterns = searchedSpellings(text).map(likePattern);
  const isLike = (value: SqlFragment): SqlFragment => {
    const likes = patterns.map((pattern) => sql`${value} like ${pattern}`);
    return sql`(${joinSql(likes, ' or ')})`;
  };
  const ofNewest = sql`
    select id from (
      select id, data from contact where project_id = ${projectId} order by created_at desc limit ${NAMES_SEARCHED}
    ) newest where ${isLike(NAME)}`;
  return text.includes('@') ? isLike(sql`email`) : sql`(${isLike(sql`email`)} or id in (${ofNewest}))`;
}

function countContacts(em: Em, filters: SqlFragment[]): Promise<number> {
  return queryCount(em, sql`select count(*) from contact where ${joinSql(filters, ' and ')}`);
}

/** The conditions on a contact of the list. */
export function contactFilters(projectId: string, list: ContactFilters): SqlFragment[] {
  const filters = [sql`project_id = ${projectId}`];
  if (list.search !== undefined) filters.push(hasPart(projectId, list.search));
  if (list.subscribed !== undefined) filters.push(sql`subscribed = ${list.subscribed}`);
  if (list.pending !== undefined) filters.push(sql`is_pending = ${list.pending}`);
  if (list.paused !== undefined) filters.push(sql`coalesce(paused_until > now(), false) = ${list.paused}`);
  return filters;
}

/** One page of a project's contacts. It continues by keyset, so the last page costs as much as the first. */
export async function listContacts(em: Em, projectId: string, list: ContactListQuery): Promise<ContactPage> {
  let filters = contactFilters(projectId, list);
  const key = list.sort === 'email' ? sql`email` : sql`created_at`;
  const type = list.sort === 'email' ? sql`text` : sql`timestamptz`;
  const after = list.dir === 'asc' ? sql`>` : sql`<`;
  const direction = list.dir === 'asc' ? sql`asc` : sql`desc`;
  let total = 0;
  if (list.cursor) filters.push(sql`(${key}, id) ${after} (${list.cursor.value}::${type}, ${list.cursor.id}::uuid)`);
  else if (list.search === undefined) total = await countContacts(em, filters);
  else {
    // A search reads many names, so one statement finds the page and counts.
    const found = await query(
      em,
      sql`
        with found as materialized (select id, ${key} as key from contact where ${joinSql(filters, ' and ')})
        select id, (select count(*) from found) as total from found
        order by key ${direction}, id ${direction} limit ${list.limit + 1}`,
      { id: tables.contact.id, total: number },
    );
    total = found[0]?.total ?? 0;
    filters = [sql`id = any(${found.map(({ id }) => id)}::uuid[])`];
  }
  const rows = await query(
    em,
    sql`
      select ${RETURNED_COLUMNS} from contact where ${joinSql(filters, ' and ')}
      order by ${key} ${direction}, id ${direction} limit ${list.limit + 1}`,
    RETURNED,
  );
  return { contacts: rows.slice(0, list.limit), hasMore: rows.length > list.limit, total };
}
