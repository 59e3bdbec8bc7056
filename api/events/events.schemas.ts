import { z } from 'zod';
import type { Period } from '../../shared/domain/events/event-lists.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { instantSchema } from '../../shared/pure/filters/instant-schema.ts';
import { parseIsoInstant } from '../../shared/pure/filters/iso-instant.ts';
import { CAMPAIGN_STATUSES } from '../../shared/pure/campaigns/campaign-status.ts';
import { trackBody, trackedNameSchema } from '../track/track.schemas.ts';
import { cursorTimeSchema } from '../http/cursor.ts';
import { cursorPageQuery, textQuery } from '../http/pagination.ts';
import { listedEventSchema } from './event.view.ts';

const pageQuery = cursorPageQuery({ limitDefault: 100, limitMax: 500 });

export const eventListQuery = z.object({ eventName: textQuery(1_000), ...pageQuery });

export const contactEventsQuery = z.object(pageQuery);

export const eventCursorSchema = z.object({ at: cursorTimeSchema, id: z.uuid() });

export const eventListSchema = z.object({
  events: z.array(listedEventSchema),
  cursor: z.string(),
  hasMore: z.boolean(),
});

export const eventStatsQuery = z.object({
  startDate: instantSchema.optional().meta({ description: 'The first day or moment' }),
  endDate: instantSchema.optional().meta({ description: 'The last day or moment' }),
});

export const eventStatsSchema = z.array(z.object({ name: z.string(), count: z.int() }));

export const contactIdParams = z.object({ contactId: z.uuid() });

export const eventNameParams = z.object({ eventName: z.string() });

/** An event by its name alone, or of a contact that is known by its id. */
const namedEventBody = z.object({
  name: trackedNameSchema,
  contactId: z.uuid().optional(),
  data: customDataSchema.optional(),
});

export const recordEventBody = z.union([trackBody, namedEventBody]);

export const eventUsageSchema = z.object({
  usedInSegments: z.array(z.object({ id: z.uuid(), name: z.string() })),
  usedInWorkflows: z.array(z.object({ id: z.uuid(), name: z.string() })),
  usedInCampaigns: z.array(z.object({ id: z.uuid(), name: z.string(), status: z.enum(CAMPAIGN_STATUSES) })),
  totalCount: z.int(),
  uniqueContacts: z.int(),
});

/** The period between two dates: a day counts to its end, a moment is the last one counted. */
export function periodOf({ startDate, endDate }: z.infer<typeof eventStatsQuery>): Period {
  return {
    from: startDate === undefined ? undefined : parseIsoInstant(startDate),
    to: endDate === undefined ? undefined : parseIsoInstant(endDate),
  };
}
