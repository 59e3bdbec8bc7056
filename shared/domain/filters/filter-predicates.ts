import type { Filter, FilterUnit } from '../../pure/filters/filter-condition.ts';
import type { EmailActivity, StandardField } from '../../pure/filters/filter-target.ts';
import { sql, SqlFragment } from '../database/sql.ts';
import { parseIsoInstant, type IsoInstant } from '../../pure/filters/iso-instant.ts';

export const TRUE: SqlFragment = new SqlFragment('true');
export const FALSE: SqlFragment = new SqlFragment('false');

/** Marks text of the compiler itself as SQL; never called with anything from a request. */
export function trusted(text: string): SqlFragment {
  return new SqlFragment(text);
}

const UNIT_MS: Record<FilterUnit, number> = { days: 86_400_000, hours: 3_600_000, minutes: 60_000 };
const YEAR_ONE_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('+010000-01-01T00:00:00Z');

/** PostgreSQL text holds neither NUL nor half of a surrogate pair; nothing stored can equal a string that does. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Escapes are read pair by pair, so a literal backslash before "u0000" is not taken for an escape.
  return text.replace(/\\(?:u0000|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (escape) =>
    escape.length === 6 ? '\\ufffd' : escape,
  );
}

function text(value: string): SqlFragment {
  return sql`${storableText(value)}::text`;
}

function jsonb(value: unknown): SqlFragment {
  return sql`${storableJson(value)}::jsonb`;
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
 * True for every ISO text that may name a moment from `fromMs` to `toMs`: such texts sort by their day, which an
 * offset moves by at most one. Reading a text as an instant costs forty times as much as this comparison.
 */
function nearInstants(value: SqlFragment, fromMs: number, toMs: number): SqlFragment {
  return sql`${value} collate "C" between ${dayText(fromMs - UNIT_MS.days)} and ${dayText(toMs + 3 * UNIT_MS.days)}`;
}

/** `moment` is compared with an instant; a day counts as one with every moment in it. */
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

