import { z } from 'zod';
import { emailAddressSchema } from '../../shared/pure/email-address.ts';
import { isHeaderName, isProtectedHeader } from '../../shared/pure/mail-headers.ts';
import { SUBJECT_LENGTH_MAX } from '../../shared/pure/message-template.ts';
import { NO_LINE_BREAK, oneLine } from './header-line.ts';
import { senderAddressSchema } from './sender-address.ts';
import { customDataSchema } from '../contacts/contacts.schemas.ts';

const RECIPIENTS_MAX = 1_000;
const ATTACHMENTS_MAX = 10;
const HEADER_VALUE_MAX = 998;

function mailboxOf(addressSchema: typeof emailAddressSchema) {
  return z.union([
    addressSchema.transform((address) => ({ address, name: undefined })),
    z
      .object({ name: oneLine(200).optional(), email: addressSchema })
      .transform(({ name, email }) => ({ address: email, name })),
  ]);
}
const mailboxSchema = mailboxOf(emailAddressSchema);

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const base64Schema = z
  .string()
  .min(1)
  .transform((text, context) => {
    const compact = text.replace(/[\r\n]/g, '');
    if (compact.length % 4 !== 0 || !BASE64.test(compact)) {
      context.addIssue({ code: 'custom', message: 'Must be base64', params: { code: 'invalid_string' } });
      return z.NEVER;
    }
    return Buffer.from(compact, 'base64');
  });

const attachmentSchema = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\r\n"']*$/, 'Must not contain line breaks or quotes'),
    content: base64Schema.meta({ description: 'base64' }),
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
  });

const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value);
    if (fault) context.addIssue({ code: 'custom', path: [name], message: fault, params: { code: 'invalid_string' } });
  }
});

function headerFault(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return 'The name is not a header name (printable ASCII without spaces and colons)';
  if (isProtectedHeader(name)) return 'This header is set by Everpost';
  if (value.length > HEADER_VALUE_MAX) return `The value must have at most ${HEADER_VALUE_MAX} characters`;
  if (!NO_LINE_BREAK.test(value)) return 'The value must not contain line breaks';
  return undefined;
}

/** The body of POST /v1/send. */
export function sendBodySchema(limits: { attachmentsBytesMax: number }) {
  return z
    .object({
      to: z
        .union([mailboxSchema, z.array(mailboxSchema).min(1).max(RECIPIENTS_MAX)])
        .transform((to) => (Array.isArray(to) ? to : [to])),
      subject: oneLine(SUBJECT_LENGTH_MAX).optional(),
      body: z.string().min(1).optional(),
      template: z.uuid().optional(),
      from: mailboxOf(senderAddressSchema).optional(),
      name: oneLine(200).optional().meta({ deprecated: true, description: 'Use from: { name, email }' }),
      subscribed: z.boolean().optional(),
      data: customDataSchema.optional(),
      headers: headersSchema.optional(),
      reply: senderAddressSchema.optional(),
      attachments: z.array(attachmentSchema).max(ATTACHMENTS_MAX).optional(),
    })
    .refine(
      ({ attachments }) =>
        (attachments ?? []).reduce((sum, file) => sum + file.content.length, 0) <= limits.attachmentsBytesMax,
      {
        error: `All attachments together may have ${limits.attachmentsBytesMax} bytes`,
        path: ['attachments'],
        params: { code: 'too_big' },
      },
    );
}

export const sentSchema = z.object({
  emails: z.array(
    z.object({
      contact: z.object({ id: z.uuid(), email: z.email() }),
      email: z.uuid().meta({ description: 'The e-mail record; later events of this mail carry it as emailId' }),
    }),
  ),
  timestamp: z.iso.datetime(),
});
