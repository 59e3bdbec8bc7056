import { uuidV7 } from '../../platform/uuid.ts';
import { AppError, validationError } from '../../pure/app-error.ts';
import { ownEventsBeside, unknownPatterns } from '../../pure/webhooks/event-patterns.ts';
import { createWebhookSecret } from '../../platform/webhook/signature.ts';
import { assertRoom } from '../../database/row-limit.ts';
import { columnsOf, query, queryOne, sql, type Em } from '../../database/sql.ts';
import { date, nullable, pick, tables, type RowOf } from '../../database/tables.ts';
import { outboxInsert } from '../../durable/outbox/outbox.ts';
import type { WebhookSecrets } from '../projects/webhook-secrets.ts';

const ROW = {
  ...pick(tables.webhookEndpoint, 'id', 'projectId', 'url', 'events', 'description', 'enabled', 'batchSize'),
  ...pick(tables.webhookEndpoint, 'failures', 'failingSince', 'retryAt', 'disabledAt', 'disabledReason'),
  ...pick(tables.webhookEndpoint, 'createdAt', 'updatedAt'),
};
const ENDPOINT = { ...ROW, previousSecretUntil: nullable(date) };

/** A URL that receives events of a project, with its settings and state. */
export type WebhookEndpoint = RowOf<typeof ENDPOINT>;

/** How many hours a replaced secret still signs, unless the caller says less. */
export const SECRET_OVERLAP_HOURS = 24;

const COLUMNS = sql`
  ${columnsOf(ROW)}, case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil"`;

export interface WebhookSettings {
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  batchSize: number;
}

/** Checks event patterns. @throws AppError VALIDATION_ERROR naming those that neither Everpost nor the project knows */
async function assertKnownEvents(em: Em, projectId: string, events: readonly string[]): Promise<void> {
  const unknown = unknownPatterns(events);
  if (unknown.length === 0) return;
  // A project may track events whose names begin like those of Everpost, except reserved names.
  const tracked = await query(
    em,
    sql`select name from event_name where project_id = ${projectId} and name = any(${unknown}::text[])`,
    { name: tables.eventName.name },
  );
  const known = new Set(tracked.map((row) => row.name));
  const faults = [...events.entries()].filter(([, name]) => unknown.includes(name) && !known.has(name));
  if (faults.length === 0) return;
  throw validationError(
    faults.map(([index, name]) => ({
      field: `events.${index}`,
      message: `There is no event ${name}; the events are ${ownEventsBeside(name).join(', ')}`,
      code: 'invalid_value',
      received: name,
    })),
  );
}

/** Creates an endpoint. @throws AppError VALIDATION_ERROR for unknown events, or too many endpoints */
export async function createEndpoint(
  em: Em,
  projectId: string,
  settings: WebhookSettings,
  secrets: WebhookSecrets,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  await assertKnownEvents(em, projectId, settings.events);
  await assertRoom(em, projectId, 'webhook_endpoint');
  const [id, secret] = [uuidV7(), createWebhookSecret()];
  const { url, events, description, enabled, batchSize } = settings;
  const endpoint = await queryOne(
    em,
    // The lock keeps the horizon from passing an event of this project before the endpoint is there.
    sql`
      with horizon as materialized (select 1 from webhook_horizon for share),
      position as materialized (select everpost_feed_last_no() as no from horizon)
      insert into webhook_endpoint (id, project_id, url, events, description, enabled, batch_size, secret, cursor_no,
        news_no)
      select ${id}, ${projectId}, ${url}, ${events}::text[], ${description}, ${enabled}, ${batchSize},
        ${secrets.seal(secret, id)}, no, no from position
      returning ${COLUMNS}`,
    ENDPOINT,
  );
  return { endpoint: found(endpoint), secret };
}

/** The endpoints of a project, newest first. */
export async function listEndpoints(em: Em, projectId: string): Promise<WebhookEndpoint[]> {
  return query(
    em,
    sql`select ${COLUMNS} from webhook_endpoint where project_id = ${projectId} order by created_at desc, id desc`,
    ENDPOINT,
  );
}

