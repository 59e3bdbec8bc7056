import { uuidV7 } from '../../platform/uuid.ts';
import { DISABLED_EVENT } from '../../pure/webhooks/event-patterns.ts';
import { deliveryStatus } from '../../database/constants.ts';
import { json, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, notNull, nullable, number, pick, tables, text, texts, type RowOf } from '../../database/tables.ts';
import { recordEvents } from '../events/events.ts';
import type { EventRef } from './hook-events.ts';

/** An endpoint with the state of its deliveries. */
const OPEN_ENDPOINT = {
  ...pick(tables.webhookEndpoint, 'id', 'projectId', 'url'),
  patterns: tables.webhookEndpoint.events,
  batchSize: tables.webhookEndpoint.batchSize,
  /** The stored forms of the secrets that sign, the present one first. */
  secrets: texts,
  /** All events up to this number are delivered, parked or not wanted. */
  position: text,
  failures: tables.webhookEndpoint.failures,
  failingSince: tables.webhookEndpoint.failingSince,
  /** Milliseconds until the endpoint may be called again; at most 0 if it may be called now. */
  waitMs: number,
  isEnabled: boolean,
  /** When its settings were last changed. A failure from before a change says nothing about the endpoint after it. */
  changedAt: text,
  /** Later statements see every event up to this number that will ever be committed. */
  settledNo: text,
};
export type OpenEndpoint = RowOf<typeof OPEN_ENDPOINT>;

/** If a delivering workflow has not opened its endpoint for this long, it is started again. */
const LEASE = '2 minutes';

/** Loads an endpoint for a delivery, and renews the lease; undefined when the endpoint no longer exists. */
export async function openEndpoint(em: Em, endpointId: string): Promise<OpenEndpoint | undefined> {
  return queryOne(
    em,
    sql`
      update webhook_endpoint w set wake_at = greatest(now(), w.retry_at) + ${LEASE}::interval
      from project p where w.id = ${endpointId} and p.id = w.project_id
      returning w.id, w.project_id as "projectId", w.url, w.events as patterns, w.batch_size as "batchSize",
        case when w.previous_secret_until > now() then array[w.secret, w.previous_secret] else array[w.secret] end as secrets,
        w.cursor_no::text as position,
        w.failures, w.failing_since as "failingSince", w.enabled and not p.disabled as "isEnabled",
        w.updated_at::text as "changedAt",
        coalesce(extract(epoch from w.retry_at - clock_timestamp()) * 1000, 0)::float8 as "waitMs",
        (select settled_no::text from webhook_horizon) as "settledNo"`,
    OPEN_ENDPOINT,
  );
}

/** An event that is delivered on its own, because it failed alone, or because an earlier event of its contact did. */
export interface ParkedDelivery extends EventRef {
  attempts: number;
  contactId: string | null;
  /** Milliseconds until it is due; more than 0 for one that is tried before. */
  inMs: number;
}

export interface Parked {
  /** The first parked events of contacts that are due. */
  due: ParkedDelivery[];
  /** Milliseconds until the next parked event is due; null when there is none. */
  nextInMs: number | null;
  /** The number of all parked events. */
  count: number;
}

/**
 * The parked events of an endpoint. At most `limit` contacts are considered.
 * @param isEarly whether any of them are returned, due or not
 */
export async function findParked(em: Em, endpointId: string, limit: number, isEarly = false): Promise<Parked> {
  const heads = await query(
    em,
    sql`
      with waiting as materialized (
        select * from webhook_delivery where endpoint_id = ${endpointId} and retry_at is not null
      )
      select h.no::text as no, h.event_at::text as at, h.source, h.event_id as id, h.attempts, h.contact_id as "contactId",
        (extract(epoch from h.retry_at - clock_timestamp()) * 1000)::float8 as "inMs",
        (select count(*) from waiting) as total
      from (
        select distinct on (coalesce(contact_id, id)) * from waiting
        order by coalesce(contact_id, id), no nulls first, event_at, source, event_id
      ) h order by ${isEarly ? sql`random()` : sql`h.retry_at`} limit ${limit}`,
    {
      ...pick(tables.webhookDelivery, 'attempts', 'contactId', 'source'),
      no: nullable(text),
      at: text,
      id: tables.webhookDelivery.eventId,
      inMs: number,
      total: number,
    },
  );
  const due = heads.filter((head) => isEarly || head.inMs <= 0);
  const next = heads.find((head) => head.inMs > 0);
  return { due, nextInMs: next ? Math.ceil(next.inMs) : null, count: heads[0]?.total ?? 0 };
}

