import type { z } from 'zod';
import { AppError, validationError } from '../../shared/pure/app-error.ts';
import type { QueuedEmail } from '../../shared/domain/emails/email-queue.ts';
import type { TransactionalRequest } from '../../shared/domain/emails/transactional-request.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import type { Config } from '../../shared/platform/config.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { errorView } from '../http/error-envelope.ts';
import { fieldErrorsOf } from '../http/field-errors.ts';
import { batchBodySchema, batchSentSchema, documentedBatch, sendBodySchema, sentSchema } from './send.schemas.ts';

const endpoint = endpointsOf('Public API');

/** Largest body of a request: base64 takes 4/3 of the message, and a megabyte is for everything around it. */
function bodyBytesMax(messageBytesMax: number): number {
  return Math.ceil(messageBytesMax * 1.4) + 1024 * 1024;
}

type SendBody = z.infer<ReturnType<typeof sendBodySchema>>;

function requestOf(body: SendBody, key: TransactionalRequest['key']): TransactionalRequest {
  const {
    body: html,
    template: templateId,
    reply: replyTo,
    name,
    from,
    headers = {},
    attachments = [],
    ...rest
  } = body;
  return {
    ...rest,
    key,
    html,
    templateId,
    replyTo,
    attachments,
    from: from && { ...from, name: from.name ?? name ?? undefined },
    headers: Object.entries(headers),
  };
}

const acceptedView = (queued: QueuedEmail[]) =>
  queued.map((email) => ({ contact: email.contact, email: email.emailId }));

/** Creates the endpoints that send transactional emails. */
export function createSendEndpoints(config: Config): Endpoint[] {
  const emailBody = sendBodySchema({
    attachmentsBytesMax: config.ATTACHMENTS_MAX_BYTES,
    headersAllowed: config.EMAIL_HEADERS_ALLOWED,
  });
  const send = endpoint('sendEmail', 'POST /v1/send', {
    roles: ['send'],
    effect: 'data',
    summary: 'Send a transactional email to one or many recipients',
    description:
      'Creates or updates the contact of each recipient. The email is stored for delivery before the answer.',
    isIdempotent: true,
    isGrouped: true,
    body: emailBody,
    bodyBytesMax: bodyBytesMax(config.MESSAGE_MAX_BYTES),
    base64At: ['attachments', '*', 'content'],
    hasEnvelope: true,
    hasWarnings: true,
    replies: { 200: { description: 'Accepted for delivery', schema: sentSchema } },
    errors: ['TEMPLATE_NOT_FOUND', 'TOPIC_NOT_FOUND', 'SENDER_DOMAIN_REFUSED', 'BAD_REQUEST'],
    async handle({ project, key, body, claim, deps }) {
      const queued = await deps.queueTransactional({ project, request: requestOf(body, key), claim });
      return ok({ emails: acceptedView(queued), timestamp: new Date().toISOString() });
    },
  });
  const batch = endpoint('sendBatch', 'POST /v1/send/batch', {
    summary: 'Send up to 100 different emails in one request',
    description:
      'Each email has the fields of POST /v1/send and an outcome of its own. Those that are accepted are stored together, so a repetition with the same Idempotency-Key sends none of them again. Emails with attachments go by themselves.',
    roles: ['send'],
    effect: 'data',
    isIdempotent: true,
    isGrouped: true,
    body: batchBodySchema,
    documentedBody: documentedBatch(emailBody),
    bodyBytesMax: bodyBytesMax(config.MESSAGE_MAX_BYTES),
    hasEnvelope: true,
    hasWarnings: true,
    replies: { 200: { description: 'The outcome of each email', schema: batchSentSchema } },
    async handle({ project, key, body, claim, deps }) {
      const requests = body.emails.map((email) => {
        const read = emailBody.safeParse(email, CHECKS);
        return read.success ? requestOf(read.data, key) : validationError(fieldErrorsOf(read.error));
      });
      const outcomes = await deps.queueBatch({ project, requests, claim });
      const results = outcomes.map((outcome) =>
        outcome instanceof AppError
          ? { success: false, error: errorView(outcome) }
          : { success: true, emails: acceptedView(outcome) },
      );
      return ok({ results, timestamp: new Date().toISOString() });
    },
  });
  return [send, batch];
}
