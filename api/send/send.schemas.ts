import { z } from 'zod';
import { DAY_MS } from '../../shared/pure/days.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { atMost, boundedArray } from '../../shared/pure/bounded-schema.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import {
  HEADERS_TOO_LARGE,
  headersBytes,
  isHeaderName,
  isProtectedHeader,
  isRelayHeader,
} from '../../shared/pure/emails/message-headers.ts';
import { SUBJECT_LENGTH_MAX } from '../../shared/pure/templates/message-template.ts';
import { NO_LINE_BREAK, oneLine, shownName } from './header-line.ts';
import { recipientAddressSchema, senderAddressSchema } from './sender-address.ts';
import { decodeBase64 } from './base64.ts';
import { fieldErrorSchema } from '../reference/error-responses.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { listOf, model } from '../../shared/pure/model.ts';

function mailboxOf(addressSchema: typeof recipientAddressSchema, id: string) {
  return z.union([
    addressSchema.transform((address) => ({ address, name: undefined })),
    z
      .object({
        name: shownName(200).optional().describe('The name shown beside the address'),
        email: addressSchema.describe('The address'),
      })
      .meta({ id, description: 'An address with a name' })
      .transform(({ name, email }) => ({ address: email, name: name ?? undefined })),
  ]);
}
const mailboxSchema = mailboxOf(recipientAddressSchema, 'Address');
const senderSchema = mailboxOf(senderAddressSchema, 'SenderAddress');

/** Base64 as octets. A large text was decoded already while the request was read. */
const base64Schema = z
  .unknown()
  .transform((given, context) => {
    if (Buffer.isBuffer(given)) return given;
    if (typeof given !== 'string') {
      context.addIssue({ code: 'invalid_type', expected: 'string', input: given });
      return z.NEVER;
    }
    const content = given === '' ? undefined : decodeBase64(given);
    if (content !== undefined) return content;
    context.addIssue({ code: 'custom', message: 'Must be base64', params: { code: 'invalid_string' }, input: given });
    return z.NEVER;
  })
  .meta({ override: { type: 'string', minLength: 1, description: 'base64' } });

const attachmentSchema = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\r\n"']*$/, 'Must not contain line breaks or quotes'),
    content: base64Schema,
    contentType: z
      .string()
      .max(255)
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[^\r\n]*)?$/, 'Must be a MIME type such as application/pdf'),
    contentId: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\s<>"]+$/, 'Must not contain spaces, quotes or angle brackets')
      .optional(),
    disposition: z.enum(['attachment', 'inline']).default('attachment'),
  })
  .refine((file) => file.disposition !== 'inline' || file.contentId !== undefined, {
    error: 'Required when disposition is inline',
    path: ['contentId'],
    params: { code: 'invalid_type' },
  })
  .meta({ id: 'Attachment', description: 'A file of an email' });

const HEADER_TOO_LONG = `The value must have at most ${LIMITS.customHeaderValueLength} characters`;

/** @param allowed see `isRelayHeader` */
function headersSchema(allowed: readonly string[]) {
  return atMost(LIMITS.customHeaders, z.record(z.string(), z.string())).superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const fault = headerFault(name, value, allowed);
      const code = fault === HEADER_TOO_LONG ? 'too_big' : 'invalid_string';
      if (fault) context.addIssue({ code: 'custom', path: [name], message: fault, params: { code } });
    }
    if (headersBytes(Object.entries(headers)) > LIMITS.customHeadersBytes) {
      context.addIssue({ code: 'custom', message: HEADERS_TOO_LARGE, params: { code: 'too_big' } });
    }
  });
}

function headerFault(name: string, value: string, allowed: readonly string[]): string | undefined {
  if (!isHeaderName(name)) return 'The name is not a header name (printable ASCII without spaces and colons)';
  if (isProtectedHeader(name)) return 'This header is set by Everpost';
  if (isRelayHeader(name, allowed)) {
    return 'This header gives orders to a mail relay; only the operator may allow it (EMAIL_HEADERS_ALLOWED)';
  }
  if (value.length > LIMITS.customHeaderValueLength) return HEADER_TOO_LONG;
  if (!NO_LINE_BREAK.test(value)) return 'The value must not contain line breaks';
  return undefined;
}

/** Base64 takes four characters for three octets, and a few more for its line breaks. */
const ENCODED_LENGTH_FACTOR = 1.4;

function encodedLength(attachments: unknown): number {
  if (!Array.isArray(attachments)) return 0;
  return attachments.reduce<number>((sum, file) => {
    const content: unknown = typeof file === 'object' && file !== null ? Reflect.get(file, 'content') : undefined;
    return sum + (typeof content === 'string' ? content.length : 0);
  }, 0);
}

/** The attachments of an email. Files that are far too large are refused before they are decoded. */
function attachmentsSchema(bytesMax: number) {
  const tooLarge = {
    code: 'custom' as const,
    params: { code: 'too_big' },
    message: `All attachments together may have at most ${bytesMax} bytes`,
  };
  return z.preprocess(
    (input, context) => {
      if (encodedLength(input) <= bytesMax * ENCODED_LENGTH_FACTOR + 1_024) return input;
      context.addIssue(tooLarge);
      return z.NEVER;
    },
    boundedArray(attachmentSchema, LIMITS.attachments).superRefine((files, context) => {
      if (files.reduce((sum, file) => sum + file.content.length, 0) > bytesMax) context.addIssue(tooLarge);
    }),
  );
}

