import { EVENT_OF_ACTIVITY } from '../activity-types.ts';
import { isReservedEventName } from '../events/reserved-events.ts';

/** Changes of campaigns and executions. They are not stored as events, but webhook endpoints receive them as such. */
export const RECORD_EVENTS = [
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
  'workflow.failed',
  'workflow.cancelled',
  'workflow.refused',
] as const;

/** The event of a requested test of an endpoint. */
export const TEST_EVENT = 'webhook.test';
/** The event that tells a project's other endpoints that one endpoint was disabled. */
export const DISABLED_EVENT = 'webhook.disabled';

/** The names of Everpost's own events, except those of segments, which contain the segment's name. */
export const OWN_EVENTS: readonly string[] = [...Object.values(EVENT_OF_ACTIVITY), ...RECORD_EVENTS, DISABLED_EVENT];

const OWN_PREFIXES = ['email.', 'contact.', 'segment.', 'campaign.', 'workflow.', 'webhook.'];

/** Whether a pattern matches the name of an event. `*` stands for any text. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const tail = rest.pop() ?? '';
  if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false;
  let searchFrom = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, searchFrom);
    if (found === -1 || found + part.length > name.length - tail.length) return false;
    searchFrom = found + part.length;
  }
  return true;
}

/** The same pattern for LIKE in SQL, with backslash as the escape character. */
export function likePattern(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

/** Whether a pattern can match one of Everpost's own events. */
function isOwn(pattern: string): boolean {
  if (OWN_EVENTS.some((name) => matchesPattern(pattern, name))) return true;
  if (!pattern.startsWith('segment.')) return false;
  return pattern.endsWith('*') || isReservedEventName(pattern);
}

/** Everpost's own events with the same prefix, up to the first dot, as a pattern. */
export function ownEventsBeside(pattern: string): string[] {
  const prefix = pattern.slice(0, pattern.indexOf('.') + 1);
  if (prefix === 'segment.') return ['segment.<name>.entry', 'segment.<name>.exit'];
  return OWN_EVENTS.filter((name) => name.startsWith(prefix));
}

/**
 * The patterns that begin like Everpost's own events but match none of them. Other patterns are for tracked events,
 * whose names need not have been used yet.
 */
export function unknownPatterns(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => OWN_PREFIXES.some((prefix) => pattern.startsWith(prefix)) && !isOwn(pattern));
}
