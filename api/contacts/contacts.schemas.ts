import { z } from 'zod';
import { DAY_MS } from '../../shared/pure/days.ts';
import { atMost } from '../../shared/pure/bounded-schema.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { topicChoicesSchema } from '../../shared/pure/topics.ts';
import { cursorFields, cursorsOf, cursorTextSchema, cursorTimeSchema } from '../http/cursor.ts';
import { cursorPageQuery, searchQuery, sortQuery } from '../http/pagination.ts';
import { recipientAddressSchema } from '../send/sender-address.ts';
import { trackingAllowedSchema } from '../track/track.schemas.ts';
import { contactSchema } from './contact.view.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const switchQuery = (description: string) =>
  z
    .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
    .optional()
    .meta({ override: { type: 'boolean' }, description });

export const contactListQuery = z.object({
  ...cursorPageQuery(),
  search: searchQuery,
  subscribed: switchQuery('Only contacts that are subscribed, or that are not; all when left out'),
  pending: switchQuery(
    'Only contacts who have not confirmed their subscription, or only the others; all when left out',
  ),
  paused: switchQuery('Only contacts who have paused marketing, or only the others; all when left out'),
  ...sortQuery(['createdAt', 'email']),
});

/** The filters of the list, for an address that no URL shall have. */
export const contactSearchBody = contactListQuery.extend({
  search: z
    .string()
    .min(1)
    .max(500)
    .meta({ examples: ['ada@example.com'] }),
  subscribed: z.boolean().optional(),
  pending: z.optional(z.boolean()).meta({
    description: 'Only contacts who have not confirmed their subscription, or only the others',
    examples: [true],
  }),
  paused: z
    .boolean()
    .optional()
    .meta({ description: 'Only contacts who have paused marketing, or only the others', examples: [false] }),
});

export const contactCursors = cursorsOf(
  z.discriminatedUnion('sort', [
    z.object({ sort: z.literal('email'), value: cursorTextSchema, id: z.uuid() }),
    z.object({ sort: z.literal('createdAt'), value: cursorTimeSchema, id: z.uuid() }),
  ]),
);

export const contactListSchema = model('ContactPage', 'A page of contacts', {
  data: z.array(contactSchema),
  ...cursorFields,
  total: z.int().describe('On the first page only, 0 on later ones'),
});

export const upsertContactBody = z.object({
  email: recipientAddressSchema,
  subscribed: z.boolean().optional().describe('New contacts: true when omitted'),
  topics: topicChoicesSchema.optional(),
  trackingAllowed: trackingAllowedSchema.optional(),
  data: customDataSchema.optional(),
});

export const upsertedContactSchema = model('UpsertedContact', 'A contact, and whether it is new', {
  ...contactSchema.shape,
  _meta: model('UpsertMeta', 'Whether the contact is new', { isNew: z.boolean(), isUpdate: z.boolean() }),
});

/** The body of POST /contacts/bulk. Each contact is read alone, so a faulty one takes nothing from others. */
export const bulkContactsBody = z.object({ contacts: atMost(LIMITS.contactsPerRequest, z.array(z.unknown()).min(1)) });

/** That body as callers know it. */
export const documentedBulkContacts = z.object({
  contacts: z
    .array(upsertContactBody.meta({ id: 'BulkContact', description: 'A contact of a request, as in POST /contacts' }))
    .min(1)
    .max(LIMITS.contactsPerRequest)
    .describe('The contacts, as in POST /contacts'),
});

export const bulkContactsSchema = z.object({
  results: listOf(
    'BulkContactOutcome',
    'What became of a contact of a request',
    'One for each contact, in their order',
    {
      email: z.string().nullable().describe('The address, as it is stored if it is one'),
      outcome: z
        .enum(['created', 'updated', 'unchanged', 'error'])
        .describe('What became of it; nothing was stored of an error'),
      id: z.nullable(z.uuid()).meta({
        description: 'The id of the contact; null for an error',
        examples: ['0198c0de-0000-7000-8000-000000000001'],
      }),
      errors: z
        .array(
          model('BulkContactFault', 'What is wrong with a field of a contact', {
            field: z.string().meta({ examples: ['topics.news'] }),
            message: z.string(),
            code: z.string().meta({ description: 'As in the error envelope', examples: ['unknown_topic'] }),
          }),
        )
        .optional()
        .describe('Of an error: what is wrong, field by field'),
    },
  ),
  createdCount: z.int(),
  updatedCount: z.int(),
  unchangedCount: z.int(),
  failureCount: z.int(),
});

const msAhead = (text: string): number => Date.parse(text) - Date.now();
const END_OF_PAUSE = `Must be in the future, at most ${LIMITS.pauseDays} days ahead`;

export const patchContactBody = z.object({
  email: recipientAddressSchema.optional(),
  subscribed: z.boolean().optional(),
  pausedUntil: z.iso
    .datetime({ offset: true })
    .refine((text) => msAhead(text) > 0, { error: END_OF_PAUSE, abort: true })
    .refine((text) => msAhead(text) <= LIMITS.pauseDays * DAY_MS, {
      error: END_OF_PAUSE,
      params: { code: 'too_big' },
    })
    .nullable()
    .optional()
    .meta({
      description: 'Until when the contact gets no marketing email; null ends a pause',
      examples: ['2026-03-01T08:00:00.000Z'],
    }),
  topics: topicChoicesSchema.optional(),
  trackingAllowed: trackingAllowedSchema.optional(),
  data: customDataSchema.optional(),
});
