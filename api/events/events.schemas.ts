import { z } from 'zod';
import type { Period } from '../../shared/domain/events/event-lists.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { instantSchema } from '../../shared/pure/filters/instant-schema.ts';
import { parseIsoInstant } from '../../shared/pure/filters/iso-instant.ts';
import { trackBody, trackedNameSchema } from '../track/track.schemas.ts';
import { campaignReferenceSchema, referenceSchema } from '../http/references.ts';
import { cursorFields, cursorsOf, cursorTimeSchema } from '../http/cursor.ts';
import { cursorPageQuery, textQuery } from '../http/pagination.ts';
import { listedEventSchema } from './event.view.ts';
import { model } from '../../shared/pure/model.ts';

const pageQuery = cursorPageQuery({ limitDefault: 100, limitMax: 500 });

export const eventListQuery = z.object({ eventName: textQuery(1_000), ...pageQuery });

export const contactEventsQuery = z.object(pageQuery);

export const eventCursors = cursorsOf(z.object({ at: cursorTimeSchema, id: z.uuid() }));

export const eventListSchema = model('EventPage', 'A page of events', {
  events: z.array(listedEventSchema),
  ...cursorFields,
});

export const eventStatsQuery = z.object({
  startDate: instantSchema.optional().describe('The first day or moment'),
  endDate: instantSchema.optional().describe('The last day or moment'),
});

export const eventStatsSchema = z.array(
  model('EventCount', 'How often an event happened', { name: z.string(), count: z.int() }),
);

export const eventNameParams = z.object({ eventName: z.string() });

const namedEventBody = model('NamedEvent', 'An event by its name, of a contact by its id or of nobody', {
  name: trackedNameSchema,
  contactId: z.uuid().optional(),
  data: customDataSchema.optional().describe('Kept with the event alone'),
});

export const recordEventBody = z.union([
  trackBody.meta({ id: 'TrackedEvent', description: 'An event of the contact with an address' }),
  namedEventBody,
]);

export const eventUsageSchema = model('EventUsage', 'What uses an event name, and how often it happened', {
  usedInSegments: z.array(referenceSchema),
  usedInWorkflows: z.array(referenceSchema),
  usedInCampaigns: z.array(campaignReferenceSchema),
  totalCount: z.int(),
  uniqueContacts: z.int(),
});

/** The period from one day or moment to another. Both are included, an end day up to its end. */
export function periodOf({ startDate, endDate }: z.infer<typeof eventStatsQuery>): Period {
  return {
    from: startDate === undefined ? undefined : parseIsoInstant(startDate),
    to: endDate === undefined ? undefined : parseIsoInstant(endDate),
  };
}
