import { uuidV7 } from '../../platform/uuid.ts';
import { AppError, tooLarge } from '../../pure/app-error.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { ruledPatch, type PublicKeyRules } from '../../pure/public-key-rules.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { TopicChoices } from '../../pure/topics.ts';
import { setTrackingAllowed } from '../contacts/contact-choices.ts';
import { upsertContactRows, type ContactRow, type UpsertedContact } from '../contacts/contacts.ts';
import { json, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { date } from '../../database/tables.ts';
import { changesOf, changeTopics, findTopicIds } from '../topics/topic-choices.ts';
import { throwTooManyEventNames } from '../events/events.ts';
import { settleIdempotencyKeys, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { recordedEvents } from '../events/recorded-events.ts';
import type { Event } from '../events/event.ts';
import { keepTracesOf } from '../../durable/outbox/trace-contexts.ts';

export interface TrackedEvent {
  projectId: string;
  /** A normalised address. */
  email: string;
  name: string;
  subscribed?: boolean;
  topics?: TopicChoices;
  /** Whether the contact agrees to the recording of opens and clicks. */
  trackingAllowed?: boolean;
  data?: Record<string, unknown>;
  /** What a request with the public key may do, where the project limits that. */
  rules?: PublicKeyRules | null;
  /** The kind of key of its request. */
  key: 'public' | 'secret';
}

const CAUSES = {
  public: { reason: 'track', key: 'public' },
  secret: { reason: 'track', key: 'secret' },
} as const;

/** Passes the data of an event on. @throws AppError VALIDATION_ERROR for more than an event may hold */
function checkedEventData(values: Record<string, unknown>): Record<string, unknown> {
  if (jsonBytes(values, LIMITS.eventDataBytes) > LIMITS.eventDataBytes) {
    throw tooLarge('data', `An event may have at most ${LIMITS.eventDataBytes} bytes of data`);
  }
  return values;
}

/** A tracked event, read and checked as far as is possible without the database. */
export interface ReadEvent extends ContactRow {
  projectId: string;
  event: NonNullable<ContactRow['event']>;
  topics?: TopicChoices | undefined;
  trackingAllowed?: boolean | undefined;
  /** The claim of its request's idempotency key. */
  claim?: IdempotencyClaim | undefined;
  /** The trace of its request, if it has one. */
  traceParent?: string | undefined;
}

/**
 * Reads what a tracked event does to its contact. The event keeps all values of `data`, the contact only the persistent
 * ones. A new contact is subscribed unless `subscribed` says otherwise. A visitor whom the rules do not let subscribe
 * again what has opted out does not join a topic again that the contact has left either.
 * @throws AppError VALIDATION_ERROR for more data than an event may hold
 */
export function readTrackedEvent(tracked: TrackedEvent): ReadEvent {
  const { projectId, email, name, subscribed, topics, trackingAllowed, data, rules, key } = tracked;
  const patch = readDataPatch(data);
  const event = { id: uuidV7(), name, data: checkedEventData(patch.values) };
  const row = { projectId, email, subscribedDefault: true, cause: CAUSES[key], event };
  if (!rules) return { ...row, subscribed, topics, trackingAllowed, patch };
  return {
    ...row,
    ...(rules.subscribed && { subscribed, topics, trackingAllowed }),
    keepsOptOut: !rules.resubscribe,
    patch: ruledPatch(rules, patch),
  };
}

/**
 * Creates or updates contacts, records an event of each, settles the keys of their requests and stores their traces:
 * all of it, or nothing.
 * @param read events of one project, at most one of each contact
 * @param lockMs the longest wait for a lock; that of the session when left out
 * @returns the events in the order of `read`
 * @throws AppError VALIDATION_ERROR for more data than a contact, or more event names than a project, may have;
 *   IDEMPOTENCY_KEY_REUSED for a claim that was lost
 */
export async function trackEvents(em: Em, read: ReadEvent[], lockMs?: number): Promise<Event[]> {
  const projectId = read[0]?.projectId ?? '';
  const claims = read.flatMap(({ claim }) => claim ?? []);
  const write = async (unitOfWork: Em) => {
    const contacts = await upsertContactRows(unitOfWork, projectId, read, lockMs);
    await chooseTrackedTopics(unitOfWork, projectId, read, contacts);
    await chooseTracking(unitOfWork, projectId, read, contacts);
    await settleIdempotencyKeys(unitOfWork, claims, 200);
    await keepTracesOf(
      unitOfWork,
      read.map(({ traceParent, event }) => ({ traceParent, subjectIds: [event.id] })),
    );
    return contacts;
  };
  const isOneStatement =
    claims.length === 0 &&
    read.every((row) => (row.subscribed ?? row.topics ?? row.trackingAllowed ?? row.traceParent) === undefined);
  const writing = isOneStatement ? write(em) : inTransaction(em, write);
  const contacts = await writing.catch((error: unknown) => throwTooManyEventNames(error, 'event'));
  return contacts.map((contact, index) => eventOf(projectId, contact, read[index]));
}

/** Stores the choices of tracked events, those with the same cause and rules together. */
async function chooseTrackedTopics(
  em: Em,
  projectId: string,
  read: readonly ReadEvent[],
  contacts: readonly UpsertedContact[],
): Promise<void> {
  const keys = new Set(read.flatMap(({ topics = {} }) => Object.keys(topics)));
  if (keys.size === 0) return;
  const ids = await findTopicIds(em, projectId, [...keys]);
  const kinds = Object.values(CAUSES).flatMap((cause) => [
    { cause, keepsLeft: false },
    { cause, keepsLeft: true },
  ]);
  for (const { cause, keepsLeft } of kinds) {
    const changes = contacts.flatMap(({ id }, index) => {
      const row = read[index];
      const isOfKind = row?.cause === cause && (row.keepsOptOut ?? false) === keepsLeft;
      return isOfKind ? changesOf(id, row.topics ?? {}, ids) : [];
    });
    await changeTopics(em, projectId, changes, cause, { keepsLeft });
  }
}

/** Stores what tracked events say about tracking. Their contacts are locked already. */
async function chooseTracking(
  em: Em,
  projectId: string,
  read: readonly ReadEvent[],
  contacts: readonly UpsertedContact[],
): Promise<void> {
  for (const [index, { id, trackingAllowed: before }] of contacts.entries()) {
    const { trackingAllowed, cause, keepsOptOut } = read[index] ?? {};
    const isKept = keepsOptOut && before === false;
    if (trackingAllowed !== undefined && cause && !isKept)
      await setTrackingAllowed(em, projectId, [id], trackingAllowed, { cause });
  }
}

function eventOf(projectId: string, { id: contactId, eventId, eventAt }: UpsertedContact, read?: ReadEvent): Event {
  if (!read || !eventId || !eventAt) throw new AppError('INTERNAL_SERVER_ERROR');
  const { name, data } = read.event;
  return { id: eventId, projectId, contactId, emailId: null, name, data, createdAt: eventAt };
}

/** As `trackEvents`, for one event. */
export async function trackEvent(em: Em, tracked: TrackedEvent): Promise<Event> {
  const [event] = await trackEvents(em, [readTrackedEvent(tracked)]);
  if (!event) throw new AppError('INTERNAL_SERVER_ERROR');
  return event;
}

export interface NamedEvent {
  projectId: string;
  name: string;
  /** When left out, the event has no contact. */
  contactId?: string;
  data?: Record<string, unknown>;
}

/** Records an event without changing its contact. @throws AppError CONTACT_NOT_FOUND, VALIDATION_ERROR */
export async function recordNamedEvent(em: Em, event: NamedEvent): Promise<Event> {
  const { projectId, name, contactId } = event;
  const id = uuidV7();
  const data = checkedEventData(readDataPatch(event.data).values);
  const source =
    contactId === undefined
      ? sql`(select null::uuid as id) as c`
      : sql`(select id from contact where project_id = ${projectId} and id = ${contactId} for key share) as c`;
  const row = await queryOne(
    em,
    sql`
      with ${recordedEvents(sql`
        select ${id}::uuid, ${projectId}::uuid, c.id, null::uuid, ${name}, ${json(data)}::jsonb, now() from ${source}`)}
      select created_at from recorded`,
    { created_at: date },
  ).catch((error: unknown) => throwTooManyEventNames(error, 'name'));
  if (!row) throw new AppError('CONTACT_NOT_FOUND');
  return { id, projectId, contactId: contactId ?? null, emailId: null, name, data, createdAt: row.created_at };
}
