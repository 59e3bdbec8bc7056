import { LIMITS } from '../limits.ts';
import { TOPIC_KEY } from '../topics.ts';
import { walkFilters, type Filter, type FilterCondition, type FilterOperator } from './filter-condition.ts';

const EMAIL_ACTIVITIES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'humanOpened',
  'humanClicked',
] as const;
export type EmailActivity = (typeof EMAIL_ACTIVITIES)[number];

/** The fields of a contact, and what each holds: a text, a switch, a moment that was, or one that will be. */
export const STANDARD_FIELDS = {
  email: 'text',
  subscribed: 'switch',
  pending: 'switch',
  pausedUntil: 'future',
  trackingAllowed: 'switch',
  createdAt: 'past',
  updatedAt: 'past',
} as const;
export type StandardField = keyof typeof STANDARD_FIELDS;
/** The type that a caller sees of what a standard field holds. */
export const STANDARD_TYPES = { text: 'string', switch: 'boolean', past: 'date', future: 'date' } as const;

/**
 * System events under `email.` that are filtered by name. An email activity is read from columns of the email instead.
 */
const EMAIL_EVENTS: ReadonlySet<string> = new Set([
  'email.delivery',
  'email.open',
  'email.click',
  'email.bounce',
  'email.complaint',
  'email.received',
]);

const EVENT_OPERATORS: ReadonlySet<FilterOperator> = new Set([
  'triggered',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggered',
  'notTriggeredWithin',
]);
const MEMBER_OPERATORS: ReadonlySet<FilterOperator> = new Set(['memberOfSegment', 'notMemberOfSegment']);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The subject of a filter, which its field and its operator determine together. */
export type FilterTarget =
  | { kind: 'standard'; field: StandardField }
  | { kind: 'topic'; key: string }
  | { kind: 'data'; path: string }
  | { kind: 'context'; path: string }
  | { kind: 'event'; name: string }
  | { kind: 'emailActivity'; activity: EmailActivity }
  | { kind: 'segment'; segmentId: string }
  | { kind: 'unknown'; part: 'field' | 'value'; reason: string };

function unknownTarget(reason: string, part: 'field' | 'value' = 'field'): FilterTarget {
  return { kind: 'unknown', part, reason };
}

/** The rest of a field after a prefix; undefined when the field does not begin with it. */
function afterPrefix(prefix: string, field: string): string | undefined {
  return field.startsWith(prefix) ? field.slice(prefix.length) : undefined;
}

function isStandardField(field: string): field is StandardField {
  return Object.hasOwn(STANDARD_FIELDS, field);
}

function segmentTarget(filter: Filter): FilterTarget {
  const inField = afterPrefix('segment.', filter.field);
  if (inField !== undefined) {
    if (!UUID.test(inField)) return unknownTarget('must name a segment as segment.<id>');
    if (typeof filter.value === 'string' && filter.value.toLowerCase() !== inField.toLowerCase()) {
      return unknownTarget('must be left out, or be the segment that the field names', 'value');
    }
    return { kind: 'segment', segmentId: inField.toLowerCase() };
  }
  if (typeof filter.value !== 'string' || !UUID.test(filter.value))
    return unknownTarget('must be the id of a segment', 'value');
  return { kind: 'segment', segmentId: filter.value.toLowerCase() };
}

function eventTarget(filter: Filter): FilterTarget {
  const { field, operator } = filter;
  const eventName = afterPrefix('event.', field);
  if (eventName === '') return unknownTarget('must name an event after "event."');
  const name = eventName ?? field;
  if (eventName === undefined) {
    if (field.startsWith('data.')) {
      return unknownTarget(`is a field of the contact; ${operator} needs the name of an event, or event.${field}`);
    }
    if (UUID.test(afterPrefix('segment.', field) ?? '')) {
      return unknownTarget(`is a segment; ${operator} needs the name of an event`);
    }
  }
  const activity = afterPrefix('email.', name);
  if (activity === undefined) return { kind: 'event', name };
  const known = EMAIL_ACTIVITIES.find((each) => each === activity);
  if (known !== undefined) return { kind: 'emailActivity', activity: known };
  if (EMAIL_EVENTS.has(name)) return { kind: 'event', name };
  return unknownTarget(`must be one of ${EMAIL_ACTIVITIES.map((each) => `email.${each}`).join(', ')}`);
}

/** Whether a path into custom data has more keys than are read one below the other. */
export function isPathTooLong(path: string): boolean {
  return path.split('.').length > LIMITS.fieldPathKeys;
}

function pathTarget(kind: 'data' | 'context', path: string): FilterTarget {
  if (path === '') return unknownTarget('must name a key after the dot');
  if (isPathTooLong(path)) return unknownTarget(`may name at most ${LIMITS.fieldPathKeys} keys`);
  return { kind, path };
}

function valueTarget(filter: Filter): FilterTarget {
  const { field, operator } = filter;
  const contextPath = afterPrefix('event.', field);
  if (contextPath !== undefined) return pathTarget('context', contextPath);
  const name = afterPrefix('contact.', field) ?? field;
  if (isStandardField(name)) return { kind: 'standard', field: name };
  const dataPath = afterPrefix('data.', name);
  if (dataPath !== undefined) return pathTarget('data', dataPath);
  const key = afterPrefix('topic.', name);
  if (key !== undefined)
    return TOPIC_KEY.test(key) ? { kind: 'topic', key } : unknownTarget('must name a topic as topic.<key>');
  if (field.startsWith('segment.')) return unknownTarget(`is a segment; use memberOfSegment instead of ${operator}`);
  return unknownTarget(
    `is not a field that ${operator} can read; use ${Object.keys(STANDARD_FIELDS).join(', ')}, topic.<key> or data.<key>` +
      ' (or triggered for an event)',
  );
}

/**
 * Reads the subject of one filter. The same text is an event name for the event operators and a field for the others.
 * `event.<path>` with an operator that is not for events is a value of an execution's context.
 */
export function filterTarget(filter: Filter): FilterTarget {
  if (MEMBER_OPERATORS.has(filter.operator)) return segmentTarget(filter);
  if (EVENT_OPERATORS.has(filter.operator)) return eventTarget(filter);
  return valueTarget(filter);
}

/** Collects the references of a condition, for usage reports and for reference checks. */
export function collectReferences(condition: FilterCondition) {
  const fields = new Set<string>();
  const events = new Set<string>();
  const segments = new Set<string>();
  const emailActivities = new Set<EmailActivity>();
  walkFilters(condition, (filter) => {
    const target = filterTarget(filter);
    if (target.kind === 'standard') fields.add(target.field);
    if (target.kind === 'topic') fields.add(`topic.${target.key}`);
    if (target.kind === 'data') fields.add(`data.${target.path}`);
    if (target.kind === 'event') events.add(target.name);
    if (target.kind === 'segment') segments.add(target.segmentId);
    if (target.kind === 'emailActivity') emailActivities.add(target.activity);
  });
  return {
    /** Standard fields by name, topics as `topic.<key>`, custom fields as `data.<path>`, without the prefix `contact.`. */
    fields: [...fields],
    /** Event names, without the prefix `event.`. */
    events: [...events],
    /** Segment ids in lower case. */
    segments: [...segments],
    /** `opened` for `email.opened`, and so on. */
    emailActivities: [...emailActivities],
  };
}
