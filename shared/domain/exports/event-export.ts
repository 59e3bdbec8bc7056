import { chosenColumns, type ExportColumn, type ExportSource } from '../../database/exported-rows.ts';
import { joinSql, sql } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { periodConditions, type Period } from '../events/event-lists.ts';

export interface EventFilters {
  name?: string | undefined;
  contactId?: string | undefined;
  period?: Period | undefined;
}

const EVENT_POSITION = { at: tables.event.createdAt, id: tables.event.id };
const EXPORTED: readonly ExportColumn[] = [
  { name: 'id', value: sql`e.id`, kind: 'word' },
  { name: 'name', value: sql`e.name`, kind: 'text' },
  { name: 'contactId', value: sql`e.contact_id`, kind: 'word' },
  { name: 'contactEmail', value: sql`c.email`, kind: 'text' },
  { name: 'emailId', value: sql`e.email_id`, kind: 'word' },
  { name: 'data', value: sql`e.data`, kind: 'json' },
  { name: 'createdAt', value: sql`e.created_at`, kind: 'moment' },
];

/** The events of a project as an export, newest first. @throws AppError VALIDATION_ERROR for an unknown column */
export function eventExport(
  projectId: string,
  list: EventFilters,
  columns?: readonly string[],
): ExportSource<typeof EVENT_POSITION> {
  const filters = [sql`e.project_id = ${projectId}`, ...periodConditions(sql`e.created_at`, list.period ?? {})];
  if (list.name !== undefined) filters.push(sql`e.name = ${list.name}`);
  if (list.contactId !== undefined) filters.push(sql`e.contact_id = ${list.contactId}`);
  return {
    columns: chosenColumns(EXPORTED, columns),
    position: EVENT_POSITION,
    page: (_, line, after, limit) => {
      const next = after ? [sql`(e.created_at, e.id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : [];
      return sql`
        select e.created_at as at, e.id, ${line}
        from (
          select * from event e where ${joinSql([...filters, ...next], ' and ')}
          order by e.created_at desc, e.id desc limit ${limit}
        ) e left join contact c on c.id = e.contact_id order by e.created_at desc, e.id desc`;
    },
  };
}
