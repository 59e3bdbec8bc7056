import type { Filter, FilterUnit } from '../../pure/filters/filter-condition.ts';
import { STANDARD_FIELDS, type EmailActivity, type StandardField } from '../../pure/filters/filter-target.ts';
import { normalizeAddress, searchedSpellings, spellingsOf } from '../../pure/emails/email-address.ts';
import { inSql, joinSql, json, sql, SqlFragment, storableText } from '../../database/sql.ts';
import { parseIsoInstant, type IsoInstant } from '../../pure/filters/iso-instant.ts';

export const TRUE: SqlFragment = new SqlFragment('true');
export const FALSE: SqlFragment = new SqlFragment('false');

/** Marks text of the compiler itself as SQL. Never call it with a text from a request. */
export function trusted(text: string): SqlFragment {
  return new SqlFragment(text);
}

const UNIT_MS: Record<FilterUnit, number> = { days: 86_400_000, hours: 3_600_000, minutes: 60_000 };
const YEAR_ONE_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('+010000-01-01T00:00:00Z');

/** No stored text can equal one that PostgreSQL cannot store, whatever takes its place. */
function text(value: string): SqlFragment {
  return sql`${storableText(value)}::text`;
}

function jsonb(value: unknown): SqlFragment {
  return sql`${json(value)}::jsonb`;
}

/** The start of a window of `value` units that ends at `asOf`, in milliseconds since 1970. */
function windowStartMs(filter: Filter, asOf: Date): number {
  const units = typeof filter.value === 'number' ? filter.value : Number.NaN;
  return asOf.getTime() - units * UNIT_MS[filter.unit ?? 'days'];
}

function windowStart(filter: Filter, asOf: Date): SqlFragment {
  const startMs = windowStartMs(filter, asOf);
  return sql`${startMs >= YEAR_ONE_MS ? new Date(startMs).toISOString() : '-infinity'}::timestamptz`;
}

function dayText(ms: number): SqlFragment {
  if (ms < YEAR_ONE_MS) return text('');
  return text(ms < YEAR_10000_MS ? new Date(ms).toISOString().slice(0, 10) : '~');
}

/**
 * A cheap test that is true for every ISO text that may name a moment from `fromMs` to `toMs`. Such texts sort by their
 * day, and an offset moves the day by at most one. Parsing a text as an instant costs forty times as much.
 */
function nearInstants(value: SqlFragment, fromMs: number, toMs: number): SqlFragment {
  return sql`${value} collate "C" between ${dayText(fromMs - UNIT_MS.days)} and ${dayText(toMs + 3 * UNIT_MS.days)}`;
}

/** Compares `moment` with an instant. A day equals every moment within it. */
function compareInstant(moment: SqlFragment, operator: Filter['operator'], instant: IsoInstant): SqlFragment {
  const start = sql`${instant.start}::timestamptz`;
  if (instant.precision === 'moment') return sql`${moment} ${comparison(operator)} ${start}`;
  const end = sql`(${start} + interval '24 hours')`;
  switch (operator) {
    case 'greaterThan':
      return sql`${moment} >= ${end}`;
    case 'greaterThanOrEqual':
      return sql`${moment} >= ${start}`;
    case 'lessThan':
      return sql`${moment} < ${start}`;
    case 'lessThanOrEqual':
      return sql`${moment} < ${end}`;
    default:
      return sql`(${moment} >= ${start} and ${moment} < ${end})`;
  }
}

function comparison(operator: Filter['operator']): SqlFragment {
  switch (operator) {
    case 'greaterThan':
      return trusted('>');
    case 'greaterThanOrEqual':
      return trusted('>=');
    case 'lessThan':
      return trusted('<');
    case 'lessThanOrEqual':
      return trusted('<=');
    default:
      return trusted('=');
  }
}

function inWindow(moment: SqlFragment, filter: Filter, asOf: Date): SqlFragment {
  const start = windowStart(filter, asOf);
  if (filter.operator === 'olderThan') return sql`${moment} < ${start}`;
  return sql`${moment} between ${start} and ${asOf.toISOString()}::timestamptz`;
}

function not(predicate: SqlFragment): SqlFragment {
  return sql`not (${predicate})`;
}

export const STANDARD_COLUMNS: Record<StandardField, string> = {
  email: 'email',
  subscribed: 'subscribed',
  pending: 'is_pending',
  pausedUntil: 'paused_until',
  trackingAllowed: 'tracking_allowed',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};
