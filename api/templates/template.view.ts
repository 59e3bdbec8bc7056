import { z } from 'zod';
import { EMAIL_TYPES } from '../../shared/pure/email-types.ts';
import type { Template } from '../../shared/domain/templates/template.entity.ts';

export const templateSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    subject: z.string(),
    body: z.string(),
    from: z.email(),
    fromName: z.string().nullable(),
    replyTo: z.email().nullable(),
    type: z.enum(EMAIL_TYPES),
    projectId: z.uuid(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Template' });

/** A template as callers see it. */
export function templateView(template: Template): z.infer<typeof templateSchema> {
  return {
    id: template.id,
    name: template.name,
    description: template.description ?? null,
    subject: template.subject,
    body: template.body,
    from: template.from,
    fromName: template.fromName ?? null,
    replyTo: template.replyTo ?? null,
    type: template.type,
    projectId: template.projectId,
    createdAt: template.createdAt.toISOString(),
    updatedAt: template.updatedAt.toISOString(),
  };
}
