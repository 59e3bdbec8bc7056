import { LIMITS } from '../../pure/limits.ts';
import type { IsoInstant } from '../../pure/filters/iso-instant.ts';
import { joinSql, query, queryCount, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { date, nullable, number, pick, tables, text } from '../../database/tables.ts';
import { eventNames } from './event-names.ts';
import type { Event } from './event.ts';

export interface EventListQuery {
  limit: number;
  /** The last event of the page before. */
  cursor?: { at: string; id: string };
  name?: string;
  contactId?: string;
}

export interface ListedEvent extends Event {
  contactEmail: string | null;
}

export interface EventPage {
  events: ListedEvent[];
  hasMore: boolean;
}

/** Rows that one statement deletes. Its locks and its transaction stay small however many events there are. */
const DELETE_CHUNK = 10_000;

/**
 * One page of a project's events by keyset, newest first. It ends early when its data would exceed `LIMITS.pageBytes`.
 */
export async function listEvents(em: Em, projectId: string, list: EventListQuery): Promise<EventPage> {
  const filters = [sql`e.project_id = ${projectId}`];
  if (list.name !== undefined) filters.push(sql`e.name = ${list.name}`);
  if (list.contactId !== undefined) filters.push(sql`e.contact_id = ${list.contactId}`);
  if (list.cursor) filters.push(sql`(e.created_at, e.id) < (${list.cursor.at}::timestamptz, ${list.cursor.id}::uuid)`);
  const rows = await query(
    em,
    sql`
      with page as (
        select * from event e where ${joinSql(filters, ' and ')}
        order by e.created_at desc, e.id desc limit ${list.limit + 1}
      ),
      measured as (
        select *, count(*) over () as found,
          sum(octet_length(data::text)) over (order by created_at desc, id desc) - octet_length(data::text) as bytes_before
        from page
      )
      select e.id, e.project_id as "projectId", e.contact_id as "contactId", e.email_id as "emailId", e.name, e.data,
        e.created_at as "createdAt", c.email as "contactEmail", e.found
      from measured e left join contact c on c.id = e.contact_id
      where e.bytes_before < ${LIMITS.pageBytes - LIMITS.eventDataBytes} order by e.created_at desc, e.id desc`,
    {
      contactEmail: nullable(tables.contact.email),
      ...pick(tables.event, 'id', 'projectId', 'contactId', 'emailId', 'name', 'data', 'createdAt'),
      found: number,
    },
  );
  const counted = rows.slice(0, list.limit).map(({ found, ...event }) => ({ found, event }));
  return { events: counted.map(({ event }) => event), hasMore: (rows[0]?.found ?? 0) > counted.length };
}

/** Events of one name that are counted for the order of names. */
const COUNTED_MAX = 10_000;

/** The names of a project's events, the most frequent first. Names with more than `COUNTED_MAX` events come by name. */
export async function listEventNames(em: Em, projectId: string): Promise<string[]> {
  const counted = sql`
    select from event e where e.project_id = ${projectId} and e.name = n.name
    order by e.created_at limit ${COUNTED_MAX}`;
  const rows = await query(
    em,
    sql`
      with recursive ${eventNames(projectId)}
      select n.name from names n, lateral (select count(*) from (${counted}) c) found (count)
      where n.name is not null order by found.count desc, n.name limit ${LIMITS.listedNames}`,
    { name: text },
  );
  return rows.map((row) => row.name);
}

/** A period from the start of `from` to the end of `to`; a side left out is open. */
export interface Period {
  from?: IsoInstant;
  to?: IsoInstant;
}

/** The conditions that a column of moments lies in a period. */
export function periodConditions(column: SqlFragment, { from, to }: Period): SqlFragment[] {
  const conditions: SqlFragment[] = [];
  if (from) conditions.push(sql`${column} >= ${from.start}::timestamptz`);
  if (to?.precision === 'day') conditions.push(sql`${column} < ${to.start}::timestamptz + interval '24 hours'`);
  if (to?.precision === 'moment') conditions.push(sql`${column} <= ${to.start}::timestamptz`);
  return conditions;
}

/** How often each event happened in a period, the most frequent first. */
export async function countEvents(
  em: Em,
  projectId: string,
  period: Period,
): Promise<{ name: string; count: number }[]> {
  const filters = [sql`project_id = ${projectId}`, ...periodConditions(sql`created_at`, period)];
  return query(
    em,
    sql`select name, count(*) from event where ${joinSql(filters, ' and ')} group by name order by count desc, name
      limit ${LIMITS.listedNames}`,
    { name: tables.event.name, count: number },
  );
}

/**
 * Deletes the events of that name that were recorded until now, chunk by chunk. A call after a failure deletes the
 * rest.
 * @returns how many
 */
export async function deleteEvents(em: Em, projectId: string, name: string): Promise<number> {
  let total = 0;
  const started = await queryOne(em, sql`select now()::timestamptz(3) as at`, { at: date });
  for (;;) {
    const deleted = await queryCount(
      em,
      sql`
        with chunk as (
          select id from event
          where project_id = ${projectId} and name = ${name} and created_at <= ${started?.at}::timestamptz(3)
          order by created_at limit ${DELETE_CHUNK}
        ),
        gone as (delete from event where id in (select id from chunk) returning 1)
        select count(*) from gone`,
    );
    total += deleted;
    if (deleted < DELETE_CHUNK) break;
  }
  await query(
    em,
    sql`
      delete from event_name where project_id = ${projectId} and name = ${name}
        and not exists (select from event where project_id = ${projectId} and name = ${name})`,
  );
  return total;
}
