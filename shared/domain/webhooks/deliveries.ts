import { uuidV7 } from '../../platform/uuid.ts';
import { DAY_MS } from '../../pure/days.ts';
import { AppError, badRequest, validationError } from '../../pure/app-error.ts';
import { TEST_EVENT } from '../../pure/webhooks/event-patterns.ts';
import { deliveryStatus } from '../../database/constants.ts';
import { columnsOf, joinSql, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { date, nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { outboxInsert } from '../../durable/outbox/outbox.ts';
import { findEndpoint } from './endpoints.ts';
import { loadEvents, messageIdOf, payloadOf, SOURCE_OF_EVENTS, TEST_SOURCE, type EventRef } from './hook-events.ts';

export const DELIVERY_STATUSES = ['RETRYING', 'DELIVERED', 'FAILED'] as const;

/** The delivery of one event, or of several events in one request, to an endpoint. */
const WEBHOOK_DELIVERY = {
  id: tables.webhookDelivery.id,
  /** The id and the name of the first event. */
  eventId: tables.webhookDelivery.eventId,
  ...pick(tables.webhookDelivery, 'eventName', 'eventCount', 'eventAt', 'contactId', 'status', 'attempts'),
  ...pick(tables.webhookDelivery, 'statusCode', 'error', 'durationMs', 'retryAt', 'createdAt', 'updatedAt'),
};
export type WebhookDelivery = RowOf<typeof WEBHOOK_DELIVERY>;

/** The place of a delivery in the list. */
export type ListPlace = Omit<EventRef, 'no'>;

export interface DeliveryQuery {
  limit: number;
  status?: WebhookDelivery['status'] | undefined;
  after?: ListPlace | undefined;
}

/** One page of an endpoint's deliveries, by their events, newest first. @throws AppError WEBHOOK_NOT_FOUND */
export async function listDeliveries(
  em: Em,
  projectId: string,
  endpointId: string,
  { limit, status, after }: DeliveryQuery,
): Promise<{ deliveries: WebhookDelivery[]; next: ListPlace | undefined }> {
  await findEndpoint(em, projectId, endpointId);
  const filters = [sql`endpoint_id = ${endpointId}`];
  if (status !== undefined) filters.push(sql`status = ${status}`);
  if (after) {
    filters.push(
      sql`(event_at, source, event_id) < (${after.at}::timestamptz, ${after.source}::int, ${after.id}::uuid)`,
    );
  }
  const rows = await query(
    em,
    sql`
      select ${columnsOf(WEBHOOK_DELIVERY)},
        to_char(event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, source
      from webhook_delivery where ${joinSql(filters, ' and ')}
      order by event_at desc, source desc, event_id desc limit ${limit + 1}`,
    { ...WEBHOOK_DELIVERY, at: text, source: tables.webhookDelivery.source },
  );
  const deliveries = rows.slice(0, limit);
  const last = deliveries.at(-1);
  const hasMore = rows.length > limit && last;
  return { deliveries, next: hasMore ? { at: last.at, source: last.source, id: last.eventId } : undefined };
}

/** A delivery, and the request of its first event as it is built for each attempt. */
export interface FoundDelivery {
  delivery: WebhookDelivery;
  /** The id of the message; null where it had several events. */
  messageId: string | null;
  /** Null where the event is gone. */
  payload: ReturnType<typeof payloadOf> | null;
}

/** Finds one delivery. The request is not stored: it is built again from its event. @throws AppError WEBHOOK_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function findDelivery(em: Em, projectId: string, endpointId: string, id: string): Promise<FoundDelivery> {
  await findEndpoint(em, projectId, endpointId);
  const row = await queryOne(
    em,
    sql`
      select ${columnsOf(WEBHOOK_DELIVERY)}, event_at::text as at, source
      from webhook_delivery where endpoint_id = ${endpointId} and id = ${id}`,
    { ...WEBHOOK_DELIVERY, at: text, source: tables.webhookDelivery.source },
  );
  if (!row) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Delivery not found' });
  const { at, source, ...delivery } = row;
  const ref = { no: null, at, source, id: delivery.eventId };
  const [event] = await loadEvents(em, projectId, [ref]);
  const messageId = delivery.eventCount === 1 ? messageIdOf(endpointId, [ref]) : null;
  return { delivery, messageId, payload: event ? payloadOf(event) : null };
}

const OF_EMAIL_MAX = 100;

/** The requests whose first event is about an email, the latest first. They are found by its contact. */
export async function listEmailDeliveries(
  em: Em,
  projectId: string,
  { id, contactId }: { id: string; contactId: string | null },
): Promise<(WebhookDelivery & { endpointId: string })[]> {
  if (contactId === null) return [];
  return query(
    em,
    sql`
      select ${columnsOf(WEBHOOK_DELIVERY, 'd')}, d.endpoint_id as "endpointId"
      from webhook_delivery d join webhook_endpoint n on n.id = d.endpoint_id
      where d.contact_id = ${contactId} and n.project_id = ${projectId} and d.source = ${SOURCE_OF_EVENTS}
        and d.event_id in (select v.id from event v where v.contact_id = ${contactId} and v.email_id = ${id})
      order by d.event_at desc limit ${OF_EMAIL_MAX}`,
    { ...WEBHOOK_DELIVERY, endpointId: tables.webhookDelivery.endpointId },
  );
}

/**
 * Queues a test event for an endpoint.
 * @returns the id of the delivery
 * @throws AppError WEBHOOK_NOT_FOUND, CONFLICT when the endpoint is disabled
 */
export async function sendTestEvent(em: Em, projectId: string, endpointId: string): Promise<string> {
  const endpoint = await findEndpoint(em, projectId, endpointId);
  if (!endpoint.enabled) {
    throw new AppError('CONFLICT', { message: 'The webhook endpoint is disabled; enable it first' });
  }
  const id = uuidV7();
  await query(
    em,
    sql`
      with test as (
        insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, retry_at)
        values (${id}, ${endpointId}, clock_timestamp(), ${TEST_SOURCE}, ${uuidV7()}, ${TEST_EVENT}, ${deliveryStatus.RETRYING}, now())
      ),
      due as (update webhook_endpoint set retry_at = null, wake_at = now(), parked_at = now() where id = ${endpointId})
      ${outboxInsert('webhook', projectId, [endpointId])}`,
  );
  return id;
}

export interface ReplayRequest {
  /** Replays events from this moment on. */
  since?: Date | undefined;
  /** Replays this event and all after it. */
  eventId?: string | undefined;
  /** The days for which events are kept; 0 means for ever. */
  retentionDays: number;
}

function replayFault(field: string, message: string): AppError {
  return validationError([{ field, message, code: 'invalid_value' }]);
}

/** The number right before the first event that is replayed. */
async function findReplayStart(em: Em, projectId: string, request: ReplayRequest): Promise<string> {
  const { since, eventId, retentionDays } = request;
  if (eventId !== undefined) return beforeEvent(em, projectId, eventId);
  if (!since) throw badRequest('Either since or eventId is required');
  if (since.getTime() > Date.now()) throw replayFault('since', 'This moment is in the future');
  if (retentionDays !== 0 && since.getTime() < Date.now() - retentionDays * DAY_MS) {
    throw replayFault('since', `Events are kept for ${retentionDays} days, and this moment is earlier`);
  }
  const row = await queryOne(em, sql`select everpost_feed_no_before(${projectId}, ${since})::text as no`, { no: text });
  return row?.no ?? '0';
}

/** The event is looked for from the time of its transaction on, and in the whole feed if the clock was set back since. */
async function beforeEvent(em: Em, projectId: string, eventId: string): Promise<string> {
  const event = await queryOne(
    em,
    sql`
      select (coalesce(
        (select f.no from webhook_feed f
         where f.project_id = e.project_id and f.no > everpost_feed_no_before(e.project_id, e.recorded_at)
           and f.source = ${SOURCE_OF_EVENTS} and f.id = e.id order by f.no limit 1),
        (select f.no from webhook_feed f
         where f.project_id = e.project_id and f.source = ${SOURCE_OF_EVENTS} and f.id = e.id order by f.no limit 1)
      ) - 1)::text as no
      from event e where e.id = ${eventId} and e.project_id = ${projectId}`,
    { no: nullable(text) },
  );
  if (!event) throw replayFault('eventId', 'There is no such event, or it is no longer kept');
  if (event.no === null) {
    throw replayFault('eventId', 'This event is from before the first webhook of the project and cannot be replayed');
  }
  return event.no;
}

/**
 * Locks an endpoint. @returns the number from which a replay sets it going: the start if the endpoint is beyond it. Else
 * the number before its own, which differs from that, so that a page that is being delivered does not move it on.
 */
async function lockReplayPosition(em: Em, endpointId: string, start: string): Promise<string> {
  const row = await queryOne(
    em,
    sql`
      select case when cursor_no > ${start}::bigint then ${start}::bigint else cursor_no - 1 end::text as no
      from webhook_endpoint where id = ${endpointId} for no key update`,
    { no: text },
  );
  return row?.no ?? start;
}

/**
 * Delivers all events from a moment or an event on once more: moves the endpoint's position back. Events that are being
 * delivered are delivered once more, too.
 * @returns the moment from which the events are delivered
 * @throws AppError WEBHOOK_NOT_FOUND, VALIDATION_ERROR for a moment or an event that is no longer kept
 */
export async function replay(em: Em, projectId: string, endpointId: string, request: ReplayRequest): Promise<Date> {
  await findEndpoint(em, projectId, endpointId);
  const start = await findReplayStart(em, projectId, request);
  return inTransaction(em, async (tx) => {
    const position = await lockReplayPosition(tx, endpointId, start);
    const row = await queryOne(
      tx,
      sql`
        with moved as (
          update webhook_endpoint
          set cursor_no = ${position}::bigint, retry_at = null, wake_at = now(),
            news_no = greatest(news_no, (select settled_no from webhook_horizon))
          where id = ${endpointId}
        ),
        unparked as (
          update webhook_delivery set retry_at = null
          where endpoint_id = ${endpointId} and retry_at is not null and no > ${position}::bigint
        ),
        woken as (${outboxInsert('webhook', projectId, [endpointId])})
        select min(at) as at from (
          select at from webhook_feed where project_id = ${projectId} and no > ${start}::bigint order by no limit 1
        ) f`,
      { at: nullable(date) },
    );
    return request.since ?? row?.at ?? new Date();
  });
}
