import { z } from 'zod';
import { readEmailContent } from '../../shared/domain/campaigns/email-content.ts';
import { readEmailStory } from '../../shared/domain/emails/email-timeline.ts';
import { listEmailDeliveries } from '../../shared/domain/webhooks/deliveries.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { deliverySchema, deliveryView } from '../webhooks/webhooks.schemas.ts';
import { ownKeyIdOf } from './emails.routes.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Emails', 'RESOURCE_NOT_FOUND');

export const emailContentSchema = model('EmailContent', 'What an email says', {
  html: z.string().meta({
    description: 'with the images that lie in the message itself as data: URLs',
    examples: ['<p>Hello Ada</p>'],
  }),
  text: z.string(),
  headers: listOf('MessageHeader', 'A header field of a message', 'all header fields, unfolded, in their order', {
    name: z.string(),
    value: z.string().describe('unfolded'),
  }),
  source: z.string().meta({
    description:
      'the message (RFC 5322) without its signature and without the content of its attachments, cut after 500,000 characters',
    examples: ['From: us@example.com\r\nTo: ada@example.com\r\nSubject: Hello\r\n\r\nHello Ada\r\n'],
  }),
  isExact: z.boolean().meta({
    description: 'whether it is what was stored; emails of campaigns are rendered again, with the data of today',
    examples: [true],
  }),
  attachments: z.array(
    model('MessageAttachment', 'A file of a message', {
      filename: z.string(),
      contentType: z.string(),
      bytes: z.int().meta({ description: 'its size in octets', examples: [2048] }),
    }),
  ),
});

const emailDeliverySchema = model('EmailDelivery', 'A request to an endpoint about an email', {
  ...deliverySchema.shape,
  webhookId: z.uuid().meta({ description: 'The endpoint', examples: ['01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21'] }),
});

const emailDeliveriesSchema = model('EmailDeliveries', 'The requests that told endpoints about an email', {
  deliveries: z.array(emailDeliverySchema).describe('The requests, the latest first'),
});

/** The endpoints about what an email said, and whom it was told to. */
export const emailContentEndpoints: Endpoint[] = [
  endpoint('getEmailContent', 'GET /emails/:id/content', {
    roles: ['send', 'marketing', 'support', 'read'],
    isHeavy: true,
    summary: 'What an email says: HTML, text, headers and source',
    description:
      'An email is 404 whose content is not kept any more (`RETENTION_EMAIL_CONTENT_DAYS`), or whose contact was deleted.',
    replies: { 200: { description: 'The content', schema: emailContentSchema } },
    async handle({ em, project, key, params, deps }) {
      return ok(await readEmailContent(deps, em, project.id, params.id, ownKeyIdOf(key)));
    },
  }),
  endpoint('listEmailDeliveries', 'GET /emails/:id/deliveries', {
    roles: ['read'],
    summary: 'The requests to webhooks about an email, the latest first',
    description: 'At most 100. A request with several events is listed when its first event is about the email.',
    replies: { 200: { description: 'The requests', schema: emailDeliveriesSchema } },
    async handle({ em, project, params }) {
      const { email } = await readEmailStory(em, project.id, params.id);
      const deliveries = await listEmailDeliveries(em, project.id, email);
      return ok({ deliveries: deliveries.map((one) => ({ ...deliveryView(one), webhookId: one.endpointId })) });
    },
  }),
];
