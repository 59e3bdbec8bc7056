import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { answeredAddress } from '../http/answered-address.ts';
import { model } from '../../shared/pure/model.ts';

const reference = (id: string, description: string) =>
  z.object({ id: z.uuid(), name: z.string() }).meta({ id, description });

const bodySchema = model('StepWebhookBody', 'The body that a WEBHOOK step sends when it has none of its own', {
  contact: model('WebhookContact', 'The contact that is at the step', {
    id: z.uuid(),
    email: answeredAddress,
    subscribed: z.boolean(),
    data: z.record(z.string(), z.unknown()),
  }),
  workflow: reference('WebhookWorkflow', 'The workflow that the step is in'),
  execution: model('WebhookExecution', 'The execution that is at the step', {
    id: z.uuid(),
    startedAt: z.iso.datetime(),
  }),
  event: z.record(z.string(), z.unknown()).meta({
    description: 'The event that started the execution, or what was given at the start',
    examples: [{ plan: 'pro' }],
  }),
});

const headersSchema = z.object({
  'webhook-id': z.string().meta({
    description: 'The same with every attempt, so that a receiver recognizes a call that it has had',
    examples: ['0198c0de-0000-7000-8000-000000000009'],
  }),
  'webhook-timestamp': z.string().meta({
    description: 'When the attempt was made, in seconds since 1970',
    examples: ['1769846400'],
  }),
  'webhook-signature': z.string().meta({
    description: '`v1,` and the base64 of HMAC-SHA-256 over `<id>.<timestamp>.<body>`, as Standard Webhooks has it',
    examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
  }),
});

const eventDataSchema = model('WebhookEventData', 'What happened, and to whom', {
  id: z.uuid().describe('The id of the event, the campaign or the execution'),
  contact: model('WebhookEventContact', 'The contact that it happened to', {
    id: z.uuid(),
    email: answeredAddress.nullable(),
  }).nullable(),
  emailId: z.uuid().nullable(),
  data: z.record(z.string(), z.unknown()).describe('What you tracked, or what the event says'),
});

const eventSchema = model('WebhookEvent', 'One event, as an endpoint receives it', {
  type: z.string().describe('The name of the event'),
  timestamp: z.iso.datetime().describe('When it happened'),
  data: eventDataSchema,
});

const batchSchema = model('WebhookEventBatch', 'Several events, for an endpoint with a `batchSize` above 1', {
  type: z.literal('batch').describe('Always `batch`'),
  timestamp: z.iso.datetime().describe('When the first of them happened'),
  data: z.array(eventSchema).describe('The events, in the order in which they were stored'),
});

/** What an endpoint of `/webhooks` receives. */
export const webhookEvent: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'webhookEvent',
    tags: ['Webhooks'],
    summary: 'An event that an endpoint takes has happened',
    description:
      'Sent to the `url` of an endpoint of `/webhooks`, signed with the secret of the endpoint. Any answer with status ' +
      '2xx within ten seconds says that it has been received; otherwise it is sent again, for 27 hours.',
    security: [],
    requestParams: { header: headersSchema },
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .union([batchSchema, eventSchema])
            .meta({ id: 'WebhookEventBody', description: 'An event, or a batch of them' }),
        },
      },
    },
    responses: {
      204: { description: 'It has been received' },
      400: { description: 'It has not been received' },
    },
  },
};

/** What a WEBHOOK step of a workflow sends. */
export const stepWebhook: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'stepWebhook',
    tags: ['Workflows'],
    summary: 'A contact has reached a WEBHOOK step',
    description:
      'Sent to the `url` of the step, with its method, headers and body; this is the default body. It is signed with the ' +
      'webhook secret of the project (`everpost project webhook-secret <id>`). Any answer with status 2xx ends the step; ' +
      'otherwise it is sent again, at growing intervals.',
    security: [],
    requestParams: { header: headersSchema },
    requestBody: { required: true, content: { 'application/json': { schema: bodySchema } } },
    responses: {
      200: { description: 'The call has been received; the workflow goes on' },
      400: { description: 'The call has not been received' },
    },
  },
};
