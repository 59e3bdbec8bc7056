import { z } from 'zod';
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES } from '../../shared/pure/campaigns/campaign-status.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import type { Campaign } from '../../shared/domain/campaigns/campaign.entity.ts';
import { percent } from '../http/percent.ts';
import { ALL } from '../../shared/sending/permit/keys.ts';
import { contentSchema } from '../templates/content.view.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

/** The counters that the interface document names. */
const countersSchema = z.object({
  totalRecipients: z.int(),
  sentCount: z.int(),
  deliveredCount: z.int(),
  openedCount: z.int(),
  clickedCount: z.int(),
  bouncedCount: z.int(),
});

/** Opens and clicks of people, beside those of all. */
const humanCountersSchema = z.object({ humanOpenedCount: z.int(), humanClickedCount: z.int() });

export const campaignSchema = model('Campaign', 'One email to many contacts', {
  id: z.uuid(),
  ...contentSchema.shape,
  status: z.enum(CAMPAIGN_STATUSES),
  audienceType: z.enum(AUDIENCE_TYPES),
  audienceCondition: filterConditionSchema.nullable(),
  segmentId: z.uuid().nullable(),
  scheduledFor: z.iso.datetime().nullable(),
  ...countersSchema.shape,
  ...humanCountersSchema.shape,
  projectId: z.uuid(),
  sentAt: z.iso.datetime().nullable(),
  error: z.string().nullable().describe('why a campaign that nobody cancelled could not go on, and what to do'),
  waiting: model('ProviderWait', 'Why a campaign waits for a provider of recipients', {
    reason: z.string(),
    provider: z.string(),
    relay: z.string().nullable().describe('the SMTP servers that the emails would go through, as `host:port`'),
    until: z.iso.datetime(),
  })
    .nullable()
    .describe(
      'why a campaign that is being sent waits: a provider of recipients or all SMTP servers refuse its emails, no SMTP server answers, or too many recipients complain; and when it is tried next',
    ),
  paused: z.boolean().describe('whether somebody has paused a campaign that is being sent'),
  pausedAt: z.iso.datetime().nullable().describe('since when it is paused'),
  public: z.boolean().describe("whether the project's archive shows it once it is SENT"),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** What the campaign waits for now. */
function waitingView({ status, pausedAt, waiting }: Campaign): z.infer<typeof campaignSchema>['waiting'] {
  if (status !== 'SENDING' || pausedAt || !waiting) return null;
  const { reason, words, provider = ALL, relay = null, until } = waiting;
  return { reason: words ?? reason, provider, relay, until };
}

/** A campaign as callers see it. */
export const campaignView = viewOf(campaignSchema, (campaign: Campaign) => ({
  waiting: waitingView(campaign),
  paused: Boolean(campaign.pausedAt),
  public: campaign.isPublic,
}));

export const campaignStatsSchema = model('CampaignStats', 'Counters and rates of a campaign', {
  ...countersSchema.shape,
  ...humanCountersSchema.shape,
  complainedCount: z.int(),
  unsubscribedCount: z.int(),
  failedCount: z.int(),
  skippedCount: z.int(),
  suppressedCount: z.int(),
  openRate: z.number(),
  clickRate: z.number(),
  humanOpenRate: z.number(),
  humanClickRate: z.number(),
  bounceRate: z.number(),
  deliveryRate: z.number(),
});

/** The counters of a campaign, and its rates in percent of the emails that were sent. */
export const campaignStatsView = viewOf(campaignStatsSchema, (campaign: Campaign) => {
  const rateOf = (counted: number): number => percent(counted, campaign.sentCount);
  return {
    openRate: rateOf(campaign.openedCount),
    clickRate: rateOf(campaign.clickedCount),
    humanOpenRate: rateOf(campaign.humanOpenedCount),
    humanClickRate: rateOf(campaign.humanClickedCount),
    bounceRate: rateOf(campaign.bouncedCount),
    deliveryRate: rateOf(campaign.deliveredCount),
  };
});
