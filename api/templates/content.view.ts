import { z } from 'zod';
import { EMAIL_TYPES } from '../../shared/pure/emails/email-types.ts';
import { answeredAddress } from '../http/answered-address.ts';

/** The fields that templates and campaigns share: name, content and sender. */
export const contentSchema = z.object({
  name: z.string(),
  description: z.string().nullable(),
  subject: z.string(),
  body: z.string(),
  text: z.string().nullable(),
  preheader: z.string().nullable(),
  from: answeredAddress,
  fromName: z.string().nullable(),
  replyTo: answeredAddress.nullable(),
  type: z.enum(EMAIL_TYPES),
  topicId: z.uuid().nullable(),
});