const NULLABLE: ReadonlySet<StandardField> = new Set(['pausedUntil', 'trackingAllowed']);

/** The predicate for a filter on a standard field. It is never null. The filter has passed `assertFilter`. */
export function standardPredicate(alias: SqlFragment, field: StandardField, filter: Filter, asOf: Date): SqlFragment {
  const { operator } = filter;
  const column = sql`${alias}.${trusted(STANDARD_COLUMNS[field])}`;
  const isNullable = NULLABLE.has(field);
  // A pause that is over is none, as in the contact itself.
  const isThere =
    field === 'pausedUntil' ? sql`${column} > ${asOf.toISOString()}::timestamptz` : sql`${column} is not null`;
  const holds = (predicate: SqlFragment) =>
    isNullable ? sql`coalesce(${isThere} and ${predicate}, false)` : predicate;
  if (operator === 'exists') return holds(TRUE);
  if (operator === 'notExists') return isNullable ? not(holds(TRUE)) : FALSE;
  if (operator === 'within' || operator === 'olderThan') return inWindow(column, filter, asOf);
  const isNegated = operator === 'notEquals' || operator === 'notContains';
  const positive = holds(compareColumn(column, field, filter));
  return isNegated ? not(positive) : positive;
}

/** Compares a column with the value of a filter. A negated operator is read as the one that it negates. */
function compareColumn(column: SqlFragment, field: StandardField, { operator, value }: Filter): SqlFragment {
  const type = STANDARD_FIELDS[field];
  if (type === 'switch') return value === true ? column : not(column);
  const string = String(value);
  if (type !== 'text') {
    const instant = parseIsoInstant(string);
    return instant === undefined ? FALSE : compareInstant(column, operator, instant);
  }
  const anyOf = (texts: string[], holds: (each: SqlFragment) => SqlFragment): SqlFragment =>
    sql`(${joinSql(texts.map(text).map(holds), ' or ')})`;
  if (operator === 'contains' || operator === 'notContains')
    return anyOf(searchedSpellings(string), (part) => sql`strpos(${column}, ${part}) > 0`);
  if (operator === 'equals' || operator === 'notEquals')
    return anyOf(spellingsOf(normalizeAddress(string)), (address) => sql`${column} = ${address}`);
  return sql`${column} collate "C" ${comparison(operator)} ${text(string.toLowerCase())}`;
}

/** The SQL that reads one value of a JSON document. */
export interface JsonValue {
  readonly json: SqlFragment;
  /** Null exactly if the value is missing or a stored null. */
  readonly text: SqlFragment;
  /** The text in lower case as far as it is ASCII, if there is a column with it. */
  readonly lowered?: SqlFragment;
  /** The text as `everpost_fold` returns it, if there is a column with it. */
  readonly folded?: SqlFragment;
  /**
   * A predicate that is true if the value equals the given scalar, or is a list or object that contains the given one.
   */
  readonly contained?: (wanted: unknown) => SqlFragment;
}

/** The value of custom data at a dotted path. The longest key takes precedence; a stored null counts as missing. */
export function dataValue(document: SqlFragment, path: string): JsonValue {
  const keys = path.split('.');
  const [first = '', second = ''] = keys;
  const whole = text(path);
  if (keys.length === 1) {
    return {
      json: sql`(${document} -> ${whole})`,
      text: sql`(${document} ->> ${whole})`,
      // A computed key of an object literal is an own property, even if it is `__proto__`.
      contained: (wanted) => sql`${document} @> ${jsonb({ [path]: wanted })}`,
    };
  }
  if (keys.length === 2) {
    const outer = text(first);
    const inner = text(second);
    return {
      json: sql`coalesce(nullif(${document} -> ${whole}, 'null'), ${document} -> ${outer} -> ${inner})`,
      text: sql`coalesce(${document} ->> ${whole}, ${document} -> ${outer} ->> ${inner})`,
      contained: (wanted) => {
        const nested = sql`${document} @> ${jsonb({ [first]: { [second]: wanted } })} and ${document} ->> ${whole} is null`;
        return sql`(${nested} or ${document} @> ${jsonb({ [path]: wanted })})`;
      },
    };
  }
  const found = sql`everpost_field(${document}, ${whole})`;
  return { json: found, text: sql`(${found} #>> '{}')` };
}

/** The same value without `contained`, which is of no use under a negation, or over a shared document. */
export function withoutContainment(value: JsonValue): JsonValue {
  return value.contained ? { json: value.json, text: value.text } : value;
}

