import { z } from 'zod';
import { DELIVERY_STATUSES, type WebhookDelivery } from '../../shared/domain/webhooks/deliveries.ts';
import { SECRET_OVERLAP_HOURS, type WebhookEndpoint } from '../../shared/domain/webhooks/endpoints.ts';
import { momentSchema } from '../../shared/pure/filters/instant-schema.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { cursorFields, cursorsOf, placeSchema } from '../http/cursor.ts';
import { cursorPageQuery } from '../http/pagination.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const url = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.webhookUrlLength)
  .meta({ description: 'Where events are sent to, https or http', examples: ['https://example.com/everpost'] });
const events = z
  .array(z.string().trim().min(1).max(LIMITS.eventNameLength))
  .min(1)
  .max(LIMITS.webhookEvents)
  .meta({ description: 'Names of events; `*` stands for any text', examples: [['email.*', 'order.paid']] });
const description = z.string().max(500).nullish();
const batchSize = z
  .int()
  .min(1)
  .max(LIMITS.webhookBatch)
  .describe('The most events of one request; above 1 they come as `type: "batch"` with a list');

export const createWebhookBody = z.object({
  url,
  events: events.default(['*']),
  description,
  enabled: z.boolean().default(true),
  batchSize: batchSize.default(1),
});

export const patchWebhookBody = z.object({
  url: url.optional(),
  events: events.optional(),
  description,
  enabled: z.boolean().optional(),
  batchSize: batchSize.optional(),
});

export const webhookSchema = model('Webhook', 'An endpoint of yours that events are sent to', {
  id: z.uuid(),
  url: z.string().describe('Where events are sent to'),
  events: z.array(z.string()),
  description: z.string().nullable(),
  enabled: z.boolean(),
  batchSize: z.int().describe('The most events of one request'),
  status: z
    .enum(['active', 'failing', 'disabled'])
    .describe('`failing`: it accepted nothing of the last request, and is tried again'),
  disabledReason: z.string().nullable().describe('Why Everpost disabled it'),
  disabledAt: z.iso.datetime().nullable().describe('When it was disabled; null while it is enabled'),
  failingSince: z.iso
    .datetime()
    .nullable()
    .describe('Since when it has accepted nothing; null while it accepts events'),
  retryAt: z.iso.datetime().nullable().describe('When it is tried again; null where nothing waits'),
  previousSecretExpiresAt: z.iso
    .datetime()
    .nullable()
    .describe('Until then, requests are signed with the previous secret, too'),
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const createdWebhookSchema = webhookSchema.extend({
  secret: z.string().meta({ description: 'What requests are signed with; shown here only', examples: ['whsec_…'] }),
});

export const rotateSecretBody = z
  .object({
    overlapHours: z
      .number()
      .min(0)
      .max(SECRET_OVERLAP_HOURS)
      .default(SECRET_OVERLAP_HOURS)
      .describe('How long the previous secret signs, too; 0 ends it at once'),
  })
  .prefault({});

export const rotatedSecretSchema = z.object({
  secret: z.string().meta({ description: 'Shown here only', examples: ['whsec_…'] }),
  previousSecretExpiresAt: z.iso.datetime().describe('Until then, requests are signed with the previous secret, too'),
});

export const replayBody = z
  .object({
    since: momentSchema.optional().describe('Everything stored since this moment'),
    eventId: z.uuid().optional().describe('This event and everything after it'),
  })
  .refine((body) => (body.since === undefined) !== (body.eventId === undefined), {
    error: 'Exactly one of since and eventId is required',
    path: ['since'],
  });

export const replaySchema = z.object({ from: z.iso.datetime() });

export const testSchema = z.object({
  deliveryId: z.uuid().describe('Its outcome is in the list of deliveries'),
});

export const deliveryListQuery = z.object({
  ...cursorPageQuery({ limitDefault: 50 }),
  status: z.enum(DELIVERY_STATUSES).optional(),
});

export const deliverySchema = model('WebhookDelivery', 'A request to an endpoint, with its attempts', {
  id: z.uuid(),
  eventId: z.uuid().describe('The event, or the first of several'),
  type: z.string().describe('The name of that event'),
  eventCount: z.int().describe('Events of the request'),
  contactId: z.uuid().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int().describe('How often it was sent'),
  statusCode: z.int().nullable().describe('Of the last answer'),
  error: z.string().nullable(),
  durationMs: z.int().nullable().describe('Milliseconds until the last answer'),
  retryAt: z.iso.datetime().nullable().describe('When it is tried again; null where nothing waits'),
  recordedAt: z.iso.datetime().describe('When the event was stored'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const foundDeliverySchema = model('FoundWebhookDelivery', 'A request to an endpoint, with its (first) event', {
  ...deliverySchema.shape,
  messageId: z.string().nullable().describe('Its `webhook-id`; null where the request had several events'),
  payload: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The event as it is sent, built again from its record; null where that is gone'),
});
export const deliveryParams = z.object({ id: z.uuid(), deliveryId: z.uuid().describe('The delivery') });

export const deliveryListSchema = z.object({
  deliveries: z.array(deliverySchema).describe('The requests, the latest first'),
  ...cursorFields,
});

export const deliveryCursors = cursorsOf(placeSchema);

function statusOf(isEnabled: boolean, failures: number): z.infer<typeof webhookSchema>['status'] {
  if (!isEnabled) return 'disabled';
  return failures > 0 ? 'failing' : 'active';
}

/** An endpoint as callers see it. */
export const webhookView = viewOf(webhookSchema, ({ enabled, failures, previousSecretUntil }: WebhookEndpoint) => ({
  status: statusOf(enabled, failures),
  previousSecretExpiresAt: previousSecretUntil?.toISOString() ?? null,
}));

/** A delivery as callers see it. */
export const deliveryView = viewOf(deliverySchema, ({ eventName, eventAt }: WebhookDelivery) => ({
  type: eventName,
  recordedAt: eventAt.toISOString(),
}));
