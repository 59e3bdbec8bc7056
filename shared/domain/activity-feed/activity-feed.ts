import {
  ACTIVITY_TYPES,
  activityOfEvent,
  EVENT_OF_ACTIVITY,
  SYSTEM_EVENTS,
  type ActivityType,
} from '../../pure/activity-types.ts';
import { periodConditions, type Period } from '../events/event-lists.ts';
import { executionStatus } from '../../database/constants.ts';
import { isoText, joinSql, query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { date, jsonAs, nullable, number, tables, text } from '../../database/tables.ts';
import { eventNames } from '../events/event-names.ts';

/** The sources of activities. Their order orders activities of the same moment. */
const SOURCES = [
  'event',
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
  'workflow.refused',
] as const;
type Source = (typeof SOURCES)[number];

/** The position of an activity in the feed, which is ordered from new to old. */
export interface ActivityCursor {
  at: string;
  /** Index into the sources. */
  source: number;
  id: string;
}

export interface ActivityQuery {
  limit: number;
  cursor?: ActivityCursor;
  /** The types to list; all by default. */
  types?: readonly ActivityType[];
  contactId?: string;
  period: Period;
}

export interface Activity {
  /** The id of the event, campaign, execution or refusal. */
  id: string;
  type: ActivityType;
  timestamp: Date;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
}

export interface ActivityPage {
  activities: Activity[];
  /** The position of the last activity; undefined when there are no more. */
  next?: ActivityCursor;
}

const ROW = {
  source: number,
  id: text,
  name: nullable(text),
  at: date,
  contact_id: nullable(text),
  metadata: jsonAs<Record<string, unknown>>(),
};

/**
 * The conditions for rows of a source after the cursor and within the period. `at` and `id` are columns of an index.
 */
function pageConditions(list: ActivityQuery, source: Source, at: SqlFragment, id: SqlFragment): SqlFragment[] {
  const conditions = periodConditions(at, list.period);
  if (list.cursor) {
    const order = SOURCES.indexOf(source) - list.cursor.source;
    if (order < 0) conditions.push(sql`${at} <= ${list.cursor.at}::timestamptz`);
    if (order > 0) conditions.push(sql`${at} < ${list.cursor.at}::timestamptz`);
    if (order === 0) conditions.push(sql`(${at}, ${id}) < (${list.cursor.at}::timestamptz, ${list.cursor.id}::uuid)`);
  }
  return conditions;
}

const EVENT_COLUMNS = sql`
  0 as source, e.id, e.name, e.created_at as at, e.contact_id,
  e.data || jsonb_build_object('eventName', e.name) as metadata`;

/**
 * A page of events, read by one of three indexes: all events of a project by time, events of some names by (name, time)
 * with a page of each name, or the events of a contact, which are few.
 */
function eventRows(projectId: string, list: ActivityQuery, limit: SqlFragment): SqlFragment {
  const conditions = [sql`e.project_id = ${projectId}`, ...pageConditions(list, 'event', sql`e.created_at`, sql`e.id`)];
  const { contactId } = list;
  if (contactId !== undefined) conditions.push(sql`e.contact_id = ${contactId}`);
  if (list.types === undefined) {
    return sql`
      select ${EVENT_COLUMNS} from event e where ${joinSql(conditions, ' and ')}
      order by e.created_at desc, e.id desc ${limit}`;
  }
  const wanted = list.types.flatMap((type) =>
    type in EVENT_OF_ACTIVITY ? [EVENT_OF_ACTIVITY[type as keyof typeof EVENT_OF_ACTIVITY]] : [],
  );
  const trackedNames = list.types.includes('event.triggered')
    ? sql`union select name from names where name <> all(${[...SYSTEM_EVENTS]}::text[])`
    : sql``;
  const names = sql`select unnest(${wanted}::text[]) as name ${trackedNames}`;
  return sql`
    select page.* from (${names}) w cross join lateral (
      select ${EVENT_COLUMNS} from event e where ${joinSql([...conditions, sql`e.name = w.name`], ' and ')}
      order by e.created_at desc, e.id desc ${limit}
    ) page order by page.at desc, page.id desc ${limit}`;
}

function campaignRows(projectId: string, list: ActivityQuery, limit: SqlFragment, source: Source): SqlFragment {
  const at = source === 'campaign.sent' ? sql`c.sent_at` : sql`c.scheduled_at`;
  const conditions = [
    sql`c.project_id = ${projectId}`,
    sql`${at} is not null`,
    ...pageConditions(list, source, at, sql`c.id`),
  ];
  return sql`
    select ${SOURCES.indexOf(source)}::int, c.id, null, ${at}, null::uuid, jsonb_build_object(
      'campaignId', c.id, 'name', c.name, 'subject', c.subject, 'status', c.status, 'scheduledFor', c.scheduled_for,
      'totalRecipients', c.total_recipients, 'sentCount', c.sent_count)
    from campaign c where ${joinSql(conditions, ' and ')} order by ${at} desc, c.id desc ${limit}`;
}

function executionRows(projectId: string, list: ActivityQuery, limit: SqlFragment, source: Source): SqlFragment {
  const at = source === 'workflow.started' ? sql`x.started_at` : sql`x.completed_at`;
  const conditions = [sql`x.project_id = ${projectId}`, ...pageConditions(list, source, at, sql`x.id`)];
  if (source === 'workflow.completed')
    conditions.push(
      sql`x.completed_at is not null`,
      sql`x.status in (${executionStatus.COMPLETED}, ${executionStatus.EXITED})`,
    );
  if (list.contactId !== undefined) conditions.push(sql`x.contact_id = ${list.contactId}`);
  return sql`
    select ${SOURCES.indexOf(source)}::int, x.id, null, ${at}, x.contact_id, jsonb_build_object(
      'executionId', x.id, 'workflowId', x.automation_id, 'workflowName', a.name, 'status', x.status,
      'exitReason', x.exit_reason)
    from automation_execution x left join automation a on a.id = x.automation_id
    where ${joinSql(conditions, ' and ')} order by ${at} desc, x.id desc ${limit}`;
}

/**
 * Refused starts. There is one row an hour for each contact, automation and reason, at the time of the first refusal.
 */
function refusalRows(projectId: string, list: ActivityQuery, limit: SqlFragment): SqlFragment {
  const conditions = [
    sql`r.project_id = ${projectId}`,
    ...pageConditions(list, 'workflow.refused', sql`r.created_at`, sql`r.id`),
  ];
  if (list.contactId !== undefined) conditions.push(sql`r.contact_id = ${list.contactId}`);
  return sql`
    select ${SOURCES.indexOf('workflow.refused')}::int, r.id, null, r.created_at, r.contact_id, jsonb_build_object(
      'workflowId', r.automation_id, 'workflowName', a.name, 'reason', r.reason, 'count', r.count, 'eventId', r.event_id,
      'lastAt', ${isoText(sql`r.updated_at`)})
    from automation_refusal r left join automation a on a.id = r.automation_id
    where ${joinSql(conditions, ' and ')} order by r.created_at desc, r.id desc ${limit}`;
}

function rowsOf(projectId: string, list: ActivityQuery, limit: SqlFragment, source: Source): SqlFragment {
  switch (source) {
    case 'event':
      return eventRows(projectId, list, limit);
    case 'campaign.scheduled':
    case 'campaign.sent':
      return campaignRows(projectId, list, limit, source);
    case 'workflow.started':
    case 'workflow.completed':
      return executionRows(projectId, list, limit, source);
    case 'workflow.refused':
      return refusalRows(projectId, list, limit);
  }
}

function isWanted(source: Source, { types, contactId }: ActivityQuery): boolean {
  if (source === 'event')
    return types === undefined || types.some((type) => type === 'event.triggered' || type in EVENT_OF_ACTIVITY);
  if (contactId !== undefined && source.startsWith('campaign.')) return false;
  return types === undefined || types.includes(source);
}

/** One page of the activities of a project, newest first. Each source is read by an index, at most a page of it. */
export async function listActivity(em: Em, projectId: string, list: ActivityQuery): Promise<ActivityPage> {
  const isEverything = list.types !== undefined && ACTIVITY_TYPES.every((type) => list.types?.includes(type));
  const wanted = isEverything ? { ...list, types: undefined } : list;
  const limit = sql`limit ${list.limit + 1}`;
  const sources = SOURCES.filter((source) => isWanted(source, wanted));
  if (sources.length === 0) return { activities: [] };
  const pages = sources.map((source) => sql`(${rowsOf(projectId, wanted, limit, source)})`);
  const needsNames = wanted.types?.includes('event.triggered') ?? false;
  const found = await query(
    em,
    sql`
      with recursive ${needsNames ? sql`${eventNames(projectId)},` : sql``}
      feed (source, id, name, at, contact_id, metadata) as (
        select * from (${joinSql(pages, ' union all ')}) f order by 4 desc, 1 desc, 2 desc ${limit}
      )
      select feed.*, c.email from feed left join contact c on c.id = feed.contact_id
      order by at desc, source desc, id desc`,
    { ...ROW, email: nullable(tables.contact.email) },
  );
  const rows = found.slice(0, list.limit);
  const last = rows.at(-1);
  const activities = rows.map((row) => ({
    id: row.id,
    type: row.source === 0 ? activityOfEvent(row.name ?? '') : (SOURCES[row.source] as ActivityType),
    timestamp: row.at,
    contactId: row.contact_id,
    contactEmail: row.email,
    metadata: row.metadata,
  }));
  const hasMore = found.length > list.limit;
  return hasMore && last
    ? { activities, next: { at: last.at.toISOString(), source: last.source, id: last.id } }
    : { activities };
}
