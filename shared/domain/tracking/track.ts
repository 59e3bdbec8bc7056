import { v7 as uuidV7 } from 'uuid';
import { AppError, tooLarge } from '../../pure/app-error.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import type { Em } from '../database/em.ts';
import { json, queryOne, sql } from '../database/sql.ts';
import { throwTooManyEventNames } from '../events/events.ts';
import { recordedEvents } from '../events/recorded-events.ts';
import type { Event } from '../events/event.entity.ts';
import { inTransaction } from '../database/transaction.ts';

export interface TrackedEvent {
  projectId: string;
  /** A normalised address. */
  email: string;
  name: string;
  subscribed?: boolean;
  data?: Record<string, unknown>;
}

/** The data that an event keeps. @throws AppError VALIDATION_ERROR for more than an event may hold */
function readEventData(data: Record<string, unknown> | undefined): Record<string, unknown> {
  const { values } = readDataPatch(data);
  if (jsonBytes(values, LIMITS.eventDataBytes) > LIMITS.eventDataBytes) {
    throw tooLarge('data', `An event may hold ${LIMITS.eventDataBytes} bytes of data`);
  }
  return values;
}

/**
 * Creates or updates the contact and records the event, both or neither. The event keeps all values of `data`, the
 * contact only the persistent ones. A new contact is subscribed unless `subscribed` says otherwise.
 * @throws AppError VALIDATION_ERROR for more data than an event or the contact may hold, and for a name too many
 */
export async function trackEvent(em: Em, tracked: TrackedEvent): Promise<Event> {
  const { projectId, email, name, subscribed, data } = tracked;
  const eventData = readEventData(data);
  const upsert = (unitOfWork: Em) =>
    upsertContacts(unitOfWork, {
      projectId,
      emails: [email],
      subscribedDefault: true,
      subscribed,
      data,
      event: { name, data: eventData },
    });
  const tracking = subscribed === undefined ? upsert(em) : inTransaction(em, upsert);
  const [contact] = await tracking.catch((error: unknown) => throwTooManyEventNames(error, 'event'));
  if (!contact?.eventId || !contact.eventAt) throw new AppError('INTERNAL_SERVER_ERROR');
  return {
    id: contact.eventId,
    projectId,
    contactId: contact.id,
    emailId: null,
    name,
    data: eventData,
    createdAt: contact.eventAt,
  };
}

export interface NamedEvent {
  projectId: string;
  name: string;
  /** Without one the event belongs to the project alone. */
  contactId?: string;
  data?: Record<string, unknown>;
}

/** Records an event as it is; the contact stays unchanged. @throws AppError CONTACT_NOT_FOUND, VALIDATION_ERROR */
export async function recordNamedEvent(em: Em, event: NamedEvent): Promise<Event> {
  const { projectId, name, contactId } = event;
  const id = uuidV7();
  const data = readEventData(event.data);
  const source =
    contactId === undefined
      ? sql`(select null::uuid as id) as c`
      : sql`(select id from contact where project_id = ${projectId} and id = ${contactId} for key share) as c`;
  const row = await queryOne<{ created_at: Date }>(
    em,
    sql`
      with ${recordedEvents(sql`
        select ${id}::uuid, ${projectId}::uuid, c.id, null::uuid, ${name}, ${json(data)}::jsonb, now() from ${source}`)}
      select created_at from recorded`,
  ).catch((error: unknown) => throwTooManyEventNames(error, 'name'));
  if (!row) throw new AppError('CONTACT_NOT_FOUND');
  return { id, projectId, contactId: contactId ?? null, emailId: null, name, data, createdAt: row.created_at };
}
