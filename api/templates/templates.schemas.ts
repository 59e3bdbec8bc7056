import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../shared/pure/copy-name.ts';
import { EMAIL_TYPES } from '../../shared/pure/emails/email-types.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { SUBJECT_LENGTH_MAX } from '../../shared/pure/templates/message-template.ts';
import { offsetPageQuery, offsetPageSchema, searchQuery, sortQuery } from '../http/pagination.ts';
import { campaignReferenceSchema, stepReferenceSchema } from '../http/references.ts';
import { oneLine, shownName } from '../send/header-line.ts';
import { senderAddressSchema } from '../send/sender-address.ts';
import { templateSchema } from './template.view.ts';

const DESCRIPTION_LENGTH_MAX = 1_000;

/** The fields that templates and campaigns share, as callers send them. */
export const contentFields = {
  name: z.string().trim().min(1).max(NAME_LENGTH_MAX),
  description: z.string().max(DESCRIPTION_LENGTH_MAX).nullable().optional(),
  subject: oneLine(SUBJECT_LENGTH_MAX).meta({ examples: ['Welcome, {{firstName ?? "friend"}}'] }),
  body: z.string().min(1).max(LIMITS.templateLength).describe('HTML with {{variables}}'),
  text: z.string().min(1).max(LIMITS.templateLength).nullable().optional(),
  preheader: oneLine(LIMITS.preheaderLength).nullable().optional(),
  from: senderAddressSchema.describe('An address of a verified domain'),
  fromName: shownName(NAME_LENGTH_MAX).nullable().optional(),
  replyTo: senderAddressSchema.nullable().optional(),
  type: z.enum(EMAIL_TYPES),
  topicId: z.uuid().nullable().optional(),
};

export const createTemplateBody = z.object({ ...contentFields, type: contentFields.type.default('MARKETING') });

export const patchTemplateBody = z.object(contentFields).partial();

export const templateListQuery = z.object({
  ...offsetPageQuery,
  type: z.enum(EMAIL_TYPES).optional(),
  search: searchQuery,
  ...sortQuery(['createdAt', 'name', 'updatedAt']),
});

export const templateListSchema = offsetPageSchema(templateSchema, 'TemplatePage');

export const templateUsageSchema = z.object({
  campaigns: z.array(campaignReferenceSchema),
  workflowSteps: z.array(stepReferenceSchema),
  emailsSent: z.int(),
});