/** Loads an endpoint. @throws AppError WEBHOOK_NOT_FOUND */
export async function findEndpoint(em: Em, projectId: string, id: string): Promise<WebhookEndpoint> {
  return found(
    await queryOne(
      em,
      sql`select ${COLUMNS} from webhook_endpoint where id = ${id} and project_id = ${projectId}`,
      ENDPOINT,
    ),
  );
}

function found(endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (!endpoint) throw new AppError('WEBHOOK_NOT_FOUND');
  return endpoint;
}

/**
 * Changes an endpoint. It is called again at once, because the cause of a failure may be gone, and with a URL or
 * `enabled` its parked events are due. An endpoint that is enabled again continues at its position.
 * @throws AppError WEBHOOK_NOT_FOUND, VALIDATION_ERROR for unknown events
 */
export async function updateEndpoint(
  em: Em,
  projectId: string,
  id: string,
  change: Partial<WebhookSettings>,
): Promise<WebhookEndpoint> {
  if (change.events) await assertKnownEvents(em, projectId, change.events);
  const { url = null, events = null, enabled = null, batchSize = null } = change;
  const hasDescription = change.description !== undefined;
  return found(
    await queryOne(
      em,
      sql`
        with changed as (
          update webhook_endpoint set url = coalesce(${url}, url), events = coalesce(${events}::text[], events),
            description = case when ${hasDescription}::boolean then ${change.description ?? null} else description end,
            batch_size = coalesce(${batchSize}::smallint, batch_size), enabled = coalesce(${enabled}::boolean, enabled),
            disabled_at = case when ${enabled}::boolean then null else disabled_at end,
            disabled_reason = case when ${enabled}::boolean then null else disabled_reason end,
            failing_since = case when ${enabled}::boolean then null else failing_since end,
            failures = case when ${enabled}::boolean then 0 else failures end,
            retry_at = null, wake_at = now(), updated_at = now()
          where id = ${id} and project_id = ${projectId}
          returning *
        ),
        resumed as (
          update webhook_delivery d set retry_at = now(), attempts = greatest(d.attempts - 1, 0) from changed c
          where d.endpoint_id = c.id and d.retry_at > now() and (${enabled}::boolean or ${url}::text is not null)
        ),
        woken as (${outboxInsert('webhook', projectId, [id])} where exists (select from changed where enabled))
        select ${COLUMNS} from changed`,
      ENDPOINT,
    ),
  );
}

/** Deletes an endpoint with its deliveries. @throws AppError WEBHOOK_NOT_FOUND */
export async function deleteEndpoint(em: Em, projectId: string, id: string): Promise<void> {
  const deleted = await queryOne(
    em,
    sql`delete from webhook_endpoint where id = ${id} and project_id = ${projectId} returning ${COLUMNS}`,
    ENDPOINT,
  );
  found(deleted);
}

/**
 * Replaces the secret. The previous one also signs for `overlapHours`; with 0 it is forgotten at once.
 * @throws AppError WEBHOOK_NOT_FOUND
 */
export async function rotateEndpointSecret(
  em: Em,
  projectId: string,
  id: string,
  { overlapHours, secrets }: { overlapHours: number; secrets: WebhookSecrets },
): Promise<{ secret: string; previousSecretUntil: Date }> {
  const secret = createWebhookSecret();
  const endpoint = await queryOne(
    em,
    sql`
      update webhook_endpoint set previous_secret = case when ${overlapHours}::float8 > 0 then secret end,
        secret = ${secrets.seal(secret, id)}, updated_at = now(),
        previous_secret_until = case when ${overlapHours}::float8 > 0 then now() + ${overlapHours}::float8 * interval '1 hour' end
      where id = ${id} and project_id = ${projectId} returning ${COLUMNS}`,
    ENDPOINT,
  );
  const { previousSecretUntil } = found(endpoint);
  return { secret, previousSecretUntil: previousSecretUntil ?? new Date() };
}
