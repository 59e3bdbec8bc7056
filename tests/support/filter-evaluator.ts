import type { Filter, FilterCondition } from '../../shared/pure/filters/filter-condition.ts';

/** A contact with everything that filters can test. */
export interface EvaluatedContact {
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
  events: { name: string; createdAt: Date }[];
  emails: Partial<
    Record<
      | 'sentAt'
      | 'deliveredAt'
      | 'openedAt'
      | 'clickedAt'
      | 'bouncedAt'
      | 'complainedAt'
      | 'humanOpenedAt'
      | 'humanClickedAt',
      Date
    >
  >[];
  /** Ids of segments whose member table lists the contact. */
  memberOf: string[];
  /** Choices about topics, by their keys. */
  topics: Record<string, boolean>;
}

interface EvaluatedSegment {
  type: 'DYNAMIC' | 'STATIC';
  trackMembership: boolean;
  condition: FilterCondition | null;
}

interface EvaluationWorld {
  asOf: Date;
  segments: ReadonlyMap<string, EvaluatedSegment>;
  /** Whether contacts have a topic by default, by its key. */
  topics?: Readonly<Record<string, boolean>>;
  /** Present for a step of an automation. */
  eventContext?: unknown;
}

/**
 * Evaluates filters in plain TypeScript, without SQL and without the compiler's own helpers, so that tests can compare
 * the compiler with it. The code is simple rather than fast.
 */
export function matchesCondition(
  condition: FilterCondition,
  contact: EvaluatedContact,
  world: EvaluationWorld,
): boolean {
  const groups = condition.groups.map(
    (group) =>
      group.filters.every((filter) => matchesFilter(filter, contact, world)) &&
      (group.conditions === undefined || matchesCondition(group.conditions, contact, world)),
  );
  return condition.logic === 'AND' ? groups.every(Boolean) : groups.some(Boolean);
}

const UNIT_MINUTES = { minutes: 1, hours: 60, days: 1440 };

function windowStartMs(filter: Filter, asOf: Date): number {
  return asOf.getTime() - Number(filter.value) * UNIT_MINUTES[filter.unit ?? 'days'] * 60_000;
}

function matchesFilter(filter: Filter, contact: EvaluatedContact, world: EvaluationWorld): boolean {
  switch (filter.operator) {
    case 'memberOfSegment':
      return isMember(filter, contact, world);
    case 'notMemberOfSegment':
      return !isMember(filter, contact, world);
    case 'triggered':
      return moments(filter, contact).length > 0;
    case 'notTriggered':
      return moments(filter, contact).length === 0;
    case 'triggeredWithin':
      return moments(filter, contact).some((ms) => ms >= windowStartMs(filter, world.asOf));
    case 'notTriggeredWithin':
      return !moments(filter, contact).some((ms) => ms >= windowStartMs(filter, world.asOf));
    case 'triggeredOlderThan': {
      const all = moments(filter, contact);
      return all.length > 0 && all.every((ms) => ms < windowStartMs(filter, world.asOf));
    }
    default:
      return matchesValue(filter, valueOf(filter.field, contact, world), world.asOf);
  }
}

function isMember(filter: Filter, contact: EvaluatedContact, world: EvaluationWorld): boolean {
  const id = filter.field.startsWith('segment.') ? filter.field.slice(8) : String(filter.value);
  const segment = world.segments.get(id);
  if (segment === undefined) return false;
  if (segment.type === 'STATIC' || segment.trackMembership) return contact.memberOf.includes(id);
  return segment.condition !== null && matchesCondition(segment.condition, contact, world);
}

function moments(filter: Filter, contact: EvaluatedContact): number[] {
  const name = filter.field.replace(/^event\./, '');
  const activity = /^email\.(sent|delivered|opened|clicked|bounced|complained|humanOpened|humanClicked)$/.exec(
    name,
  )?.[1];
  if (activity === undefined) {
    return contact.events.filter((event) => event.name === name).map((event) => event.createdAt.getTime());
  }
  return contact.emails.flatMap((email) => {
    const at = new Map(Object.entries(email)).get(`${activity}At`);
    return at === undefined ? [] : [at.getTime()];
  });
}

/** A value and the rules of its comparison; undefined when it does not exist. */
type Comparable =
  | { rules: 'email'; value: string }
  | { rules: 'boolean'; value: boolean }
  | { rules: 'moment'; micros: bigint }
  | { rules: 'json'; value: unknown }
  | undefined;

function valueOf(field: string, contact: EvaluatedContact, world: EvaluationWorld): Comparable {
  if (field.startsWith('event.')) return jsonValue(find(world.eventContext, field.slice(6).split('.')));
  const name = field.replace(/^contact\./, '');
  if (name === 'email') return { rules: 'email', value: contact.email };
  if (name === 'subscribed') return { rules: 'boolean', value: contact.subscribed };
  if (name === 'createdAt') return { rules: 'moment', micros: BigInt(contact.createdAt.getTime()) * 1000n };
  if (name === 'updatedAt') return { rules: 'moment', micros: BigInt(contact.updatedAt.getTime()) * 1000n };
  if (name.startsWith('topic.')) {
    const key = name.slice('topic.'.length);
    return { rules: 'boolean', value: contact.topics[key] ?? world.topics?.[key] ?? false };
  }
  return jsonValue(find(contact.data, name.slice('data.'.length).split('.')));
}

