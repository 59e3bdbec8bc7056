import { z } from 'zod';
import type { ActivityCounts, DayCounts } from '../../shared/domain/activity-feed/activity-stats.ts';
import type { ComplaintRate } from '../../shared/domain/emails/complaint-rates.ts';
import type { WaitingItems } from '../../shared/domain/lifecycle/queue.ts';
import { ACTIVITY_TYPES, type ActivityType } from '../../shared/pure/activity-types.ts';
import { eventStatsQuery } from '../events/events.schemas.ts';
import { cursorFields, cursorsOf, placeSchema } from '../http/cursor.ts';
import { cursorPageQuery } from '../http/pagination.ts';
import { percent } from '../http/percent.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { listOf, model } from '../../shared/pure/model.ts';

/** A comma-separated list, or the parameter several times. */
const typesQuery = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((given) => (given === undefined ? [] : [given].flat().join(',').split(',')))
  .transform((names) => names.map((name) => name.trim()).filter((name) => name !== ''))
  .refine((names) => names.every((name) => ACTIVITY_TYPES.some((type) => type === name)), {
    error: `Must be some of ${ACTIVITY_TYPES.join(', ')}`,
    params: { code: 'invalid_enum_value' },
  })
  .transform((names) => (names.length === 0 ? undefined : (names as ActivityType[])))
  .meta({
    description: 'Activity types, comma-separated; all when left out',
    examples: ['email.opened,email.clicked'],
  });

export const activityQuery = z.object({
  ...cursorPageQuery({ limitDefault: 50, limitMax: 100 }),
  types: typesQuery,
  contactId: z.uuid().optional(),
  ...eventStatsQuery.shape,
});

export const activityCursors = cursorsOf(placeSchema);

export const activityStatsQuery = z.object(eventStatsQuery.shape);

export const activityPageSchema = z.object({
  data: z.array(
    model('Activity', 'Something that happened in the project', {
      id: z.string(),
      type: z.enum(ACTIVITY_TYPES),
      timestamp: z.iso.datetime(),
      contactId: z.uuid().nullable(),
      contactEmail: answeredAddress.nullable(),
      metadata: z.record(z.string(), z.unknown()),
    }),
  ),
  ...cursorFields,
});

const counts = {
  events: z.int(),
  sent: z.int(),
  delivered: z.int(),
  opened: z.int(),
  clicked: z.int(),
  humanOpened: z.int(),
  humanClicked: z.int(),
  bounced: z.int(),
  complaints: z.int(),
  workflowsStarted: z.int(),
} satisfies Record<keyof ActivityCounts, z.ZodType>;

export const activityStatsSchema = model('ActivityStats', 'Figures of a period', {
  totals: model('ActivityTotals', 'The counters of a period', counts),
  rates: model('ActivityRates', 'Percent of what was sent', {
    deliveryRate: z.number(),
    openRate: z.number(),
    clickRate: z.number(),
    humanOpenRate: z.number(),
    humanClickRate: z.number(),
    bounceRate: z.number(),
    complaintRate: z.number(),
  }),
  series: z.array(model('ActivityDay', 'The counters of a day in UTC', { date: z.iso.date(), ...counts })),
  complaintRates: listOf(
    'ProviderComplaints',
    'Complaints at a provider of recipients in seven days',
    'by provider of recipients, percent of what was sent to it; the 50 with the most complaints or emails',
    {
      provider: z.string(),
      sent: z.int(),
      complaints: z.int(),
      complaintRate: z.number(),
    },
  ),
});

/** The figures of a period; rates are percent of what was sent in it. */
export function activityStatsView(
  totals: ActivityCounts,
  series: DayCounts[],
  complaintRates: ComplaintRate[],
): z.infer<typeof activityStatsSchema> {
  const rateOf = (counted: keyof ActivityCounts): number => percent(totals[counted], totals.sent);
  return {
    totals,
    rates: {
      deliveryRate: rateOf('delivered'),
      openRate: rateOf('opened'),
      clickRate: rateOf('clicked'),
      humanOpenRate: rateOf('humanOpened'),
      humanClickRate: rateOf('humanClicked'),
      bounceRate: rateOf('bounced'),
      complaintRate: rateOf('complaints'),
    },
    series,
    complaintRates: complaintRates.map(({ provider, sent, complained }) => ({
      provider,
      sent,
      complaints: complained,
      complaintRate: percent(complained, sent),
    })),
  };
}

export const queueSchema = model('Queue', 'What waits in the project', {
  waiting: listOf(
    'WaitingItems',
    'The waiting items of one kind',
    'the kind whose oldest item has been due for longest comes first; kinds without waiting items are left out',
    {
      kind: z.string().meta({
        examples: ['email', 'campaign recipient', 'scheduled campaign', 'execution', 'job IMPORT', 'start of email'],
      }),
      count: z.int(),
      oldestSeconds: z.nullable(z.number()).meta({ examples: [42.5] }),
      reason: z.nullable(z.string()).meta({ examples: ['a campaign is paused'] }),
    },
  ),
});

/** The waiting items of a project as callers see them. */
export function queueView(items: WaitingItems[]): z.infer<typeof queueSchema> {
  return {
    waiting: items.map(({ kind, rows, oldestSeconds, reason }) => ({ kind, count: rows, oldestSeconds, reason })),
  };
}