/** Those of the given contacts that have parked events at an endpoint. */
export async function findWaitingContacts(em: Em, endpointId: string, contactIds: string[]): Promise<Set<string>> {
  const rows = await query(
    em,
    sql`
      select distinct contact_id as id from webhook_delivery
      where endpoint_id = ${endpointId} and retry_at is not null and contact_id = any(${contactIds}::uuid[])`,
    { id: notNull(tables.webhookDelivery.contactId) },
  );
  return new Set(rows.map((row) => row.id));
}

/**
 * The result for one event, or for a request with several events. Number, time and name are those of the first event.
 */
export interface DeliveryRecord extends EventRef {
  name: string;
  count: number;
  contactId: string | null;
  status: 'RETRYING' | 'DELIVERED' | 'FAILED';
  /** The attempts to add: 1, or 0 for an event that is parked behind another one. */
  attempts: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number | null;
  /** For a parked event, the milliseconds until it is tried; null for others. */
  retryInMs: number | null;
}

/** What the results of some requests say about the endpoint. */
export type EndpointVerdict =
  /** The endpoint accepted an event. */
  | 'accepted'
  /** The endpoint accepted nothing of what it was sent. */
  | 'failed'
  /** The results say nothing about the endpoint. */
  | 'unknown';

export interface DeliveryResults {
  records: readonly DeliveryRecord[];
  verdict: EndpointVerdict;
  /** The number up to which everything is delivered or parked now; the position stays when it is left out. */
  reached?: string | null | undefined;
  /** For how many milliseconds an endpoint that failed is not called. */
  pauseMs?: number;
  /** Whether it accepted a parked event that it had refused, and all others. */
  hasRecovered?: boolean;
}

/**
 * Stores the results for some events, and the position that the endpoint has reached. If the position was moved
 * meanwhile, by a replay, it stays there. If the settings were changed meanwhile, a failure brings no pause. When the
 * endpoint accepts again what it had refused, all parked events are due, with an attempt more.
 */
export async function recordDeliveries(
  em: Em,
  endpoint: OpenEndpoint,
  { records, verdict, reached, pauseMs, hasRecovered = false }: DeliveryResults,
): Promise<void> {
  const rows = records.map((record) => ({ ...record, rowId: uuidV7() }));
  const { position } = endpoint;
  const isWell = hasRecovered || (verdict === 'accepted' && endpoint.failures > 0);
  const isAnyParked = records.some((record) => record.retryInMs !== null);
  await query(
    em,
    sql`
      with owner as materialized (
        select id, cursor_no = ${position}::bigint as is_same, updated_at = ${endpoint.changedAt}::timestamptz as is_unchanged
        from webhook_endpoint where id = ${endpoint.id} for no key update
      ),
      recorded as (
        insert into webhook_delivery as d (id, endpoint_id, no, event_at, source, event_id, event_name, event_count,
          contact_id, status, attempts, status_code, error, duration_ms, retry_at)
        select n."rowId", owner.id, n.no, n.at, n.source, n.id, n.name, n.count, n."contactId", n.status, n.attempts,
          n."statusCode", n.error, n."durationMs", now() + n."retryInMs" * interval '1 millisecond'
        from owner cross join jsonb_to_recordset(${json(rows)}::jsonb) as n ("rowId" uuid, no bigint, at timestamptz,
          source smallint, id uuid, name text, count smallint, "contactId" uuid, status text, attempts smallint,
          "statusCode" smallint, error text, "durationMs" int, "retryInMs" float8)
        on conflict (endpoint_id, event_at, source, event_id) do update set status = excluded.status,
          event_count = excluded.event_count, status_code = excluded.status_code, error = excluded.error,
          attempts = least(case when d.status = ${deliveryStatus.RETRYING} then d.attempts else 0 end + excluded.attempts, 30000),
          duration_ms = excluded.duration_ms, retry_at = excluded.retry_at, updated_at = now()
      ),
      resumed as (
        update webhook_delivery d set retry_at = now(), attempts = greatest(d.attempts - 1, 0) from owner
        where ${isWell}::boolean and d.endpoint_id = owner.id and d.retry_at > now()
          and d.event_id <> all(${records.map(({ id }) => id)}::uuid[])
      )
      update webhook_endpoint w set
        failures = case v.verdict when 'accepted' then 0 when 'failed' then least(w.failures + 1, 30000) else w.failures end,
        failing_since = case v.verdict when 'accepted' then null when 'failed' then coalesce(w.failing_since, now())
          else w.failing_since end,
        retry_at = case v.verdict when 'accepted' then null
          when 'failed' then now() + ${pauseMs ?? 0}::float8 * interval '1 millisecond' else w.retry_at end,
        parked_at = case when ${isAnyParked}::boolean then coalesce(w.parked_at, now()) else w.parked_at end,
        cursor_no = case when o.is_same then ${reached ?? position}::bigint else w.cursor_no end
      from owner o cross join lateral (
        select case when o.is_unchanged or ${verdict} <> 'failed' then ${verdict}::text else 'unknown' end as verdict
      ) v
      where w.id = o.id`,
  );
}

