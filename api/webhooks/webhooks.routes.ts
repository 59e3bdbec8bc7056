import { z } from 'zod';
import { findDelivery, listDeliveries, replay, sendTestEvent } from '../../shared/domain/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../shared/domain/webhooks/endpoints.ts';
import { WebhookRefusedError } from '../../shared/platform/webhook/webhook-client.ts';
import { validationError } from '../../shared/pure/app-error.ts';
import type { HandlerDeps } from '../http/context.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import {
  createdWebhookSchema,
  createWebhookBody,
  deliveryCursors,
  deliveryListQuery,
  deliveryListSchema,
  deliveryParams,
  deliveryView,
  foundDeliverySchema,
  patchWebhookBody,
  replayBody,
  replaySchema,
  rotatedSecretSchema,
  rotateSecretBody,
  testSchema,
  webhookSchema,
  webhookView,
} from './webhooks.schemas.ts';

const endpoint = endpointsOf('Webhooks', 'WEBHOOK_NOT_FOUND');

/** Checks the URL of an endpoint. @throws AppError VALIDATION_ERROR for one that may not be called */
async function assertCallable(url: string, { webhooks, config }: HandlerDeps): Promise<void> {
  try {
    await webhooks.check(url, !config.WEBHOOK_ALLOW_HTTP);
  } catch (error) {
    if (!(error instanceof WebhookRefusedError)) throw error;
    const message = `This URL may not be called: ${error.message}`;
    throw validationError([{ field: 'url', message, code: 'invalid_string' }]);
  }
}

const list = endpoint('listWebhooks', 'GET /webhooks', {
  roles: ['read'],
  summary: 'List all webhook endpoints, newest first',
  replies: { 200: { description: 'The endpoints', schema: z.array(webhookSchema) } },
  handle: async ({ em, project }) => ok((await listEndpoints(em, project.id)).map(webhookView)),
});

const get = endpoint('getWebhook', 'GET /webhooks/:id', {
  roles: ['read'],
  summary: 'Get a webhook endpoint',
  replies: { 200: { description: 'The endpoint', schema: webhookSchema } },
  handle: async ({ em, project, params }) => ok(webhookView(await findEndpoint(em, project.id, params.id))),
});

const remove = endpoint('deleteWebhook', 'DELETE /webhooks/:id', {
  roles: [],
  summary: 'Delete a webhook endpoint with the log of its deliveries',
  replies: { 204: { description: 'Deleted' } },
  handle: ({ em, project, params }) => noContent(deleteEndpoint(em, project.id, params.id)),
});

const test = endpoint('testWebhook', 'POST /webhooks/:id/test', {
  roles: [],
  summary: 'Send a test event (`webhook.test`) to an endpoint, whatever events it takes',
  replies: { 202: { description: 'It is on its way', schema: testSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, params }) => ({
    status: 202,
    data: { deliveryId: await sendTestEvent(em, project.id, params.id) },
  }),
});

const deliveries = endpoint('listWebhookDeliveries', 'GET /webhooks/:id/deliveries', {
  roles: ['read'],
  summary: 'List what an endpoint was sent, and what it answered, newest event first',
  query: deliveryListQuery,
  replies: { 200: { description: 'A page of deliveries', schema: deliveryListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, params, query: { limit, status, cursor } }) {
    const after = deliveryCursors.read(cursor);
    const page = await listDeliveries(em, project.id, params.id, { limit, status, after });
    return ok({
      deliveries: page.deliveries.map(deliveryView),
      ...deliveryCursors.after(page.next && { ...page.next }),
    });
  },
});

const delivery = endpoint('getWebhookDelivery', 'GET /webhooks/:id/deliveries/:deliveryId', {
  roles: ['read'],
  summary: 'Show what an endpoint was sent with one delivery, and what it answered',
  params: deliveryParams,
  malformedIdCode: 'RESOURCE_NOT_FOUND',
  replies: { 200: { description: 'The delivery', schema: foundDeliverySchema } },
  async handle({ em, project, params }) {
    const found = await findDelivery(em, project.id, params.id, params.deliveryId);
    return ok({ ...deliveryView(found.delivery), messageId: found.messageId, payload: found.payload });
  },
});

const sendAgain = endpoint('replayWebhook', 'POST /webhooks/:id/replay', {
  roles: [],
  summary: 'Deliver all events since a moment or an event once more',
  description: 'Each event comes with the `webhook-id` it had, so a receiver can tell which it has had already.',
  body: replayBody,
  replies: { 202: { description: 'Events are delivered from this moment on', schema: replaySchema } },
  async handle({ em, project, params, body, deps }) {
    const retentionDays = deps.config.RETENTION_EVENTS_DAYS;
    const from = await replay(em, project.id, params.id, { ...body, retentionDays });
    return { status: 202, data: { from: from.toISOString() } };
  },
});

const create = endpoint('createWebhook', 'POST /webhooks', {
  roles: [],
  summary: 'Have events sent to a URL, signed as the Standard Webhooks specification says',
  isRemote: true,
  body: createWebhookBody,
  replies: { 201: { description: 'The endpoint with its secret', schema: createdWebhookSchema } },
  async handle({ em, project, body, deps }) {
    await assertCallable(body.url, deps);
    const settings = { ...body, description: body.description ?? null };
    const { endpoint: made, secret } = await createEndpoint(em, project.id, settings, deps.webhookSecrets);
    return created({ ...webhookView(made), secret });
  },
});

const patch = endpoint('updateWebhook', 'PATCH /webhooks/:id', {
  roles: [],
  summary: 'Change the given fields of an endpoint; it is tried again at once',
  description: 'An endpoint that is enabled again goes on where it stopped.',
  isRemote: true,
  body: patchWebhookBody,
  replies: { 200: { description: 'The endpoint after the change', schema: webhookSchema } },
  async handle({ em, project, params, body, deps }) {
    const { url } = await findEndpoint(em, project.id, params.id);
    if (body.url !== undefined && body.url !== url) await assertCallable(body.url, deps);
    return ok(webhookView(await updateEndpoint(em, project.id, params.id, body)));
  },
});

const rotate = endpoint('rotateWebhookSecret', 'POST /webhooks/:id/rotate-secret', {
  roles: [],
  summary: 'Replace the secret of an endpoint; for a day, or `overlapHours`, requests are signed with both',
  body: rotateSecretBody,
  replies: { 200: { description: 'The new secret', schema: rotatedSecretSchema } },
  async handle({ em, project, params, body: { overlapHours }, deps }) {
    const change = { overlapHours, secrets: deps.webhookSecrets };
    const { secret, previousSecretUntil } = await rotateEndpointSecret(em, project.id, params.id, change);
    return ok({ secret, previousSecretExpiresAt: previousSecretUntil.toISOString() });
  },
});

export const webhookEndpoints: Endpoint[] = [
  list,
  get,
  create,
  patch,
  rotate,
  remove,
  test,
  sendAgain,
  deliveries,
  delivery,
];