const STANDARD_COLUMNS: Record<StandardField, string> = {
  email: 'email',
  subscribed: 'subscribed',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** A test of a column that is never null. The filter has passed `assertFilter`. */
export function standardPredicate(alias: SqlFragment, field: StandardField, filter: Filter, asOf: Date): SqlFragment {
  const { operator, value } = filter;
  if (operator === 'exists') return TRUE;
  if (operator === 'notExists') return FALSE;
  const column = sql`${alias}.${trusted(STANDARD_COLUMNS[field])}`;
  if (operator === 'within' || operator === 'olderThan') return inWindow(column, filter, asOf);
  const negated = operator === 'notEquals' || operator === 'notContains';
  const positive = ((): SqlFragment => {
    if (field === 'subscribed') return value === true ? column : not(column);
    const string = String(value);
    if (field !== 'email') {
      const instant = parseIsoInstant(string);
      return instant === undefined ? FALSE : compareInstant(column, operator, instant);
    }
    const lowered = string.toLowerCase();
    if (operator === 'contains' || operator === 'notContains') return sql`strpos(${column}, ${text(lowered)}) > 0`;
    if (operator === 'equals' || operator === 'notEquals') return sql`${column} = ${text(lowered.trim())}`;
    return sql`${column} collate "C" ${comparison(operator)} ${text(lowered)}`;
  })();
  return negated ? not(positive) : positive;
}

/** A value inside a JSON document: as jsonb, as text, and by what the document contains. */
export interface JsonValue {
  readonly json: SqlFragment;
  /** Null exactly where the value is missing or a stored null. */
  readonly text: SqlFragment;
  /** The text in lower case as far as it is ASCII, where that is at hand. */
  readonly lowered?: SqlFragment;
  /** The text as `everpost_fold` returns it, where that is at hand. */
  readonly folded?: SqlFragment;
  /** A predicate that is true where the value equals a scalar, or is a list or object that contains the one given. */
  readonly contained?: (wanted: unknown) => SqlFragment;
}

/** The value of custom data under a dotted path; the longest key wins, a stored null counts as missing. */
export function dataValue(document: SqlFragment, path: string): JsonValue {
  const keys = path.split('.');
  const [first = '', second = ''] = keys;
  const whole = text(path);
  if (keys.length === 1) {
    return {
      json: sql`(${document} -> ${whole})`,
      text: sql`(${document} ->> ${whole})`,
      // A computed key of an object literal defines an own property, also for __proto__.
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

/** The same value where containment does not serve: under a negation, and where the document is at hand already. */
export function withoutContainment(value: JsonValue): JsonValue {
  return value.contained ? { json: value.json, text: value.text } : value;
}

/** A value that is known while compiling, such as one of an execution's context. */
export function constantValue(value: unknown): JsonValue {
  const bound = jsonb(value ?? null);
  return { json: bound, text: sql`(${bound} #>> '{}')` };
}

/** A test of a JSON value of any type; it never raises. The filter has passed `assertFilter`. */
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
  // Containment of a list or object is weaker than equality.
  if (value.contained && typeof wanted !== 'object') return value.contained(wanted);
  return sql`${value.json} = ${jsonb(wanted)}`;
}

/** Text that stands in a list of JSON as it is. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

function jsonContains(value: JsonValue, wanted: unknown): SqlFragment {
  const list = jsonb([wanted]);
  if (typeof wanted !== 'string') {
    if (value.contained) return value.contained([wanted]);
    return sql`(jsonb_typeof(${value.json}) = 'array' and ${value.json} @> ${list})`;
  }
  const byType = (inString: SqlFragment) =>
    sql`case jsonb_typeof(${value.json}) when 'string' then ${inString} when 'array' then ${value.json} @> ${list} else false end`;
  // ASCII needs no locale; without one lower() is several times faster.
  const isAscii = Buffer.byteLength(wanted) === wanted.length;
  if (!isAscii) {
    return byType(
      sql`strpos(${value.folded ?? sql`everpost_fold(${value.text})`}, everpost_fold(${text(wanted)})) > 0`,
    );
  }
  const known = value.lowered;
  const found = sql`strpos(${known ?? sql`lower(${value.text} collate "C")`}, ${text(wanted.toLowerCase())}) > 0`;
  // Most contacts fail at the text already, which a list has as well.
  if (known || !UNESCAPED.test(wanted)) return byType(found);
  return sql`(${found} and (jsonb_typeof(${value.json}) = 'string' or ${value.json} @> ${list}))`;
}

function jsonOrder(value: JsonValue, filter: Filter): SqlFragment {
  const { operator, value: wanted } = filter;
  if (typeof wanted === 'number') {
    // Most contacts fail at the comparison, which other types pass as well: a sixth less than the other way round.
    return sql`(${value.json} ${comparison(operator)} ${jsonb(wanted)} and jsonb_typeof(${value.json}) = 'number')`;
  }
  const string = String(wanted);
  const asText = sql`${value.text} collate "C" ${comparison(operator)} ${text(string)}`;
  const instant = parseIsoInstant(string);
  const order =
    instant === undefined
      ? asText
      : // Except at the instant itself, both ways of comparing agree.
        sql`coalesce(case when ${nearInstants(value.text, instant.startMs, instant.startMs)} then ${compareInstant(sql`everpost_instant(${value.text})`, operator, instant)} end, ${asText})`;
  return sql`(jsonb_typeof(${value.json}) = 'string' and ${order})`;
}

/** Something that happened to a contact, as rows of a table with a moment each. */
interface Occurrences {
  /** `from … where …` up to the contact. */
  rows: SqlFragment;
  moment: SqlFragment;
}

/** Rows of tracked and system events with one name. */
export function eventOccurrences(alias: SqlFragment, projectId: string, name: string): Occurrences {
  // The project lets the planner begin at the rare events of a name instead of at every contact.
  return {
    rows: sql`select 1 from event filter_event where filter_event.contact_id = ${alias}.id and filter_event.project_id = ${projectId}::uuid and filter_event.name = ${text(name)}`,
    moment: trusted('filter_event.created_at'),
  };
}

/** E-mails of the contact to which the activity happened; its moment is the first time. */
export function emailOccurrences(alias: SqlFragment, activity: EmailActivity): Occurrences {
  const moment = trusted(`filter_email.${activity}_at`);
  return {
    rows: sql`select 1 from email filter_email where filter_email.contact_id = ${alias}.id and ${moment} is not null`,
    moment,
  };
}

/**
 * How a subselect finds the rows of a contact. PostgreSQL can make a join of the first kind, or a hash table in memory. The
 * second kind is looked up contact by contact, whatever their number: a thousand hash tables would take gigabytes.
 */
export type Subselect = 'joined' | 'looked up';

function existsIn(rows: SqlFragment, subselect: Subselect): SqlFragment {
  return subselect === 'joined' ? sql`exists (${rows})` : sql`exists (${rows} offset 0)`;
}

/** A test of whether and when something happened. */
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
  // No upper bound: nothing recorded lies in the future, but the clock that stamped it may be a little ahead of asOf.
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
  const rows = sql`select 1 from segment_member filter_member where filter_member.segment_id = ${segmentId}::uuid and filter_member.contact_id = ${alias}.id`;
  const listed = existsIn(rows, subselect);
  return isMember ? listed : not(listed);
}