const copiesSchema = atMost(
  LIMITS.copies,
  z.union([mailboxSchema, z.array(mailboxSchema).max(LIMITS.copies)]),
).transform((copies) => (Array.isArray(copies) ? copies : [copies]));

/** A moment in the past means now. */
export const scheduledAtSchema = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() <= Date.now() + LIMITS.scheduledDays * DAY_MS, {
    error: `Must be within the next ${LIMITS.scheduledDays} days`,
    params: { code: 'too_big' },
  });

interface Addressed {
  to: { address: string }[];
  cc?: { address: string }[] | undefined;
  bcc?: { address: string }[] | undefined;
}

/** Copies are of one message, so it has one recipient in `to`, and nobody gets it twice. */
function checkCopies({ to, cc = [], bcc = [] }: Addressed, context: z.RefinementCtx): void {
  const copies = [...cc.map((each) => ['cc', each] as const), ...bcc.map((each) => ['bcc', each] as const)];
  const fault = (field: string, message: string, code: string) =>
    context.addIssue({ code: 'custom', path: [field], message, params: { code } });
  const [first] = copies;
  if (!first) return;
  if (to.length > 1) fault('to', 'Only one recipient may be in to beside cc and bcc', 'too_big');
  if (copies.length > LIMITS.copies) {
    fault(first[0], `There may be at most ${LIMITS.copies} recipients in cc and bcc together`, 'too_big');
  }
  const seen = new Set(to.map(({ address }) => address));
  for (const [field, { address }] of copies) {
    if (seen.has(address)) fault(field, 'A recipient may be in to, cc and bcc only once', 'custom');
    seen.add(address);
  }
}

/** The body of POST /v1/send. */
export function sendBodySchema(limits: { attachmentsBytesMax: number; headersAllowed: readonly string[] }) {
  return z
    .object({
      to: atMost(
        LIMITS.recipients,
        z.union([mailboxSchema, z.array(mailboxSchema).min(1).max(LIMITS.recipients)]),
      ).transform((to) => (Array.isArray(to) ? to : [to])),
      cc: copiesSchema.optional(),
      bcc: copiesSchema.optional(),
      tags: boundedArray(z.string().trim().min(1).max(LIMITS.emailTagLength), LIMITS.emailTags)
        .transform((tags) => [...new Set(tags)])
        .optional(),
      scheduledAt: scheduledAtSchema.optional(),
      subject: oneLine(SUBJECT_LENGTH_MAX).optional(),
      body: z.string().min(1).optional(),
      text: z.string().min(1).max(LIMITS.templateLength).optional(),
      preheader: oneLine(LIMITS.preheaderLength).optional(),
      template: z.uuid({ error: 'Must be the id of a template (a UUID)' }).optional(),
      from: senderSchema.optional(),
      name: shownName(200).optional().meta({ deprecated: true, description: 'Use from: { name, email }' }),
      subscribed: z.boolean().optional(),
      data: customDataSchema.optional(),
      headers: headersSchema(limits.headersAllowed).optional(),
      reply: senderAddressSchema.optional(),
      attachments: attachmentsSchema(limits.attachmentsBytesMax).optional(),
    })
    .superRefine(checkCopies);
}

/** The body of POST /v1/send/batch. Each email is read alone, so a faulty one keeps no other from being sent. */
export const batchBodySchema = z.object({ emails: atMost(LIMITS.batchEmails, z.array(z.unknown()).min(1)) });

export function documentedBatch(email: ReturnType<typeof sendBodySchema>) {
  const item = email.meta({ id: 'BatchEmail', description: 'An email of a batch, as in POST /v1/send' });
  return z.object({ emails: z.array(item).min(1).max(LIMITS.batchEmails) });
}

const acceptedSchema = listOf(
  'AcceptedEmail',
  'An email that was accepted, and its recipient',
  'One for each recipient, in their order: those of `to`, `cc`, then `bcc`',
  {
    contact: model('ContactReference', 'A contact by id and address', { id: z.uuid(), email: answeredAddress }),
    email: z.uuid().describe('The id of the email; its events have it as `emailId`'),
  },
);

/** The outcome of one email of a batch. */
const outcomeSchema = model('BatchOutcome', 'Whether an email of a batch was accepted', {
  success: z.boolean(),
  emails: acceptedSchema.optional(),
  error: z
    .object({
      code: z.string().meta({ description: 'As in the error envelope', examples: ['VALIDATION_ERROR'] }),
      statusCode: z.int().meta({ description: 'What the request would have answered alone', examples: [422] }),
      message: z.string().meta({ examples: ['Request validation failed'] }),
      errors: z.array(fieldErrorSchema).optional().describe('The faults by field'),
      details: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ examples: [{ recipients: ['ada@example.com'] }] }),
      suggestion: z.string().meta({ description: 'What to do', examples: ['See /docs/errors/VALIDATION_ERROR'] }),
    })
    .optional()
    .meta({ id: 'RefusedEmail', description: 'Why an email was refused, as in the error envelope' }),
});

export const batchSentSchema = z.object({
  results: z.array(outcomeSchema).describe('One for each email, in their order'),
  timestamp: z.iso.datetime(),
});

export const sentSchema = z.object({
  emails: acceptedSchema,
  timestamp: z.iso.datetime(),
});
