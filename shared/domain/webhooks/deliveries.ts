import { v7 as uuidV7 } from 'uuid';
import { AppError, badRequest, validationError } from '../../pure/app-error.ts';
import { TEST_EVENT } from '../../pure/webhooks/event-patterns.ts';
import type { Em } from '../database/em.ts';
import { joinSql, query, queryOne, sql } from '../database/sql.ts';
import { outboxInsert } from '../outbox/outbox.ts';
import { findEndpoint } from './endpoints.ts';
import { TEST_SOURCE, type HookPlace } from './hook-events.ts';

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
  after?: HookPlace | undefined;
}

/** One page of an endpoint's deliveries, by their events, newest first. @throws AppError WEBHOOK_NOT_FOUND */
export async function listDeliveries(
  em: Em,
  projectId: string,
  endpointId: string,
  { limit, status, after }: DeliveryQuery,
): Promise<{ deliveries: WebhookDelivery[]; next: HookPlace | undefined }> {
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

/** The place right before the first event that is replayed. */
async function findReplayStart(em: Em, projectId: string, request: ReplayRequest): Promise<HookPlace> {
  const { since, eventId, retentionDays } = request;
  if (eventId !== undefined) {
    const event = await queryOne<{ at: string | null }>(
      em,
      sql`select recorded_at::text as at from event where id = ${eventId} and project_id = ${projectId}`,
    );
    if (!event) throw replayFault('eventId', 'There is no such event, or it is no longer kept');
    if (event.at === null) throw replayFault('eventId', 'This event is from before webhooks and cannot be replayed');
    return { at: event.at, source: 0, id: idBefore(eventId) };
  }
  if (!since) throw badRequest('Either since or eventId is required');
  if (since.getTime() > Date.now()) throw replayFault('since', 'This moment is in the future');
  if (retentionDays !== 0 && since.getTime() < Date.now() - retentionDays * DAY_MS) {
    throw replayFault('since', `Events are kept for ${retentionDays} days, and this moment is earlier`);
  }
  return { at: since.toISOString(), source: -1, id: idBefore('0'.repeat(32)) };
}

/** The greatest id that is less than `id`. The least id, for which there is none, is returned itself. */
function idBefore(id: string): string {
  const value = BigInt(`0x${id.replaceAll('-', '')}`);
  const digits = (value === 0n ? value : value - 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Delivers all events from a moment or an event on once more: moves the endpoint's place back. Changes nothing if the
 * place is before the start, even if a page that is being delivered has events after it. The caller wakes the dispatcher.
 * @returns the moment from which the events are delivered
 * @throws AppError WEBHOOK_NOT_FOUND, VALIDATION_ERROR for a moment or an event that is no longer kept
 */
export async function replay(em: Em, projectId: string, endpointId: string, request: ReplayRequest): Promise<Date> {
  await findEndpoint(em, projectId, endpointId);
  const start = await findReplayStart(em, projectId, request);
  const moved = await queryOne<{ at: Date }>(
    em,
    sql`
      with moved as (
        update webhook_endpoint
        set cursor_at = ${start.at}::timestamptz, cursor_source = ${start.source}, cursor_id = ${start.id}, retry_at = null,
          wake_at = now()
        where id = ${endpointId} and (cursor_at, cursor_source::int, cursor_id)
          > (${start.at}::timestamptz, ${start.source}::int, ${start.id}::uuid)
        returning cursor_at
      ),
      unparked as (
        update webhook_delivery set retry_at = null
        where endpoint_id = ${endpointId} and retry_at is not null and source <> ${TEST_SOURCE}
          and (event_at, source::int, event_id) > (${start.at}::timestamptz, ${start.source}::int, ${start.id}::uuid)
          and exists (select from moved)
      ),
      woken as (${outboxInsert('webhook', projectId, [endpointId])})
      select ${start.at}::timestamptz as at`,
  );
  return moved?.at ?? new Date(start.at);
}
