import { STANDARD_FIELDS, STANDARD_TYPES } from '../../pure/filters/filter-target.ts';
import { LIMITS } from '../../pure/limits.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { allTopics } from '../topics/topics.ts';
import { oneOf, tables, text, type RowOf } from '../../database/tables.ts';

const CONDITION_FIELD = { field: text, type: tables.contactField.type, source: oneOf('contact', 'event') };
export type ConditionField = RowOf<typeof CONDITION_FIELD>;

const OF_CONTACT = Object.entries(STANDARD_FIELDS).map(([name, type]): ConditionField => {
  return { field: `contact.${name}`, type: STANDARD_TYPES[type], source: 'contact' };
});
/** How many of the newest events are searched for keys, so keys that are no longer sent are no longer offered. */
const EVENTS_SEEN = 1_000;

/** What a CONDITION step can read: fields of the contact, and keys of recent events. */
export async function listConditionFields(em: Em, projectId: string): Promise<ConditionField[]> {
  const custom = await query(
    em,
    sql`
      select 'contact.data.' || key as field, type, 'contact' as source from contact_field
      where project_id = ${projectId} order by key limit ${LIMITS.listedNames}`,
    CONDITION_FIELD,
  );
  const events = await query(
    em,
    sql`
      with recent as (
        select data from event where project_id = ${projectId} order by created_at desc, id desc limit ${EVENTS_SEEN}
      )
      select distinct on (d.key) 'event.' || d.key as field, 'event' as source,
        case jsonb_typeof(d.value) when 'number' then 'number' when 'boolean' then 'boolean' else 'string' end as type
      from recent, jsonb_each(recent.data) as d (key, value) where d.value <> 'null' order by d.key
      limit ${LIMITS.listedNames}`,
    CONDITION_FIELD,
  );
  const topics = (await allTopics(em, projectId)).map(({ key }) => {
    return { field: `contact.topic.${key}`, type: 'boolean', source: 'contact' } as const;
  });
  return [...OF_CONTACT, ...topics, ...custom, ...events];
}
