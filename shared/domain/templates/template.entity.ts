import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { EMAIL_TYPES } from '../../pure/emails/email-types.ts';
import { baseProperties } from '../../database/base-properties.ts';

/** The columns that templates and campaigns share: the content of an email and its sender. */
export const contentProperties = {
  name: p.text(),
  description: p.text().nullable(),
  subject: p.text(),
  body: p.text(),
  /** The text/plain part as the author wrote it; null means that it is derived from the body. */
  text: p.text().fieldNames('body_text').nullable(),
  /** What mail programs show beside the subject before an email is opened. */
  preheader: p.text().nullable(),
  from: p.text().fieldNames('from_address'),
  fromName: p.text().nullable(),
  replyTo: p.text().nullable(),
  type: p.enum(EMAIL_TYPES).default('MARKETING'),
  /** What it is about. TRANSACTIONAL email has no topic. */
  topicId: p.uuid().nullable(),
};

export const TemplateEntity = defineEntity({
  name: 'Template',
  tableName: 'template',
  properties: { ...baseProperties, projectId: p.uuid(), ...contentProperties },
});
export type Template = InferEntity<typeof TemplateEntity>;

export type Content = Pick<Template, keyof typeof contentProperties>;

/** What a copy of a template or a campaign has in common with it, beside the name. */
export function contentOf(original: Content): Content {
  const { name, description, subject, body, text, preheader, from, fromName, replyTo, type, topicId } = original;
  return { name, description, subject, body, text, preheader, from, fromName, replyTo, type, topicId };
}
