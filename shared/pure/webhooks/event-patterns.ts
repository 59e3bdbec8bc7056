import { EVENT_OF_ACTIVITY } from '../activity-types.ts';
import { isReservedEventName } from '../events/reserved-events.ts';

/** What happens to campaigns and executions, and is told to endpoints as events are. */
export const RECORD_EVENTS = [
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
  'workflow.failed',
  'workflow.cancelled',
  'workflow.refused',
] as const;

/** The event of a test that an endpoint asks for. */
export const TEST_EVENT = 'webhook.test';
/** The event that tells a project's other endpoints of one that was disabled. */
export const DISABLED_EVENT = 'webhook.disabled';

/** The names of Everpost's own events, but for those of segments, which have the segment's name in theirs. */
export const OWN_EVENTS: readonly string[] = [...Object.values(EVENT_OF_ACTIVITY), ...RECORD_EVENTS, DISABLED_EVENT];

const OWN_PREFIXES = ['email.', 'contact.', 'segment.', 'campaign.', 'workflow.', 'webhook.'];

/** Whether a pattern, in which `*` stands for any text, names an event. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const tail = rest.pop() ?? '';
  if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false;
  let place = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, place);
    if (found === -1 || found + part.length > name.length - tail.length) return false;
    place = found + part.length;
  }
  return true;
}

/** The pattern for LIKE. */
export function likePattern(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

/** Whether Everpost itself can record an event that a pattern names. */
function isOwn(pattern: string): boolean {
  if (OWN_EVENTS.some((name) => matchesPattern(pattern, name))) return true;
  if (!pattern.startsWith('segment.')) return false;
  return pattern.endsWith('*') || isReservedEventName(pattern);
}

/** Everpost's own events that begin as a pattern does, up to its first dot. */
export function ownEventsBeside(pattern: string): string[] {
  const prefix = pattern.slice(0, pattern.indexOf('.') + 1);
  if (prefix === 'segment.') return ['segment.<name>.entry', 'segment.<name>.exit'];
  return OWN_EVENTS.filter((name) => name.startsWith(prefix));
}

/**
 * The patterns that name nothing Everpost knows although they begin like its own events. Those that begin otherwise name
 * events that a project tracks, which may be tracked for the first time tomorrow.
 */
export function unknownPatterns(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => OWN_PREFIXES.some((prefix) => pattern.startsWith(prefix)) && !isOwn(pattern));
}
