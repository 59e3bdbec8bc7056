import { likePattern, TEST_EVENT } from '../../pure/webhooks/event-patterns.ts';
import type { Em } from '../database/em.ts';
import { joinSql, query, sql, type SqlFragment } from '../database/sql.ts';

/** The sources of the events that endpoints receive. Their order orders events of the same moment. */
const SOURCES = [
  'event',
  'campaignScheduled',
  'campaignSent',
  'executionStarted',
  'executionEnded',
  'refusal',
  'test',
] as const;
type Source = (typeof SOURCES)[number];

export const TEST_SOURCE = SOURCES.indexOf('test');

/** The position of an event in the order in which a project's events are stored. */
export interface EventPosition {
  /** A timestamp with microseconds, in the text form of PostgreSQL. */
  at: string;
  /** Index into the sources. */
  source: number;
  id: string;
}

/** An event in the form in which endpoints receive it. */
export interface HookEvent extends EventPosition {
  name: string;
  happenedAt: Date;
  contactId: string | null;
  contactEmail: string | null;
  emailId: string | null;
  data: Record<string, unknown>;
}

export interface HookPage {
  /** The events that match a pattern of the endpoint. */
  events: HookEvent[];
  /** The position of the last event that was read; undefined when there was none. */
  last: EventPosition | undefined;
  /** The number of events that were read. */
  seen: number;
}

/** How the events of a source are read. */
interface SourceTable {
  from: SqlFragment;
  project: SqlFragment;
  at: SqlFragment;
  id: SqlFragment;
  condition: SqlFragment;
  /** The columns name, happened_at, contact_id, email_id and data. */
  columns: SqlFragment;
}

const CAMPAIGN_DATA = sql`
  jsonb_build_object('campaignId', c.id, 'name', c.name, 'subject', c.subject, 'status', c.status,
    'scheduledFor', c.scheduled_for, 'totalRecipients', c.total_recipients, 'sentCount', c.sent_count)`;

function campaignTable(at: SqlFragment, name: string): SourceTable {
  return {
    from: sql`campaign c`,
    project: sql`c.project_id`,
    at,
    id: sql`c.id`,
    condition: sql`${at} is not null`,
    columns: sql`${name}::text, ${at}, null::uuid, null::uuid, ${CAMPAIGN_DATA}`,
  };
}

const EXECUTION_DATA = sql`
  jsonb_build_object('executionId', x.id, 'workflowId', x.automation_id,
    'workflowName', (select a.name from automation a where a.id = x.automation_id), 'status', x.status,
    'exitReason', x.exit_reason)`;

function executionTable(at: SqlFragment, happenedAt: SqlFragment, name: SqlFragment): SourceTable {
  return {
    from: sql`automation_execution x`,
    project: sql`x.project_id`,
    at,
    id: sql`x.id`,
    condition: sql`${happenedAt} is not null`,
    columns: sql`${name}, ${happenedAt}, x.contact_id, null::uuid, ${EXECUTION_DATA}`,
  };
}

const TABLES: Record<Exclude<Source, 'test'>, SourceTable> = {
  event: {
    from: sql`event e`,
    project: sql`e.project_id`,
    at: sql`e.recorded_at`,
    id: sql`e.id`,
    condition: sql`e.recorded_at is not null`,
    columns: sql`e.name, e.created_at, e.contact_id, e.email_id, e.data`,
  },
  campaignScheduled: campaignTable(sql`c.scheduled_at`, 'campaign.scheduled'),
  campaignSent: campaignTable(sql`c.sent_at`, 'campaign.sent'),
  executionStarted: executionTable(sql`x.started_at`, sql`x.started_at`, sql`'workflow.started'`),
  executionEnded: executionTable(
    sql`x.updated_at`,
    sql`x.completed_at`,
    sql`
      case x.status when 'FAILED' then 'workflow.failed' when 'CANCELLED' then 'workflow.cancelled'
        else 'workflow.completed' end`,
  ),
  refusal: {
    from: sql`automation_refusal r`,
    project: sql`r.project_id`,
    at: sql`r.created_at`,
    id: sql`r.id`,
    condition: sql`true`,
    columns: sql`
      'workflow.refused', r.created_at, r.contact_id, null::uuid, jsonb_build_object('workflowId', r.automation_id,
        'workflowName', (select a.name from automation a where a.id = r.automation_id), 'reason', r.reason,
        'count', r.count, 'eventId', r.event_id)`,
  },
};
const STORED = Object.entries(TABLES) as [Exclude<Source, 'test'>, SourceTable][];

/** A position in SQL, as columns or parameters. */
interface PositionSql {
  at: SqlFragment;
  source: SqlFragment;
  id: SqlFragment;
}

