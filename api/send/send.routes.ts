import type { TransactionalRequest } from '../../shared/domain/emails/transactional-request.ts';
import type { Config } from '../../shared/platform/config.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { sendBodySchema, sentSchema } from './send.schemas.ts';

/** Largest body of a request: base64 takes 4/3 of the message, and a megabyte is for everything around it. */
function bodyBytesMax(messageBytesMax: number): number {
  return Math.ceil(messageBytesMax * 1.4) + 1024 * 1024;
}

/** Creates the endpoint that sends transactional emails. */
export function createSendEndpoints(config: Config): Endpoint[] {
  const send = endpoint({
    operationId: 'sendEmail',
    roles: ['send'],
    effect: 'data',
    method: 'post',
    path: '/v1/send',
    tag: 'Public API',
    summary: 'Send a transactional email to one or many recipients',
    description:
      'Creates or updates the contact of each recipient. The email is stored for delivery before the answer.',
    isIdempotent: true,
    isGrouped: true,
    body: sendBodySchema({
      attachmentsBytesMax: config.ATTACHMENTS_MAX_BYTES,
      headersAllowed: config.EMAIL_HEADERS_ALLOWED,
    }),
    bodyBytesMax: bodyBytesMax(config.MESSAGE_MAX_BYTES),
    base64At: ['attachments', '*', 'content'],
    hasEnvelope: true,
    hasWarnings: true,
    replies: { 200: { description: 'Accepted for delivery', schema: sentSchema } },
    errors: ['TEMPLATE_NOT_FOUND', 'TOPIC_NOT_FOUND', 'SENDER_DOMAIN_REFUSED', 'BAD_REQUEST'],
    async handle({ project, key, body, claim, deps }) {
      const from = body.from && { ...body.from, name: body.from.name ?? body.name };
      const request: TransactionalRequest = {
        key,
        to: body.to,
        subject: body.subject,
        html: body.body,
        text: body.text,
        preheader: body.preheader,
        templateId: body.template,
        from,
        replyTo: body.reply,
        subscribed: body.subscribed,
        data: body.data,
        headers: Object.entries(body.headers ?? {}),
        attachments: body.attachments ?? [],
      };
      const queued = await deps.queueTransactional({ project, request, claim });
      return ok({
        emails: queued.map((email) => ({ contact: email.contact, email: email.emailId })),
        timestamp: new Date().toISOString(),
      });
    },
  });
  return [send];
}
