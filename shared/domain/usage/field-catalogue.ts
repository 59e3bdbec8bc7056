import { AppError, badRequest } from '../../pure/app-error.ts';
import { conditionTree, readConfigOf, readContactUpdate } from '../../pure/automations/automation-config.ts';
import type { FieldType } from '../../pure/contacts/custom-data.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import {
  collectReferences,
  isPathTooLong,
  STANDARD_FIELDS,
  STANDARD_TYPES,
  type StandardField,
} from '../../pure/filters/filter-target.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findConditionUsage, type ConditionUsage } from './condition-usage.ts';
import { dataValue, hasTopic, STANDARD_COLUMNS, trusted } from '../filters/filter-predicates.ts';
import { findAutomationsOfSteps, type AutomationRef, type UsedStep } from './step-usage.ts';
import { isoText, query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { jsonAs, number, tables } from '../../database/tables.ts';
import { allTopics } from '../topics/topics.ts';
import { countFieldHolders } from '../contacts/field-removal.ts';

/** The standard fields, their types, and their values as JSON over `contact`; null without one. */
const STANDARD_VALUES = (Object.keys(STANDARD_FIELDS) as StandardField[]).map((field) => {
  const [column, kind] = [trusted(STANDARD_COLUMNS[field]), STANDARD_FIELDS[field]];
  const type = STANDARD_TYPES[kind];
  const json = sql`to_jsonb(${type === 'date' ? isoText(column) : column})`;
  // A pause that is over is none.
  return { field, type, values: kind === 'future' ? sql`case when ${column} > now() then ${json} end` : json };
});

export interface CatalogueField {
  field: string;
  type: FieldType;
  isCustom: boolean;
  /** The share of contacts that have the field, from 0 to 1. */
  coverage: number;
}

/** A field named by a caller: a standard field, or custom data at `path`. */
export type NamedField = { name: string; values: SqlFragment; path?: undefined } | { name: string; path: string };

/**
 * Reads a name such as `email`, `data.plan` or `plan`. A path of too many keys can only be one key with dots in it.
 * @throws AppError RESOURCE_NOT_FOUND for a name without a key, BAD_REQUEST when the path is too long for that, too
 */
function readFieldName(text: string): NamedField {
  const standard = STANDARD_VALUES.find(({ field }) => field === text);
  if (standard) return { name: text, values: standard.values };
  const path = text.startsWith('data.') ? text.slice('data.'.length) : text;
  if (path === '') throw new AppError('RESOURCE_NOT_FOUND', { message: 'A field name needs a key after "data."' });
  if (isPathTooLong(path) && path.length > LIMITS.contactDataKeyLength) {
    throw badRequest(`field: A field may name at most ${LIMITS.fieldPathKeys} keys`, { details: { field: 'field' } });
  }
  return { name: `data.${path}`, path };
}

/** As `readFieldName`, with the topics of a project: `topic.news` is the topic, if there is one with this key. */
export async function findField(em: Em, projectId: string, text: string): Promise<NamedField> {
  const topics = text.startsWith('topic.') ? await topicFields(em, projectId) : [];
  if (!topics.includes(text)) return readFieldName(text);
  const has = hasTopic(sql`contact`, projectId, text.slice('topic.'.length), 'joined');
  return { name: text, values: sql`to_jsonb(${has})` };
}

async function topicFields(em: Em, projectId: string): Promise<string[]> {
  return (await allTopics(em, projectId)).map(({ key }) => `topic.${key}`);
}

/**
 * The path of a custom field, from a name as `findField` reads it.
 * @throws AppError BAD_REQUEST for a standard field or a topic, RESOURCE_NOT_FOUND for a name without a key
 */
export async function findCustomFieldPath(em: Em, projectId: string, text: string): Promise<string> {
  const { name, path } = await findField(em, projectId, text);
  if (path === undefined) throw badRequest(`${name} is a field of every contact and cannot be deleted`);
  return path;
}

/** The coverage of at most so many contacts is counted on all of them, of more contacts on every sixteenth. */
const COUNTED_MAX = 200_000;

/**
 * The condition for the contacts on which coverage is counted. Reading all keys of 1,000,000 contacts takes over a
 * second. The last byte of an id is random, so the contacts with the same low bits are a fair and stable sample. Its
 * error is at most 0.004.
 */
function isInSample(contactCount: number): SqlFragment {
  return contactCount <= COUNTED_MAX ? sql`true` : sql`get_byte(uuid_send(c.id), 15) & 15 = 0`;
}

/**
 * All fields of a project: the standard fields, the topics, then the custom fields by name. The coverage of all fields
 * is counted in one pass over the contacts.
 */
export async function listFields(em: Em, projectId: string): Promise<CatalogueField[]> {
  const [counts] = await query(
    em,
    sql`
      select count(*), count(*) filter (where paused_until > now()) as "pausedUntil",
        count(tracking_allowed) as "trackingAllowed"
      from contact where project_id = ${projectId}`,
    { count: number, pausedUntil: number, trackingAllowed: number },
  );
  const contactCount = counts?.count ?? 0;
  const custom = await query(
    em,
    sql`
      with sample as materialized (
        select data from contact c where c.project_id = ${projectId} and ${isInSample(contactCount)}
      )
      select f.key, f.type, coalesce(n.count::float8 / nullif((select count(*) from sample), 0), 0) as coverage
      from contact_field f left join (
        select key, count(*) from sample, jsonb_object_keys(data) key group by key
      ) n on n.key = f.key
      where f.project_id = ${projectId} order by f.key collate "C" limit ${LIMITS.listedNames}`,
    { key: tables.contactField.key, type: tables.contactField.type, coverage: number },
  );
  const ofAll = (field: string, type: FieldType) => {
    const holders = (counts as Partial<Record<string, number>>)[field] ?? contactCount;
    return { field, type, isCustom: false, coverage: contactCount === 0 ? 0 : holders / contactCount };
  };
  return [
    ...STANDARD_VALUES.map(({ field, type }) => ofAll(field, type)),
    ...(await topicFields(em, projectId)).map((field) => ofAll(field, 'boolean')),
    ...custom.map(({ key, type, coverage }) => ({ field: `data.${key}`, type, isCustom: true, coverage })),
  ];
}

function valueOf(path: string): SqlFragment {
  return isPathTooLong(path) ? sql`data -> ${path}::text` : dataValue(sql`data`, path).json;
}

/** Distinct values of a field, the most frequent first: at most `limit`, and at most `LIMITS.pageBytes`. */
export async function listFieldValues(em: Em, projectId: string, field: NamedField, limit: number): Promise<unknown[]> {
  const value = field.path === undefined ? field.values : valueOf(field.path);
  const rows = await query(
    em,
    sql`
      with found as (
        select ${value} as value, count(*) as count from contact where project_id = ${projectId} group by 1
      ),
      listed as (
        select * from found where jsonb_typeof(value) <> 'null' order by count desc, value limit ${limit}
      ),
      measured as (
        select *, sum(octet_length(value::text)) over (order by count desc, value) as bytes from listed
      )
      select value from measured where bytes <= ${LIMITS.pageBytes} order by count desc, value`,
    { value: jsonAs() },
  );
  return rows.map((row) => row.value);
}

export interface FieldUsage extends ConditionUsage {
  usedInWorkflows: AutomationRef[];
  /** Contacts that have a value. */
  contactCount: number;
}

/** Whether a condition reads the field, or a key below it. */
function reads(condition: FilterCondition, field: string): boolean {
  return collectReferences(condition).fields.some((name) => name === field || name.startsWith(`${field}.`));
}

function uses({ type, config }: UsedStep, field: string): boolean {
  if (type === 'CONDITION') return reads(conditionTree(readConfigOf(type, config)), field);
  if (type !== 'UPDATE_CONTACT') return false;
  const { data = {}, subscribed, topics = {} } = readContactUpdate(readConfigOf(type, config));
  if (field.startsWith('topic.')) return Object.hasOwn(topics, field.slice('topic.'.length));
  return Object.hasOwn(data, field.slice('data.'.length)) || (field === 'subscribed' && subscribed !== undefined);
}

/** The segments, campaigns and automations that refer to a field, oldest first, and the number of its contacts. */
export async function findFieldUsage(em: Em, projectId: string, field: NamedField): Promise<FieldUsage> {
  const usage = await findConditionUsage(em, projectId, (condition) => reads(condition, field.name));
  const usedInWorkflows = await findAutomationsOfSteps(em, projectId, ['CONDITION', 'UPDATE_CONTACT'], (step) =>
    uses(step, field.name),
  );
  return {
    ...usage,
    usedInWorkflows,
    contactCount: await countHolders(em, projectId, field),
  };
}

async function countHolders(em: Em, projectId: string, field: NamedField): Promise<number> {
  if (field.path !== undefined) return countFieldHolders(em, projectId, field.path);
  const row = await queryOne(em, sql`select count(${field.values}) from contact where project_id = ${projectId}`, {
    count: number,
  });
  return row?.count ?? 0;
}
