export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const AUDIENCE_TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const;

const TRANSITIONS: Record<CampaignStatus, readonly CampaignStatus[]> = {
  DRAFT: ['SCHEDULED', 'SENDING'],
  SCHEDULED: ['SCHEDULED', 'SENDING', 'CANCELLED'],
  SENDING: ['SENT', 'CANCELLED'],
  SENT: [],
  CANCELLED: [],
};

/** The statuses from which a campaign may move to `to`; the `where status in (…)` of every compare-and-set. */
export function campaignStatusesBefore(to: CampaignStatus): CampaignStatus[] {
  return CAMPAIGN_STATUSES.filter((from) => TRANSITIONS[from].includes(to));
}

/** Only in these statuses can content and audience be changed, and the campaign be sent or scheduled. */
export const EDITABLE_CAMPAIGN_STATUSES: readonly CampaignStatus[] = ['DRAFT', 'SCHEDULED'];
/** A campaign in these statuses has a running workflow and cannot be deleted. */
export const ACTIVE_CAMPAIGN_STATUSES: readonly CampaignStatus[] = ['SCHEDULED', 'SENDING'];

/** A campaign that has ended can be sent again to recipients in these states: they have not received it. */
export const RESENDABLE_STATES = ['FAILED', 'BOUNCED', 'SKIPPED', 'SUPPRESSED'] as const;
export type ResendableState = (typeof RESENDABLE_STATES)[number];
