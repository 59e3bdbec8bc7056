import { z } from 'zod';
import { contentSchema } from './content.view.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

export const templateSchema = model('Template', 'Content that emails are made from', {
  id: z.uuid(),
  ...contentSchema.shape,
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A template as callers see it. */
export const templateView = viewOf(templateSchema);
