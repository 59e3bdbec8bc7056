import { z } from 'zod';
import { EMAIL_TYPES } from '../../shared/pure/emails/email-types.ts';
import type { Template } from '../../shared/domain/templates/template.entity.ts';
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

type Content = Pick<
  Template,
  | 'name'
  | 'description'
  | 'subject'
  | 'body'
  | 'text'
  | 'preheader'
  | 'from'
  | 'fromName'
  | 'replyTo'
  | 'type'
  | 'topicId'
>;

/** The shared fields of a template or a campaign as callers see them. */
export function contentView(record: Content): z.infer<typeof contentSchema> {
  return {
    name: record.name,
    description: record.description ?? null,
    subject: record.subject,
    body: record.body,
    text: record.text ?? null,
    preheader: record.preheader ?? null,
    from: record.from,
    fromName: record.fromName ?? null,
    replyTo: record.replyTo ?? null,
    type: record.type,
    topicId: record.topicId ?? null,
  };
}