/** The events of a source after a position and before `settled`, in their order, read by an index. */
function rowsBehind(
  source: Exclude<Source, 'test'>,
  projectId: SqlFragment,
  position: PositionSql,
  settled: SqlFragment,
) {
  const { from, project, at, id, condition, columns } = TABLES[source];
  const rank = sql`${SOURCES.indexOf(source)}::int`;
  return sql`
    select ${rank}, ${id}, ${at}::timestamptz, ${columns} from ${from}
    where ${project} = ${projectId} and ${condition} and ${at} < ${settled} and ${at} >= ${position.at}
      and (${at}, ${rank}, ${id}) > (${position.at}, ${position.source}, ${position.id})
    order by ${at}, ${id}`;
}

/** The columns of `rowsBehind`. */
const ROW = sql`source, id, at, name, happened_at, contact_id, email_id, data`;

const VIEW = sql`
  f.source, f.id, f.at::text as at, f.name, f.happened_at as "happenedAt", f.contact_id as "contactId",
  c.email as "contactEmail", f.email_id as "emailId"`;

/** The most bytes of event data in one page. The data of a single event has at most 64 kB. */
const PAGE_BYTES = 2_097_152;

/**
 * The next events of a project after a position and before `settledAt`. Only those that match a pattern are returned. The
 * statement must begin after the one that read `settledAt`, so that it sees transactions that ended in between.
 */
export async function pageBehind(
  em: Em,
  projectId: string,
  {
    position,
    settledAt,
    patterns,
    limit,
  }: { position: EventPosition; settledAt: string; patterns: string[]; limit: number },
): Promise<HookPage> {
  const from: PositionSql = {
    at: sql`${position.at}::timestamptz`,
    source: sql`${position.source}::int`,
    id: sql`${position.id}::uuid`,
  };
  const selects = STORED.map(
    ([source]) =>
      sql`(${rowsBehind(source, sql`${projectId}`, from, sql`${settledAt}::timestamptz`)} limit ${limit}::int)`,
  );
  const rows = await query<HookEvent & { isWanted: boolean }>(
    em,
    sql`
      with feed (${ROW}) as (
        select * from (${joinSql(selects, ' union all ')}) b order by 3, 1, 2 limit ${limit}::int
      ),
      judged as (select *, name like any(${patterns.map(likePattern)}::text[]) as is_wanted from feed),
      measured as (
        select *, sum(case when is_wanted then octet_length(data::text) else 0 end) over (order by at, source, id) as bytes
        from judged
      )
      select ${VIEW}, f.is_wanted as "isWanted", case when f.is_wanted then f.data end as data
      from measured f left join contact c on c.id = f.contact_id
      where f.bytes < ${PAGE_BYTES} order by f.at, f.source, f.id`,
  );
  return { events: rows.filter((row) => row.isWanted), last: rows.at(-1), seen: rows.length };
}

/** Loads the events at some positions. Events that no longer exist are left out. */
export async function eventsAt(em: Em, projectId: string, positions: readonly EventPosition[]): Promise<HookEvent[]> {
  const selects = STORED.flatMap(([source, table]) => {
    const ids = positions.filter((position) => SOURCES[position.source] === source).map((position) => position.id);
    if (ids.length === 0) return [];
    const { from, project, at, id, condition, columns } = table;
    return [
      sql`
        select ${SOURCES.indexOf(source)}::int, ${id}, ${at}::timestamptz, ${columns} from ${from}
        where ${id} = any(${ids}::uuid[]) and ${project} = ${projectId} and ${condition}`,
    ];
  });
  const tests = positions.filter((position) => position.source === TEST_SOURCE).map(testEvent);
  if (selects.length === 0) return tests;
  const rows = await query<HookEvent>(
    em,
    sql`
      with feed (${ROW}) as (select * from (${joinSql(selects, ' union all ')}) b)
      select ${VIEW}, f.data from feed f left join contact c on c.id = f.contact_id`,
  );
  return [...rows, ...tests];
}

function testEvent(position: EventPosition): HookEvent {
  return {
    ...position,
    name: TEST_EVENT,
    happenedAt: new Date(position.at),
    contactId: null,
    contactEmail: null,
    emailId: null,
    data: { message: 'This is a test.' },
  };
}

/** The condition that a project has events after the position of its endpoint `w`, whatever the names of the events. */
export function hasRowsBehind(settledAt: string): SqlFragment {
  const position: PositionSql = { at: sql`w.cursor_at`, source: sql`w.cursor_source`, id: sql`w.cursor_id` };
  const conditions = STORED.map(
    ([source]) =>
      sql`exists (${rowsBehind(source, sql`w.project_id`, position, sql`${settledAt}::timestamptz`)} limit 1)`,
  );
  return sql`(${joinSql(conditions, ' or ')})`;
}
