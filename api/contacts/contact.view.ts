import { z } from 'zod';
import { answeredAddress } from '../http/answered-address.ts';

export const contactSchema = z
  .object({
    id: z.uuid(),
    email: answeredAddress,
    subscribed: z.boolean(),
    data: z.record(z.string(), z.unknown()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Contact', description: 'Somebody whom the project writes to' });

interface ContactLike {
  id: string;
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

/** A contact as callers see it. */
export function contactView(contact: ContactLike): z.infer<typeof contactSchema> {
  return {
    id: contact.id,
    email: contact.email,
    subscribed: contact.subscribed,
    data: contact.data,
    createdAt: contact.createdAt.toISOString(),
    updatedAt: contact.updatedAt.toISOString(),
  };
}