function jsonValue(value: unknown): Comparable {
  return value === undefined || value === null ? undefined : { rules: 'json', value };
}

/** Tries the longest key first: a path of n keys, then n - 1 of them joined by dots, and so on. */
function find(node: unknown, keys: string[]): unknown {
  if (keys.length === 0) return node;
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return undefined;
  const own = new Map<string, unknown>(Object.entries(node));
  for (let taken = keys.length; taken > 0; taken -= 1) {
    const found = find(own.get(keys.slice(0, taken).join('.')), keys.slice(taken));
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function matchesValue(filter: Filter, stored: Comparable, asOf: Date): boolean {
  const wanted = filter.value;
  switch (filter.operator) {
    case 'exists':
      return stored !== undefined;
    case 'notExists':
      return stored === undefined;
    case 'equals':
      return stored !== undefined && isEqual(stored, wanted);
    case 'notEquals':
      return stored !== undefined && !isEqual(stored, wanted);
    case 'contains':
      return stored !== undefined && containsValue(stored, wanted);
    case 'notContains':
      return stored !== undefined && !containsValue(stored, wanted);
    case 'within': {
      const micros = momentOf(stored);
      const start = BigInt(Math.round(windowStartMs(filter, asOf))) * 1000n;
      return micros !== undefined && micros >= start && micros <= BigInt(asOf.getTime()) * 1000n;
    }
    case 'olderThan': {
      const micros = momentOf(stored);
      return micros !== undefined && micros < BigInt(Math.round(windowStartMs(filter, asOf))) * 1000n;
    }
    default: {
      const order = stored === undefined ? undefined : compare(stored, wanted);
      if (order === undefined) return false;
      if (filter.operator === 'greaterThan') return order > 0;
      if (filter.operator === 'greaterThanOrEqual') return order >= 0;
      if (filter.operator === 'lessThan') return order < 0;
      return order <= 0;
    }
  }
}

function isEqual(stored: NonNullable<Comparable>, wanted: unknown): boolean {
  if (stored.rules === 'email') return stored.value === String(wanted).toLowerCase().trim();
  if (stored.rules === 'boolean') return stored.value === wanted;
  if (typeof wanted === 'string' && readSpan(wanted) !== undefined) {
    const micros = momentOf(stored);
    return micros !== undefined && compareToSpan(micros, wanted) === 0;
  }
  return stored.rules === 'json' && canonical(stored.value) === canonical(wanted);
}

function containsValue(stored: NonNullable<Comparable>, wanted: unknown): boolean {
  if (stored.rules === 'email') return stored.value.includes(String(wanted).toLowerCase());
  if (stored.rules !== 'json') return false;
  if (Array.isArray(stored.value)) return stored.value.some((element) => element === wanted);
  if (typeof stored.value !== 'string' || typeof wanted !== 'string') return false;
  return stored.value.toLowerCase().includes(wanted.toLowerCase());
}

/** Negative, zero or positive; undefined for values that cannot be compared. */
function compare(stored: NonNullable<Comparable>, wanted: unknown): number | undefined {
  if (stored.rules === 'email') return compareText(stored.value, String(wanted).toLowerCase());
  const micros = momentOf(stored);
  if (micros !== undefined && typeof wanted === 'string') {
    const order = compareToSpan(micros, wanted);
    if (order !== undefined) return order;
  }
  if (stored.rules !== 'json') return undefined;
  if (typeof stored.value === 'number' && typeof wanted === 'number') return stored.value - wanted;
  if (typeof stored.value === 'string' && typeof wanted === 'string') return compareText(stored.value, wanted);
  return undefined;
}

function compareText(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** JSON text with sorted keys, so that equal values have equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`);
  return `{${entries.sort().join(',')}}`;
}

function momentOf(stored: Comparable): bigint | undefined {
  if (stored?.rules === 'moment') return stored.micros;
  return stored?.rules === 'json' && typeof stored.value === 'string' ? readSpan(stored.value)?.start : undefined;
}

const DAY_MICROS = 86_400_000_000n;

/** Compares a moment with a date, which is a span of 24 hours, or with another moment. */
function compareToSpan(micros: bigint, text: string): number | undefined {
  const span = readSpan(text);
  if (span === undefined) return undefined;
  if (micros < span.start) return -1;
  return micros > span.last ? 1 : 0;
}

function readSpan(text: string): { start: bigint; last: bigint } | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):?(\d\d)))?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '0', sign, offsetHour = '0', offsetMinute = '0'] =
    match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day) || Number(year) === 0)
    return undefined;
  const start = BigInt(date.getTime()) * 1000n;
  if (hour === undefined) return { start, last: start + DAY_MICROS - 1n };
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hours > 23 || minutes > 59 || seconds > 59 || Number(offsetHour) > 14 || Number(offsetMinute) > 59)
    return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  const ofDay = (hours * 3600 + (minutes - offset) * 60 + seconds) * 1_000_000;
  const moment = start + BigInt(ofDay) + BigInt(Math.round(Number(`0.${fraction}`) * 1_000_000));
  return { start: moment, last: moment };
}
