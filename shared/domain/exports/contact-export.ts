import {
  unknownColumn,
  type ExportColumn,
  type ExportFormat,
  type ExportSource,
} from '../../database/exported-rows.ts';
import { joinSql, query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { pick, tables, type RowOf } from '../../database/tables.ts';
import { contactFilters, type ContactFilters } from '../contacts/contact-list.ts';

/** Contacts that one statement looks at, so that a filter that fits few costs it no more than one that fits all. */
const WINDOW = 5_000;
const POSITION = pick(tables.contact, 'id');
const TOPIC = pick(tables.topic, 'id', 'key');

/** Why a contact is not subscribed. A reason that another installation knew is kept in the details. */
const REASON = sql`
  case when not c.subscribed then (
    select coalesce(r.details ->> 'formerReason', r.cause) from consent_record r
    where r.contact_id = c.id and r.topic_id is null and r.state = 'unsubscribed' order by r.id desc limit 1) end`;

const COLUMNS: readonly ExportColumn[] = [
  { name: 'id', value: sql`c.id`, kind: 'word' },
  { name: 'email', value: sql`c.email`, kind: 'text' },
  { name: 'subscribed', value: sql`c.subscribed`, kind: 'number' },
  { name: 'pending', value: sql`c.is_pending`, kind: 'number' },
  { name: 'unsubscribedAt', value: sql`c.opted_out_at`, kind: 'moment' },
  { name: 'reason', value: REASON, kind: 'word' },
  { name: 'pausedUntil', value: sql`case when c.paused_until > now() then c.paused_until end`, kind: 'moment' },
  { name: 'trackingAllowed', value: sql`c.tracking_allowed`, kind: 'number' },
  { name: 'data', header: 'data.*', value: sql`c.data`, kind: 'json' },
  { name: 'createdAt', value: sql`c.created_at`, kind: 'moment' },
  { name: 'updatedAt', value: sql`c.updated_at`, kind: 'moment' },
];

/**
 * The columns `topic.<key>` of a project: whether the contact has the topic, by choice or by default. A topic that is
 * deleted while its column is written has no default any more, because its choices are gone, too.
 */
function topicColumns(topics: readonly RowOf<typeof TOPIC>[]): ExportColumn[] {
  return topics.map(({ id, key }) => ({
    name: `topic.${key}`,
    value: sql`
      coalesce((choice.by_topic ->> ${id}::text)::boolean, (
        select d.default_subscription = 'opt_in' from topic d where d.id = ${id}))`,
    kind: 'number',
  }));
}

/** All topics of a contact in one value, for JSON lines. */
function topicsColumn(columns: readonly ExportColumn[]): ExportColumn {
  const pairs = columns.map(({ name, value }) => sql`(${name.slice('topic.'.length)}::text, ${value})`);
  const value = sql`
    (select coalesce(json_object_agg(key, has) filter (where has is not null), '{}')
    from (values ${joinSql(pairs, ', ')}) as t (key, has))`;
  return { name: 'topics', value, kind: 'json' };
}

/** The column `data.<key>`: one value of the custom data. */
function dataColumn(key: string, format: ExportFormat): ExportColumn {
  const name = `data.${key}`;
  if (format === 'csv') return { name, value: sql`(c.data ->> ${key}::text)`, kind: 'text' };
  return { name, value: sql`(c.data -> ${key}::text)`, kind: 'json' };
}

/** @throws AppError VALIDATION_ERROR for a column that does not exist */
function columnNamed(name: string, known: readonly ExportColumn[], format: ExportFormat): ExportColumn {
  const found = known.find((column) => column.name === name);
  if (found) return found;
  const [, key] = /^data\.(.+)$/s.exec(name) ?? [];
  if (key !== undefined) return dataColumn(key, format);
  throw unknownColumn(name, [...COLUMNS.map((column) => column.name), 'topics', 'topic.<key>', 'data.<key>']);
}

export interface ContactExport extends ContactFilters {
  format: ExportFormat;
  /** Names of columns; all when left out. */
  columns?: readonly string[] | undefined;
  /** A predicate over `contact c`. */
  predicate?: SqlFragment | undefined;
}

/**
 * The contacts of a project as an export, in the order of their ids.
 * @throws AppError VALIDATION_ERROR for a column that does not exist
 */
export async function contactExport(
  em: Em,
  projectId: string,
  { format, columns: wanted, predicate = sql`true`, ...filters }: ContactExport,
): Promise<ExportSource<typeof POSITION>> {
  const topics = await query(
    em,
    sql`select id, key from topic where project_id = ${projectId} order by created_at, id`,
    TOPIC,
  );
  const ofTopics = topicColumns(topics);
  const allTopics = format === 'csv' ? ofTopics : [topicsColumn(ofTopics)].filter(() => topics.length > 0);
  const known = [...COLUMNS, ...ofTopics];
  const chosen = wanted?.flatMap((name) => (name === 'topics' ? allTopics : columnNamed(name, known, format)));
  const dataAt = COLUMNS.findIndex(({ name }) => name === 'data');
  const columns = chosen ?? [...COLUMNS.slice(0, dataAt), ...allTopics, ...COLUMNS.slice(dataAt)];
  const choices = sql`
    left join lateral (
      select jsonb_object_agg(s.topic_id, s.subscribed) as by_topic from topic_subscription s
      where s.contact_id = c.id and s.topic_id = any(${topics.map(({ id }) => id)}::uuid[])
    ) choice on true`;
  const walk = (after: RowOf<typeof POSITION> | undefined) => sql`
    from contact c where c.project_id = ${projectId} and (${after?.id ?? null}::uuid is null or c.id > ${after?.id ?? null}::uuid)
    order by c.id`;
  const conditions = joinSql([...contactFilters(projectId, filters), predicate], ' and ');
  return {
    columns,
    position: POSITION,
    page: (_, line, after, limit) => sql`
      select c.id, ${line}
      from (
        select * from (select * ${walk(after)} limit ${WINDOW}) c where ${conditions} order by c.id limit ${limit}
      ) c ${columns.some(({ name }) => name.startsWith('topic')) ? choices : sql``} order by c.id`,
    searchedUpTo: (tx, after) => queryOne(tx, sql`select c.id ${walk(after)} offset ${WINDOW - 1} limit 1`, POSITION),
  };
}
