import { z } from 'zod';
import type { Template } from '../../shared/domain/templates/template.entity.ts';
import { contentSchema, contentView } from './content.view.ts';
import { model } from '../../shared/pure/model.ts';

export const templateSchema = model('Template', 'Content that emails are made from', {
  id: z.uuid(),
  ...contentSchema.shape,
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A template as callers see it. */
export function templateView(template: Template): z.infer<typeof templateSchema> {
  return {
    id: template.id,
    ...contentView(template),
    projectId: template.projectId,
    createdAt: template.createdAt.toISOString(),
    updatedAt: template.updatedAt.toISOString(),
  };
}
