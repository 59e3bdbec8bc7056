import { createHash } from 'node:crypto';
import { likePattern, TEST_EVENT } from '../../pure/webhooks/event-patterns.ts';
import { executionStatus } from '../../database/constants.ts';
import { joinSql, json, query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, date, jsonAs, nullable, number, tables, text } from '../../database/tables.ts';

/** The sources of the events that endpoints receive. Triggers write the index of a source into the feed. */
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

/** The sources that are tables. A failure that was followed by a retry stands in the feed as the end that it was. */
type StoredSource = Exclude<Source, 'test'> | 'formerFailure';
const rankOf = (source: StoredSource): number =>
  SOURCES.indexOf(source === 'formerFailure' ? 'executionEnded' : source);

export const TEST_SOURCE = SOURCES.indexOf('test');
export const SOURCE_OF_EVENTS = SOURCES.indexOf('event');

/** An event in the feed of its project. */
export interface EventRef {
  /**
   * Its number in the feed, as text: an endpoint gets events in the order of their numbers, and has a number as its
   * position. Null for a test event.
   */
  no: string | null;
  /** When it was stored: a timestamp with microseconds, in the text form of PostgreSQL. */
  at: string;
  /** Index into the sources. */
  source: number;
  id: string;
}

/** An event in the form in which endpoints receive it. */
export interface HookEvent extends EventRef {
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
  /** The number of the last event that was read; undefined when there was none. */
  lastNo: string | undefined;
  seen: number;
}

const CAMPAIGN_DATA = sql`
  jsonb_build_object('campaignId', c.id, 'name', c.name, 'subject', c.subject, 'status', c.status,
    'scheduledFor', c.scheduled_for, 'totalRecipients', c.total_recipients, 'sentCount', c.sent_count)`;

function campaignTable(at: SqlFragment, name: string) {
  return {
    from: sql`campaign c`,
    project: sql`c.project_id`,
    id: sql`c.id`,
    condition: sql`${at} is not null`,
    /** The columns name, happened_at, contact_id, email_id and data. */
    columns: sql`${name}::text, ${at}, null::uuid, null::uuid, ${CAMPAIGN_DATA}`,
  };
}

/** How the events of a source are read, for the entries `f` of the feed. */
type SourceTable = ReturnType<typeof campaignTable>;

const EXECUTION_DATA = sql`
  jsonb_build_object('executionId', x.id, 'workflowId', x.automation_id,
    'workflowName', (select a.name from automation a where a.id = x.automation_id), 'status', x.status,
    'exitReason', x.exit_reason)`;

function executionTable(happenedAt: SqlFragment, name: SqlFragment): SourceTable {
  return {
    from: sql`automation_execution x`,
    project: sql`x.project_id`,
    id: sql`x.id`,
    condition: sql`${happenedAt} is not null`,
    columns: sql`${name}, ${happenedAt}, x.contact_id, null::uuid, ${EXECUTION_DATA}`,
  };
}

const EXECUTION_ENDED = executionTable(
  sql`x.completed_at`,
  sql`
    case x.status when ${executionStatus.FAILED} then 'workflow.failed' when ${executionStatus.CANCELLED} then 'workflow.cancelled'
      else 'workflow.completed' end`,
);

const TABLES: Record<StoredSource, SourceTable> = {
  event: {
    from: sql`event e`,
    project: sql`e.project_id`,
    id: sql`e.id`,
    condition: sql`true`,
    columns: sql`e.name, e.created_at, e.contact_id, e.email_id, e.data`,
  },
  campaignScheduled: campaignTable(sql`c.scheduled_at`, 'campaign.scheduled'),
  campaignSent: campaignTable(sql`c.sent_at`, 'campaign.sent'),
  executionStarted: executionTable(sql`x.started_at`, sql`'workflow.started'`),
  executionEnded: {
    ...EXECUTION_ENDED,
    condition: sql`
      ${EXECUTION_ENDED.condition} and not exists (
        select from former_failure p where p.execution_id = x.id and p.last_no >= f.no)`,
  },
  formerFailure: {
    from: sql`former_failure p join automation_execution x on x.id = p.execution_id`,
    project: sql`x.project_id`,
    id: sql`p.execution_id`,
    condition: sql`
      p.last_no = (select min(q.last_no) from former_failure q where q.execution_id = x.id and q.last_no >= f.no)`,
    columns: sql`
      'workflow.failed', p.completed_at, x.contact_id, null::uuid,
      ${EXECUTION_DATA} || jsonb_build_object('status', ${executionStatus.FAILED}, 'exitReason', p.exit_reason)`,
  },
  refusal: {
    from: sql`automation_refusal r`,
    project: sql`r.project_id`,
    id: sql`r.id`,
    condition: sql`true`,
    columns: sql`
      'workflow.refused', r.created_at, r.contact_id, null::uuid, jsonb_build_object('workflowId', r.automation_id,
        'workflowName', (select a.name from automation a where a.id = r.automation_id), 'reason', r.reason,
        'count', r.count, 'eventId', r.event_id)`,
  },
};
const STORED = Object.entries(TABLES) as [StoredSource, SourceTable][];

