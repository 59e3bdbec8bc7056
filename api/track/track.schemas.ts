import { z } from 'zod';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { isReservedEventName } from '../../shared/pure/events/reserved-events.ts';
import { topicChoicesSchema } from '../../shared/pure/topics.ts';
import { recipientAddressSchema } from '../send/sender-address.ts';

/** The name of an event that a caller may record. */
export const trackedNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength)
  .refine((name) => !isReservedEventName(name), {
    error: 'This event name is reserved: only Everpost itself records it',
    params: { code: 'reserved_event' },
  })
  .meta({ examples: ['signed_up'] });

/** Whether a contact agrees to the recording of opens and clicks. */
export const trackingAllowedSchema = z.boolean().meta({
  description:
    'Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it',
  examples: [true],
});

export const trackBody = z.object({
  email: recipientAddressSchema,
  event: trackedNameSchema,
  subscribed: z.boolean().optional().describe('New contacts: true when omitted'),
  topics: topicChoicesSchema.optional(),
  trackingAllowed: trackingAllowedSchema.optional(),
  data: customDataSchema.optional(),
});

export const trackedSchema = z.object({
  contact: z.uuid().describe('The id of the contact'),
  event: z.uuid().describe('The id of the event'),
  timestamp: z.iso.datetime(),
});