/** A value that is known at compile time, such as one of an execution's context. */
export function constantValue(value: unknown): JsonValue {
  const bound = jsonb(value ?? null);
  return { json: bound, text: sql`(${bound} #>> '{}')` };
}

/**
 * The predicate for a filter on a JSON value of any type. It never raises an error. The filter has passed
 * `assertFilter`.
 */
export function jsonPredicate(value: JsonValue, filter: Filter, asOf: Date): SqlFragment {
  switch (filter.operator) {
    case 'exists':
      return sql`${value.text} is not null`;
    case 'notExists':
      return sql`${value.text} is null`;
    case 'equals':
      return jsonEquals(value, filter.value);
    case 'notEquals':
      return sql`(${value.text} is not null and (${jsonEquals(withoutContainment(value), filter.value)}) is not true)`;
    case 'contains':
      return jsonContains(value, filter.value);
    case 'notContains':
      return sql`(${value.text} is not null and (${jsonContains(withoutContainment(value), filter.value)}) is not true)`;
    case 'within':
    case 'olderThan': {
      const startMs = windowStartMs(filter, asOf);
      const [fromMs, toMs] = filter.operator === 'within' ? [startMs, asOf.getTime()] : [-Infinity, startMs];
      const moment = sql`everpost_instant(${value.text})`;
      return sql`(${nearInstants(value.text, fromMs, toMs)} and ${inWindow(moment, filter, asOf)})`;
    }
    default:
      return jsonOrder(value, filter);
  }
}

function jsonEquals(value: JsonValue, wanted: unknown): SqlFragment {
  const instant = typeof wanted === 'string' ? parseIsoInstant(wanted) : undefined;
  if (instant !== undefined) {
    const same = compareInstant(sql`everpost_instant(${value.text})`, 'equals', instant);
    return sql`(${nearInstants(value.text, instant.startMs, instant.startMs)} and ${same})`;
  }
  // For lists and objects containment is weaker than equality.
  if (value.contained && typeof wanted !== 'object') return value.contained(wanted);
  return sql`${value.json} = ${jsonb(wanted)}`;
}

/** Text that JSON does not escape, so the text of a list contains it as it is. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

function jsonContains(value: JsonValue, wanted: unknown): SqlFragment {
  const list = jsonb([wanted]);
  if (typeof wanted !== 'string') {
    if (value.contained) return value.contained([wanted]);
    return sql`(jsonb_typeof(${value.json}) = 'array' and ${value.json} @> ${list})`;
  }
  const byType = (inString: SqlFragment) =>
    sql`case jsonb_typeof(${value.json}) when 'string' then ${inString} when 'array' then ${value.json} @> ${list} else false end`;
  // ASCII needs no locale, and lower() is several times faster without one.
  const isAscii = Buffer.byteLength(wanted) === wanted.length;
  if (!isAscii) {
    return byType(
      sql`strpos(${value.folded ?? sql`everpost_fold(${value.text})`}, everpost_fold(${text(wanted)})) > 0`,
    );
  }
  const known = value.lowered;
  const found = sql`strpos(${known ?? sql`lower(${value.text} collate "C")`}, ${text(wanted.toLowerCase())}) > 0`;
  // Most contacts fail at the search, which is right for the text of a list, too. So the search comes first.
  if (known || !UNESCAPED.test(wanted)) return byType(found);
  return sql`(${found} and (jsonb_typeof(${value.json}) = 'string' or ${value.json} @> ${list}))`;
}

function jsonOrder(value: JsonValue, filter: Filter): SqlFragment {
  const { operator, value: wanted } = filter;
  if (typeof wanted === 'number') {
    // Most contacts fail at the comparison, so it comes first, which takes a sixth less time. Other types may pass it.
    return sql`(${value.json} ${comparison(operator)} ${jsonb(wanted)} and jsonb_typeof(${value.json}) = 'number')`;
  }
  const string = String(wanted);
  const asText = sql`${value.text} collate "C" ${comparison(operator)} ${text(string)}`;
  const instant = parseIsoInstant(string);
  const order = instant === undefined ? asText : orderByInstant(value, operator, instant, asText);
  return sql`(jsonb_typeof(${value.json}) = 'string' and ${order})`;
}

/** Compares as instants near the wanted instant, and as texts elsewhere, where both comparisons agree. */
function orderByInstant(
  value: JsonValue,
  operator: Filter['operator'],
  instant: IsoInstant,
  asText: SqlFragment,
): SqlFragment {
  const isNear = nearInstants(value.text, instant.startMs, instant.startMs);
  const asInstant = compareInstant(sql`everpost_instant(${value.text})`, operator, instant);
  return sql`coalesce(case when ${isNear} then ${asInstant} end, ${asText})`;
}