/** The events that the rows of `wanted` (no, source, id, at) name; those that no longer exist are left out. */
function eventsOf(projectId: string): SqlFragment {
  const selects = STORED.map(
    ([source, { from, project, id, condition, columns }]) => sql`
      select f.no, f.source, f.id, f.at, ${columns} from wanted f join ${from} on ${id} = f.id
      where f.source = ${rankOf(source)}::int and ${project} = ${projectId} and ${condition}`,
  );
  return joinSql(selects, ' union all ');
}

/** The columns of `eventsOf`. */
const ROW = sql`no, source, id, at, name, happened_at, contact_id, email_id, data`;

const VIEW = sql`
  f.no::text as no, f.source, f.id, f.at::text as at, f.name, f.happened_at as "happenedAt",
  f.contact_id as "contactId", c.email as "contactEmail", f.email_id as "emailId"`;

/** The most bytes of event data in one page. The data of a single event has at most 64 kB. */
const PAGE_BYTES = 2_097_152;

/** The next events of a project after a position and up to `settledNo`. Only those that match a pattern are returned. */
export async function pageBehind(
  em: Em,
  projectId: string,
  { position, settledNo, patterns, limit }: { position: string; settledNo: string; patterns: string[]; limit: number },
): Promise<HookPage> {
  const rows = await query(
    em,
    sql`
      with wanted as materialized (
        select no, source, id, at from webhook_feed
        where project_id = ${projectId} and no > ${position}::bigint and no <= ${settledNo}::bigint
        order by no limit ${limit}::int
      ),
      found (${ROW}) as (${eventsOf(projectId)}),
      judged as (
        select w.no, w.source, w.id, w.at, f.name, f.happened_at, f.contact_id, f.email_id, f.data,
          coalesce(f.name like any(${patterns.map(likePattern)}::text[]), false) as is_wanted
        from wanted w left join found f on f.no = w.no
      ),
      measured as (
        select *, sum(case when is_wanted then octet_length(data::text) else 0 end) over (order by no) as bytes from judged
      )
      select ${VIEW}, f.is_wanted as "isWanted", case when f.is_wanted then f.data end as data
      from measured f left join contact c on c.id = f.contact_id
      where f.bytes < ${PAGE_BYTES} order by f.no`,
    {
      name: nullable(text),
      happenedAt: nullable(date),
      contactId: nullable(text),
      contactEmail: nullable(tables.contact.email),
      emailId: nullable(text),
      data: nullable(jsonAs<Record<string, unknown>>()),
      no: text,
      at: text,
      source: tables.webhookFeed.source,
      id: tables.webhookFeed.id,
      isWanted: boolean,
    },
  );
  return {
    events: rows.flatMap(({ isWanted, name, happenedAt, data, ...ref }) =>
      isWanted && name && happenedAt && data ? [{ ...ref, name, happenedAt, data }] : [],
    ),
    lastNo: rows.at(-1)?.no,
    seen: rows.length,
  };
}

/** Loads events. Those that no longer exist are left out. */
export async function loadEvents(em: Em, projectId: string, refs: readonly EventRef[]): Promise<HookEvent[]> {
  const stored = refs
    .filter((ref) => ref.source !== TEST_SOURCE)
    .map(({ no, at, source, id }) => ({ no, at, source, id }));
  const tests = refs.filter((ref) => ref.source === TEST_SOURCE).map(testEvent);
  if (stored.length === 0) return tests;
  const rows = await query(
    em,
    sql`
      with wanted as materialized (
        select * from jsonb_to_recordset(${json(stored)}::jsonb) as r (no bigint, source int, id uuid, at timestamptz)
      ),
      found (${ROW}) as (${eventsOf(projectId)})
      select ${VIEW}, f.data from found f left join contact c on c.id = f.contact_id`,
    {
      name: text,
      happenedAt: date,
      contactId: nullable(text),
      contactEmail: nullable(tables.contact.email),
      emailId: nullable(text),
      data: jsonAs<Record<string, unknown>>(),
      no: nullable(text),
      at: text,
      source: number,
      id: text,
    },
  );
  return [...rows, ...tests];
}

function testEvent(ref: EventRef): HookEvent {
  return {
    ...ref,
    name: TEST_EVENT,
    happenedAt: new Date(ref.at),
    contactId: null,
    contactEmail: null,
    emailId: null,
    data: { message: 'This is a test.' },
  };
}

/** An event as endpoints receive it, in the form of the Standard Webhooks specification. */
export function payloadOf(event: HookEvent) {
  const { id, name, happenedAt, contactId, contactEmail, emailId, data } = event;
  const contact = contactId === null ? null : { id: contactId, email: contactEmail };
  return { type: name, timestamp: happenedAt.toISOString(), data: { id, contact, emailId, data } };
}

/** The id of the message with these events: the same for every attempt and every replay at this endpoint. */
export function messageIdOf(endpointId: string, events: readonly Omit<EventRef, 'no'>[]): string {
  const hash = createHash('sha256').update(endpointId);
  for (const { at, source, id } of events) hash.update(`|${at}|${source}|${id}`);
  return `msg_${hash.digest('hex').slice(0, 32)}`;
}
