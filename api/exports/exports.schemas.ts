import { z } from 'zod';
import { EXPORT_FORMATS } from '../../shared/database/exported-rows.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { contactListQuery, contactSearchBody } from '../contacts/contacts.schemas.ts';
import { contactSchema } from '../contacts/contact.view.ts';
import { emailSchema } from '../emails/email.view.ts';
import { emailListQuery } from '../emails/emails.schemas.ts';
import { eventSchema } from '../events/event.view.ts';
import { eventListQuery, eventStatsQuery } from '../events/events.schemas.ts';
import { answeredAddress } from '../http/answered-address.ts';

const COLUMN_NAMES_LENGTH_MAX = 8_000;

const form = {
  format: z.enum(EXPORT_FORMATS).default('csv').describe('CSV, or one JSON object a line'),
  columns: z
    .string()
    .max(COLUMN_NAMES_LENGTH_MAX)
    .optional()
    .transform((names) => names?.split(',').flatMap((name) => name.trim() || []))
    .transform((names) => (names?.length === 0 ? undefined : names))
    .meta({
      override: { type: 'string' },
      description: 'Names of columns with commas between them, in this order; all when left out',
      examples: ['email,subscribed,topics,data.plan'],
    }),
};

const segmentId = z.uuid().optional().describe('Only contacts of this segment');

/** A condition as JSON, for a URL. */
const conditionText = z
  .string()
  .max(LIMITS.filterConditionBytes)
  .optional()
  .transform((text, context) => {
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'Must be a condition as JSON', params: { code: 'invalid_json' } });
      return z.NEVER;
    }
  })
  .pipe(filterConditionSchema.optional())
  .meta({
    override: { type: 'string' },
    description: 'Only contacts that fit a condition, which is that of a segment as JSON',
  });

const ORDER = { cursor: true, limit: true, sort: true, dir: true } as const;

export const contactExportQuery = contactListQuery.omit(ORDER).extend({ ...form, segmentId, condition: conditionText });

/** The same in a body, which has room for a condition, and which no proxy writes to a log. */
export const contactExportBody = contactSearchBody.omit(ORDER).extend({
  ...form,
  columns: z.optional(z.array(z.string().min(1)).min(1).max(600)).describe('Names of columns; all when left out'),
  search: contactSearchBody.shape.search.optional(),
  segmentId,
  condition: filterConditionSchema.optional().describe('Only contacts that fit it'),
});

export const emailExportQuery = emailListQuery.omit({ cursor: true, limit: true }).extend(form);

export const eventExportQuery = z.object({
  ...form,
  eventName: eventListQuery.shape.eventName,
  contactId: z.uuid().optional(),
  ...eventStatsQuery.shape,
});

const moment = z.iso.datetime().nullable();

/** A contact as a line of JSON; `columns` may leave out fields, and add `topic.<key>` and `data.<key>`. */
export const exportedContactSchema = contactSchema
  .omit({ pending: true })
  .extend({
    pending: z.boolean().describe('Whether a subscription waits for its confirmation'),
    unsubscribedAt: moment.describe('When the contact left; null for one who was never subscribed'),
    reason: z.nullable(z.string()).meta({ description: 'Why the contact is not subscribed', examples: ['link'] }),
    pausedUntil: moment.describe('Until when the contact gets no marketing email'),
    trackingAllowed: z
      .boolean()
      .nullable()
      .describe('Whether the contact agreed to tracking; null for one who was not asked'),
  })
  .partial()
  .loose()
  .meta({ id: 'ExportedContact', description: 'A contact in an export' });

export const exportedEmailSchema = emailSchema
  .omit({ deferrals: true, nextAttemptAt: true })
  .partial()
  .meta({ id: 'ExportedEmail', description: 'An email in an export' });

export const exportedEventSchema = eventSchema
  .omit({ projectId: true })
  .extend({ contactEmail: answeredAddress.nullable() })
  .partial()
  .meta({ id: 'ExportedEvent', description: 'An event in an export' });
