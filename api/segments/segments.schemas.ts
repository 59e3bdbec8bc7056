import { z } from 'zod';
import { isEmailAddress, normalizeAddress } from '../../shared/pure/emails/email-address.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { isRecipientAddress, NOT_MAILABLE } from '../../shared/sending/transport/wire-address.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { contactSchema } from '../contacts/contact.view.ts';
import { offsetPageQuery, offsetPageSchema } from '../http/pagination.ts';
import { model } from '../../shared/pure/model.ts';

const name = z.string().trim().min(1).max(100);
const description = z.string().max(500).nullish();

const newSegment = z.object({
  name,
  description,
  type: z.enum(['DYNAMIC', 'STATIC']).default('DYNAMIC'),
  condition: filterConditionSchema.optional().describe('Required for DYNAMIC, ignored for STATIC'),
  trackMembership: z.boolean().default(false),
});

/** Drops the condition of a STATIC segment before it is checked. */
export const createSegmentBody = z.preprocess((body) => {
  if (typeof body !== 'object' || body === null || Reflect.get(body, 'type') !== 'STATIC') return body;
  return { ...body, condition: undefined };
}, newSegment);

export const patchSegmentBody = z.object({
  name: name.optional(),
  description,
  condition: filterConditionSchema.nullish().describe('For DYNAMIC segments only'),
  trackMembership: z.boolean().optional(),
});

export const segmentContactsQuery = z.object(offsetPageQuery);
export const segmentContactsSchema = offsetPageSchema(contactSchema, 'SegmentContactPage');

/** An address that is kept as the caller wrote it, because the answer repeats those without a contact. */
const addressAsWritten = z
  .string()
  .refine((email) => isEmailAddress(normalizeAddress(email)), {
    error: 'Invalid email address',
    abort: true,
    params: { code: 'invalid_string' },
  })
  .refine((email) => isRecipientAddress(normalizeAddress(email)), {
    error: NOT_MAILABLE,
    params: { code: 'invalid_string' },
  });

export const addMembersBody = z.object({
  emails: z.array(addressAsWritten).max(LIMITS.membersPerRequest),
  createMissing: z.boolean().default(false).describe('Create contacts for addresses without one'),
  subscribed: z.boolean().default(true).describe('Whether contacts created here are subscribed'),
});

export const addedMembersSchema = z.object({
  added: z.int(),
  created: z.int(),
  notFound: z.array(z.string()),
});

/** Addresses are not checked: an invalid one belongs to no member, so removing it changes nothing. */
export const removeMembersBody = z.object({ emails: z.array(z.string().max(1_000)).max(LIMITS.membersPerRequest) });

export const removedMembersSchema = z.object({ removed: z.int() });

export const computedMembershipSchema = model('SegmentChanges', 'How the members have changed', {
  added: z.int(),
  removed: z.int(),
  total: z.int(),
});

export const refreshedSegmentSchema = z.object({ memberCount: z.int() });
