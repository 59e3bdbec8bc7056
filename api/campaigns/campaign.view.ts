import { z } from 'zod';
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES } from '../../shared/pure/campaign-status.ts';
import { EMAIL_TYPES } from '../../shared/pure/email-types.ts';
import type { Campaign } from '../../shared/domain/campaigns/campaign.entity.ts';

export const campaignSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    subject: z.string(),
    body: z.string(),
    from: z.email(),
    fromName: z.string().nullable(),
    replyTo: z.email().nullable(),
    type: z.enum(EMAIL_TYPES),
    status: z.enum(CAMPAIGN_STATUSES),
    audienceType: z.enum(AUDIENCE_TYPES),
    audienceCondition: z.unknown().nullable(),
    segmentId: z.uuid().nullable(),
    scheduledFor: z.iso.datetime().nullable(),
    totalRecipients: z.int(),
    sentCount: z.int(),
    deliveredCount: z.int(),
    openedCount: z.int(),
    clickedCount: z.int(),
    bouncedCount: z.int(),
    projectId: z.uuid(),
    sentAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Campaign' });

/** A campaign as callers see it. */
export function campaignView(campaign: Campaign): z.infer<typeof campaignSchema> {
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description ?? null,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.from,
    fromName: campaign.fromName ?? null,
    replyTo: campaign.replyTo ?? null,
    type: campaign.type,
    status: campaign.status,
    audienceType: campaign.audienceType,
    audienceCondition: campaign.audienceCondition ?? null,
    segmentId: campaign.segmentId ?? null,
    scheduledFor: campaign.scheduledFor?.toISOString() ?? null,
    totalRecipients: campaign.totalRecipients,
    sentCount: campaign.sentCount,
    deliveredCount: campaign.deliveredCount,
    openedCount: campaign.openedCount,
    clickedCount: campaign.clickedCount,
    bouncedCount: campaign.bouncedCount,
    projectId: campaign.projectId,
    sentAt: campaign.sentAt?.toISOString() ?? null,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  };
}

export const campaignStatsSchema = z
  .object({
    totalRecipients: z.int(),
    sentCount: z.int(),
    deliveredCount: z.int(),
    openedCount: z.int(),
    clickedCount: z.int(),
    bouncedCount: z.int(),
    complainedCount: z.int(),
    unsubscribedCount: z.int(),
    failedCount: z.int(),
    skippedCount: z.int(),
    suppressedCount: z.int(),
    openRate: z.number(),
    clickRate: z.number(),
    bounceRate: z.number(),
    deliveryRate: z.number(),
  })
  .meta({ id: 'CampaignStats' });

/** Percent with two decimals; 0 when nothing was sent. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

/**
 * The counters of a campaign and their rates. Rates are of what was sent; bounces at send time never counted as sent,
 * so they are added to the whole.
 */
export function campaignStatsView(campaign: Campaign): z.infer<typeof campaignStatsSchema> {
  const { sentCount, deliveredCount, openedCount, clickedCount, bouncedCount } = campaign;
  return {
    totalRecipients: campaign.totalRecipients,
    sentCount,
    deliveredCount,
    openedCount,
    clickedCount,
    bouncedCount,
    complainedCount: campaign.complainedCount,
    unsubscribedCount: campaign.unsubscribedCount,
    failedCount: campaign.failedCount,
    skippedCount: campaign.skippedCount,
    suppressedCount: campaign.suppressedCount,
    openRate: percent(openedCount, sentCount),
    clickRate: percent(clickedCount, sentCount),
    bounceRate: percent(bouncedCount, Math.max(sentCount, bouncedCount)),
    deliveryRate: percent(deliveredCount, sentCount),
  };
}