/** Moves the position of an endpoint beyond events that the endpoint does not want, unless it was moved meanwhile. */
export async function passOver(em: Em, { id, position }: OpenEndpoint, lastNo: string): Promise<void> {
  await query(
    em,
    sql`
      update webhook_endpoint set cursor_no = ${lastNo}::bigint
      where id = ${id} and cursor_no = ${position}::bigint and cursor_no < ${lastNo}::bigint`,
  );
}

/**
 * Ends a delivery when nothing is left to do. New events wake the endpoint again, after `pauseMs` at the earliest.
 * @param parkedInMs in how many milliseconds the next parked event is due; null when there is none
 */
export async function closeEndpoint(
  em: Em,
  endpointId: string,
  { pauseMs, parkedInMs }: { pauseMs: number; parkedInMs: number | null },
): Promise<void> {
  await query(
    em,
    sql`
      update webhook_endpoint set wake_at = now() + ${pauseMs}::float8 * interval '1 millisecond',
        parked_at = now() + ${parkedInMs}::float8 * interval '1 millisecond'
      where id = ${endpointId}`,
  );
}

/**
 * Disables an endpoint to which nothing can be delivered, unless its settings were changed since it was opened. It
 * keeps its position, and continues there after it is enabled again. The event `webhook.disabled` is recorded, which
 * the project's other endpoints receive.
 */
export async function disableEndpoint(
  em: Em,
  { id, projectId, changedAt }: OpenEndpoint,
  reason: string,
): Promise<void> {
  await inTransaction(em, async (tx) => {
    const [disabled] = await query(
      tx,
      sql`
        update webhook_endpoint set enabled = false, disabled_at = now(), disabled_reason = ${reason}, updated_at = now()
        where id = ${id} and enabled and updated_at = ${changedAt}::timestamptz returning url`,
      { url: tables.webhookEndpoint.url },
    );
    if (!disabled) return;
    await recordEvents(tx, [
      { projectId, name: DISABLED_EVENT, contactId: null, data: { webhookId: id, url: disabled.url, reason } },
    ]);
  });
}

/** A parked event that is overdue for this long has lost its workflow. */
const LOST_RETRY = '1 minute';

/**
 * Notes which endpoints have new events, and adds outbox rows for endpoints that have new or overdue events and no
 * running delivery. Its cost grows with the new events and with the endpoints that have some, and not with all
 * endpoints.
 * @returns how many endpoints were woken
 */
export async function wakeEndpoints(em: Em): Promise<number> {
  await query(em, sql`select everpost_settle_feed()`);
  const woken = await query(
    em,
    sql`
      with due as (
        update webhook_endpoint w set wake_at = now() + ${LEASE}::interval
        where w.id in (
          select w.id from webhook_endpoint w join project p on p.id = w.project_id and not p.disabled
          where w.enabled and (w.cursor_no < w.news_no or w.parked_at is not null)
            and (w.cursor_no < w.news_no or w.parked_at < now() - ${LOST_RETRY}::interval)
            and (w.wake_at <= now() or w.wake_at > greatest(now(), w.retry_at) + ${LEASE}::interval)
            and coalesce(w.retry_at <= now(), true)
          for update of w skip locked
        )
        returning w.id, w.project_id
      )
      insert into outbox (id, project_id, kind, subject_id)
      select everpost_uuid_v7(), project_id, 'webhook', id from due returning id`,
    { id: tables.outbox.id },
  );
  return woken.length;
}
