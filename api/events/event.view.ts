import { z } from 'zod';
import type { ListedEvent } from '../../shared/domain/events/event-lists.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

export const eventSchema = model('Event', 'Something that happened', {
  id: z.uuid(),
  name: z.string(),
  data: z.record(z.string(), z.unknown()),
  contactId: z.uuid().nullable(),
  emailId: z.uuid().nullable(),
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
});

export const listedEventSchema = model('ListedEvent', 'An event with the address of its contact', {
  ...eventSchema.shape,
  contact: model('EventContact', 'The contact of an event', { email: answeredAddress })
    .nullable()
    .describe('The contact of the event; null when it has none'),
});

/** An event as callers see it. */
export const eventView = viewOf(eventSchema);

/** An event in a list, with the address of its contact. */
export function listedEventView(event: ListedEvent): z.infer<typeof listedEventSchema> {
  return { ...eventView(event), contact: event.contactEmail === null ? null : { email: event.contactEmail } };
}
