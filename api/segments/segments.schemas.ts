import { z } from 'zod';
import { isEmailAddress, normalizeAddress } from '../../shared/pure/emails/email-address.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { contactSchema } from '../contacts/contact.view.ts';
import { offsetPageQuery, offsetPageSchema } from '../http/pagination.ts';

/** A call is one transaction; more addresses belong in an import. */

const name = z.string().trim().min(1).max(100);
const description = z.string().max(500).nullish();

const newSegment = z.object({
  name,
  description,
  type: z.enum(['DYNAMIC', 'STATIC']).default('DYNAMIC'),
  condition: filterConditionSchema.optional().meta({ description: 'Required for DYNAMIC, ignored for STATIC' }),
  trackMembership: z.boolean().default(false),
});

/** The condition of a STATIC segment is ignored. */
export const createSegmentBody = z.preprocess((body) => {
  if (typeof body !== 'object' || body === null || Reflect.get(body, 'type') !== 'STATIC') return body;
  return { ...body, condition: undefined };
}, newSegment);

export const patchSegmentBody = z.object({
  name: name.optional(),
  description,
  condition: filterConditionSchema.nullish().meta({ description: 'Of DYNAMIC segments only' }),
  trackMembership: z.boolean().optional(),
});

export const segmentContactsQuery = z.object(offsetPageQuery);
export const segmentContactsSchema = offsetPageSchema(contactSchema, 'SegmentContactPage');

/** Kept as the caller wrote it, because the answer repeats the addresses without a contact. */
const spelledAddress = z.string().refine((email) => isEmailAddress(normalizeAddress(email)), {
  error: 'Invalid email address',
  params: { code: 'invalid_string' },
});

export const addMembersBody = z.object({
  emails: z.array(spelledAddress).max(LIMITS.membersPerRequest),
  createMissing: z.boolean().default(false).meta({ description: 'Create contacts for addresses without one' }),
  subscribed: z.boolean().default(true).meta({ description: 'The state of contacts created here' }),
});

export const addedMembersSchema = z.object({
  added: z.int(),
  created: z.int(),
  notFound: z.array(z.string()),
});

/** An invalid address cannot be a member, so nothing is gained by refusing it. */
export const removeMembersBody = z.object({ emails: z.array(z.string().max(1_000)).max(LIMITS.membersPerRequest) });

export const removedMembersSchema = z.object({ removed: z.int() });

export const computedMembershipSchema = z
  .object({ added: z.int(), removed: z.int(), total: z.int() })
  .meta({ id: 'SegmentChanges', description: 'How the members have changed' });

export const refreshedSegmentSchema = z.object({ memberCount: z.int() });
