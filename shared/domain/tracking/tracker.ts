import { activeTraceParent } from '../../platform/tracing/spans.ts';
import { json } from '../../database/sql.ts';
import { createProjectWriter, type ProjectWriterDeps } from '../../database/project-writer.ts';
import type { Event } from '../events/event.ts';
import type { IdempotencyClaim } from '../idempotency/idempotency.ts';
import { readTrackedEvent, trackEvents, type ReadEvent, type TrackedEvent } from './track.ts';

/**
 * Takes a tracked event, and the claim of its request; resolves with the event when it is stored.
 * @throws what `trackEvents` throws
 */
export type Tracker = (tracked: TrackedEvent, claim?: IdempotencyClaim) => Promise<Event>;

/**
 * A statement of 64 events costs PostgreSQL 0.16 ms an event, a statement of one 2.0 ms; larger ones save little more.
 */
const EVENTS_MAX = 64;

/**
 * Creates a tracker that stores the events of a project that arrive together by one statement and one commit. An event
 * that arrives alone is stored at once.
 */
export function createTracker(writes: ProjectWriterDeps): Tracker {
  const add = createProjectWriter<ReadEvent, Event>({
    ...writes,
    write: trackEvents,
    itemsMax: EVENTS_MAX,
    octetsOf: ({ event }) => json(event.data).length,
    keysOf: ({ email }) => [email],
  });
  return async (tracked, claim) => add({ ...readTrackedEvent(tracked), claim, traceParent: activeTraceParent() });
}
