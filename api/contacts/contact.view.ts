import { z } from 'zod';
import type { Em } from '../../shared/database/sql.ts';
import { findTopicsOf, type TopicsOf } from '../../shared/domain/topics/topic-choices.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { model } from '../../shared/pure/model.ts';

export const contactSchema = model('Contact', 'Somebody whom the project writes to', {
  id: z.uuid(),
  email: answeredAddress,
  subscribed: z.boolean(),
  pending: z
    .literal(true)
    .optional()
    .describe('While a subscription of the contact waits for its confirmation; left out otherwise'),
  topics: z.optional(z.record(z.string(), z.boolean())).meta({
    description: 'Which topics the contact has, by their keys; left out in a project without topics',
    examples: [{ news: true }],
  }),
  trackingAllowed: z.optional(z.boolean()).meta({
    description: 'Whether the contact agreed to tracking; left out for one who was not asked',
    examples: [true],
  }),
  pausedUntil: z.optional(z.iso.datetime()).meta({
    description: 'Until when the contact gets no marketing email; left out while it has not paused',
    examples: ['2026-03-01T08:00:00.000Z'],
  }),
  data: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

interface ContactLike {
  id: string;
  email: string;
  subscribed: boolean;
  isPending: boolean;
  trackingAllowed?: boolean | null | undefined;
  pausedUntil?: Date | null | undefined;
  data: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

/** A contact as callers see it. */
function contactView(contact: ContactLike, topicsOf: TopicsOf): z.infer<typeof contactSchema> {
  const topics = topicsOf(contact.id);
  const { pausedUntil } = contact;
  return {
    id: contact.id,
    email: contact.email,
    subscribed: contact.subscribed,
    ...(contact.isPending && { pending: true as const }),
    ...(topics && { topics }),
    ...(typeof contact.trackingAllowed === 'boolean' && { trackingAllowed: contact.trackingAllowed }),
    ...(pausedUntil && pausedUntil.getTime() > Date.now() && { pausedUntil: pausedUntil.toISOString() }),
    data: contact.data,
    createdAt: contact.createdAt.toISOString(),
    updatedAt: contact.updatedAt.toISOString(),
  };
}

/** Contacts as callers see them, with their topics. */
export async function contactViews(
  em: Em,
  projectId: string,
  contacts: readonly ContactLike[],
): Promise<z.infer<typeof contactSchema>[]> {
  const ids = contacts.map(({ id }) => id);
  const topicsOf = await findTopicsOf(em, projectId, ids);
  return contacts.map((contact) => contactView(contact, topicsOf));
}

/** As `contactViews`, for one contact. */
export async function oneContactView(
  em: Em,
  projectId: string,
  contact: ContactLike,
): Promise<z.infer<typeof contactSchema>> {
  return contactView(contact, await findTopicsOf(em, projectId, [contact.id]));
}
