import { z } from 'zod';
import type { ListedSuppression } from '../../shared/domain/suppressions/suppression-lists.ts';
import { SUPPRESSION_REASONS } from '../../shared/domain/suppressions/suppressions.ts';
import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import { momentSchema } from '../../shared/pure/filters/instant-schema.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { cursorFields, cursorsOf } from '../http/cursor.ts';
import { cursorPageQuery, formatQuery, textQuery } from '../http/pagination.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

export const suppressionSchema = model('Suppression', 'An address that gets no email, and why', {
  email: answeredAddress.nullable().describe('null once its contact was erased; the address stays suppressed'),
  reason: z.enum(SUPPRESSION_REASONS),
  words: z.string().nullable().describe('of the server, or of whoever suppressed it by hand'),
  origin: z
    .enum(['email', 'manual'])
    .describe('whether an email led to it, or somebody suppressed the address by hand'),
  emailId: z.uuid().nullable().describe('the email that bounced or was complained about'),
  campaignId: z.uuid().nullable(),
  createdAt: z.iso.datetime(),
});

export const suppressionListQuery = z.strictObject({
  ...cursorPageQuery({ limitDefault: 50 }),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
  address: textQuery(320).meta({ examples: ['ada@example.com'] }),
  ...formatQuery,
});

/** The filters of the list, for an address that no URL shall have. */
export const suppressionSearchBody = suppressionListQuery.omit({ format: true }).extend({
  address: z
    .string()
    .min(1)
    .max(320)
    .meta({ examples: ['ada@example.com'] }),
});

export const suppressionListSchema = z.object({
  suppressions: z.array(suppressionSchema),
  ...cursorFields,
});

export const addSuppressionsBody = z.object({
  emails: z
    .array(emailAddressSchema)
    .min(1)
    .max(LIMITS.suppressionsPerRequest)
    .meta({ examples: [['ada@example.com']] }),
  words: z
    .optional(z.string().trim().min(1).max(500))
    .meta({ description: 'Why, for people', examples: ['asked by telephone'] }),
});

export const addedSuppressionsSchema = z.object({
  added: z.int(),
  present: z.int().describe('addresses that were suppressed already and keep their reason'),
});

export const addressParams = z.object({
  address: z
    .string()
    .min(1)
    .max(1_000)
    .meta({ examples: ['ada@example.com'] }),
});

export const suppressionCursors = cursorsOf(
  z.object({ at: momentSchema, hash: z.string().regex(/^(?:[0-9a-f]{2}){1,64}$/) }),
);

/** A suppression as callers see it. */
export const suppressionView = viewOf(suppressionSchema, ({ reason }: ListedSuppression) => ({
  origin: reason === 'MANUAL' ? ('manual' as const) : ('email' as const),
}));
