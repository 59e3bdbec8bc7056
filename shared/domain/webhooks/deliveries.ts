import { MAX, NIL, v7 as uuidV7 } from 'uuid';
import { AppError, badRequest, validationError } from '../../pure/app-error.ts';
import { bytesToUuid } from '../../platform/uuid-bytes.ts';
import { TEST_EVENT } from '../../pure/webhooks/event-patterns.ts';
import type { Em } from '../database/em.ts';
import { joinSql, query, queryOne, sql } from '../database/sql.ts';
import { inTransaction } from '../database/transaction.ts';
import { outboxInsert } from '../outbox/outbox.ts';
import { findEndpoint } from './endpoints.ts';
import { TEST_SOURCE, type EventPosition } from './hook-events.ts';

export const DELIVERY_STATUSES = ['RETRYING', 'DELIVERED', 'FAILED'] as const;

/** The delivery of one event, or of several events in one request, to an endpoint. */
export interface WebhookDelivery {
  id: string;
  /** The id and the name of the first event. */
  eventId: string;
  eventName: string;
  eventCount: number;
  eventAt: Date;
  contactId: string | null;
  status: (typeof DELIVERY_STATUSES)[number];
  attempts: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number | null;
  retryAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface DeliveryQuery {
  limit: number;
  status?: WebhookDelivery['status'] | undefined;
  after?: EventPosition | undefined;
}

/** One page of an endpoint's deliveries, by their events, newest first. @throws AppError WEBHOOK_NOT_FOUND */
export async function listDeliveries(
  em: Em,
  projectId: string,
  endpointId: string,
  { limit, status, after }: DeliveryQuery,
): Promise<{ deliveries: WebhookDelivery[]; next: EventPosition | undefined }> {
  await findEndpoint(em, projectId, endpointId);
  const filters = [sql`endpoint_id = ${endpointId}`];
  if (status !== undefined) filters.push(sql`status = ${status}`);
  if (after) {
    filters.push(
      sql`(event_at, source, event_id) < (${after.at}::timestamptz, ${after.source}::int, ${after.id}::uuid)`,
    );
  }
  const rows = await query<WebhookDelivery & { at: string; source: number }>(
    em,
    sql`
      select id, event_id as "eventId", event_name as "eventName", event_count as "eventCount", event_at as "eventAt",
        contact_id as "contactId", status, attempts, status_code as "statusCode", error, duration_ms as "durationMs",
        retry_at as "retryAt", created_at as "createdAt", updated_at as "updatedAt",
        to_char(event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, source
      from webhook_delivery where ${joinSql(filters, ' and ')}
      order by event_at desc, source desc, event_id desc limit ${limit + 1}`,
  );
  const deliveries = rows.slice(0, limit);
  const last = deliveries.at(-1);
  const hasMore = rows.length > limit && last;
  return { deliveries, next: hasMore ? { at: last.at, source: last.source, id: last.eventId } : undefined };
}

/**
 * Queues a test event for an endpoint. The caller wakes the dispatcher.
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
        values (${id}, ${endpointId}, clock_timestamp(), ${TEST_SOURCE}, ${uuidV7()}, ${TEST_EVENT}, 'RETRYING', now())
      ),
      due as (update webhook_endpoint set retry_at = null, wake_at = now() where id = ${endpointId})
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

const DAY_MS = 24 * 60 * 60_000;

/** The error for a field of a replay request. */
function replayFault(field: string, message: string): AppError {
  return validationError([{ field, message, code: 'invalid_value' }]);
}

/** The position right before the first event that is replayed. */
async function findReplayStart(em: Em, projectId: string, request: ReplayRequest): Promise<EventPosition> {
  const { since, eventId, retentionDays } = request;
  if (eventId !== undefined) {
    const event = await queryOne<{ at: string | null }>(
      em,
      sql`select recorded_at::text as at from event where id = ${eventId} and project_id = ${projectId}`,
    );
    if (!event) throw replayFault('eventId', 'There is no such event, or it is no longer kept');
    if (event.at === null) throw replayFault('eventId', 'This event is from before webhooks and cannot be replayed');
    return positionBefore({ at: event.at, source: 0, id: eventId });
  }
  if (!since) throw badRequest('Either since or eventId is required');
  if (since.getTime() > Date.now()) throw replayFault('since', 'This moment is in the future');
  if (retentionDays !== 0 && since.getTime() < Date.now() - retentionDays * DAY_MS) {
    throw replayFault('since', `Events are kept for ${retentionDays} days, and this moment is earlier`);
  }
  return positionBefore({ at: since.toISOString(), source: 0, id: NIL });
}

/** The greatest id that is less than `id`. */
function idBefore(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return bytesToUuid(Buffer.from(digits, 'hex'));
}

/** The greatest position before another one. */
function positionBefore({ at, source, id }: EventPosition): EventPosition {
  if (id === NIL) return { at, source: source - 1, id: MAX };
  return { at, source, id: idBefore(id) };
}

/**
 * Locks an endpoint. @returns the position from which a replay sets it going: the start if the endpoint is beyond it. Else
 * an event before its own position, which differs from that, so that a page that is being delivered does not move it on.
 */
async function lockReplayPosition(em: Em, endpointId: string, start: EventPosition): Promise<EventPosition> {
  const endpoint = await queryOne<EventPosition & { isBeyond: boolean }>(
    em,
    sql`
      select cursor_at::text as at, cursor_source as source, cursor_id as id,
        (cursor_at, cursor_source::int, cursor_id) > (${start.at}::timestamptz, ${start.source}::int, ${start.id}::uuid)
          as "isBeyond"
      from webhook_endpoint where id = ${endpointId} for no key update`,
  );
  return endpoint && !endpoint.isBeyond ? positionBefore(endpoint) : start;
}

/**
 * Delivers all events from a moment or an event on once more: moves the endpoint's position back. Events that are being
 * delivered are delivered once more, too. The caller wakes the dispatcher.
 * @returns the moment from which the events are delivered
 * @throws AppError WEBHOOK_NOT_FOUND, VALIDATION_ERROR for a moment or an event that is no longer kept
 */
export async function replay(em: Em, projectId: string, endpointId: string, request: ReplayRequest): Promise<Date> {
  await findEndpoint(em, projectId, endpointId);
  const start = await findReplayStart(em, projectId, request);
  return inTransaction(em, async (tx) => {
    const position = await lockReplayPosition(tx, endpointId, start);
    const row = await queryOne<{ at: Date }>(
      tx,
      sql`
        with moved as (
          update webhook_endpoint
          set cursor_at = ${position.at}::timestamptz, cursor_source = ${position.source}, cursor_id = ${position.id},
            retry_at = null, wake_at = now()
          where id = ${endpointId}
        ),
        unparked as (
          update webhook_delivery set retry_at = null
          where endpoint_id = ${endpointId} and retry_at is not null and source <> ${TEST_SOURCE}
            and (event_at, source::int, event_id) > (${position.at}::timestamptz, ${position.source}::int, ${position.id}::uuid)
        ),
        woken as (${outboxInsert('webhook', projectId, [endpointId])})
        select ${start.at}::timestamptz as at`,
    );
    return row?.at ?? new Date(start.at);
  });
}
