import { z } from 'zod';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../../shared/pure/emails/email-types.ts';
import type { EmailPage, EmailCursor } from '../../shared/domain/emails/email-lists.ts';
import { instantSchema, momentSchema } from '../../shared/pure/filters/instant-schema.ts';
import { cursorsOf } from '../http/cursor.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { cursorPageQuery, textQuery } from '../http/pagination.ts';

export const emailListQuery = z.strictObject({
  ...cursorPageQuery({ limitDefault: 50 }),
  address: textQuery(320).meta({ description: 'The address of its recipient', examples: ['ada@example.com'] }),
  contactId: z.uuid().optional(),
  campaignId: z.optional(z.uuid()).meta({ examples: ['01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21'] }),
  templateId: z
    .uuid()
    .optional()
    .meta({ examples: ['01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21'] }),
  workflowId: z.uuid().optional(),
  status: z.enum(EMAIL_STATUSES).optional(),
  type: z.enum(EMAIL_TYPES).optional(),
  tag: textQuery(LIMITS.emailTagLength).meta({ description: 'One of its tags', examples: ['receipt'] }),
  since: instantSchema.optional().describe('Queued on this day or moment, or later'),
  until: instantSchema.optional().describe('Queued on this day or moment, or earlier'),
});

/** The filters of the list, for an address that no URL shall have. */
export const emailSearchBody = emailListQuery.extend({
  tag: z
    .optional(z.string().max(LIMITS.emailTagLength))
    .meta({ description: 'One of its tags', examples: ['receipt'] }),
  address: z
    .string()
    .min(1)
    .max(320)
    .meta({ examples: ['ada@example.com'] }),
});

const timePosition = z.object({ at: momentSchema, id: z.uuid() });
const numberPosition = timePosition.extend({
  seq: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number),
});

const byTime = cursorsOf(timePosition);
const byNumber = cursorsOf(numberPosition);

/**
 * The position that a cursor stands for.
 * @param isByNumber whether the list goes by the number in a campaign, not by the time alone
 * @throws AppError BAD_REQUEST when the cursor comes from another list
 */
export function readEmailCursor(cursor: string | undefined, isByNumber: boolean): EmailCursor | undefined {
  if (isByNumber) return byNumber.read(cursor);
  const place = byTime.read(cursor);
  return place && { ...place, seq: null };
}

/** `cursor` and `hasMore` of a page. */
export const continuationOf = ({ next }: EmailPage) => byNumber.after(next);