/** What happened to a contact: rows of a table, each with a moment. */
interface Occurrences {
  /** A select with the condition on the contact, to which further conditions can be added. */
  rows: SqlFragment;
  moment: SqlFragment;
}

/** The tracked and system events of a contact with one name. */
export function eventOccurrences(alias: SqlFragment, projectId: string, name: string): Occurrences {
  // With the project, the planner can begin at the rare events of a name instead of at every contact.
  return {
    rows: sql`
      select 1 from event filter_event
      where filter_event.contact_id = ${alias}.id and filter_event.project_id = ${projectId}::uuid
        and filter_event.name = ${text(name)}`,
    moment: trusted('filter_event.created_at'),
  };
}

/** The emails of a contact that have an activity. The moment is that of the first time. */
export function emailOccurrences(alias: SqlFragment, activity: EmailActivity): Occurrences {
  const moment = trusted(`filter_email.${inSql(activity)}_at`);
  return {
    rows: sql`select 1 from email filter_email where filter_email.contact_id = ${alias}.id and ${moment} is not null`,
    moment,
  };
}

/**
 * How a subselect finds the rows of a contact. PostgreSQL can turn `joined` into a join, or a hash table in memory. It
 * looks `looked up` up contact by contact, because a thousand hash tables would take gigabytes.
 */
export type Subselect = 'joined' | 'looked up';

function existsIn(rows: SqlFragment, subselect: Subselect): SqlFragment {
  return subselect === 'joined' ? sql`exists (${rows})` : sql`exists (${rows} offset 0)`;
}

/** The predicate for a filter on whether and when something happened. */
export function occurrencePredicate(
  occurrences: Occurrences,
  filter: Filter,
  asOf: Date,
  subselect: Subselect,
): SqlFragment {
  const { rows, moment } = occurrences;
  const ever = existsIn(rows, subselect);
  if (filter.operator === 'triggered') return ever;
  if (filter.operator === 'notTriggered') return not(ever);
  // There is no upper bound: no row is of the future, but its clock may be a little ahead of `asOf`.
  const since = existsIn(sql`${rows} and ${moment} >= ${windowStart(filter, asOf)}`, subselect);
  switch (filter.operator) {
    case 'triggeredWithin':
      return since;
    case 'notTriggeredWithin':
      return not(since);
    default:
      return sql`(${ever} and not ${since})`;
  }
}

/** Whether the contact is (or is not) in the member table of a segment. */
export function memberPredicate(
  alias: SqlFragment,
  segmentId: string,
  isMember: boolean,
  subselect: Subselect,
): SqlFragment {
  const rows = sql`
    select 1 from segment_member filter_member
    where filter_member.segment_id = ${segmentId}::uuid and filter_member.contact_id = ${alias}.id`;
  const listed = existsIn(rows, subselect);
  return isMember ? listed : not(listed);
}

/**
 * Whether the contact has the topic with a key, by choice or by default; null where there is no such topic. Only the
 * choices that differ from the default are looked up.
 */
export function hasTopic(alias: SqlFragment, projectId: string, key: string, subselect: Subselect): SqlFragment {
  const own = sql`from topic own where own.project_id = ${projectId}::uuid and own.key = ${text(key)}`;
  const byDefault = sql`(select own.default_subscription = 'opt_in' ${own})`;
  const rows = sql`
    select 1 from topic_subscription filter_topic
    where filter_topic.topic_id = (select own.id ${own}) and filter_topic.contact_id = ${alias}.id
      and filter_topic.subscribed <> ${byDefault}`;
  return sql`(${existsIn(rows, subselect)} <> ${byDefault})`;
}

/** The predicate for a filter on a topic, as on `subscribed`. */
export function topicPredicate(
  alias: SqlFragment,
  projectId: string,
  key: string,
  { operator, value }: Filter,
  subselect: Subselect,
): SqlFragment {
  if (operator === 'exists') return TRUE;
  if (operator === 'notExists') return FALSE;
  const has = hasTopic(alias, projectId, key, subselect);
  return (operator === 'equals') === (value === true) ? has : not(has);
}
