/** Names, ids, inputs and messages of the Temporal workflows: what starts them and what runs them meet here. */

export const WORKFLOW_TYPES = { emailDelivery: 'emailDelivery', campaign: 'campaign', cleanUp: 'cleanUp' } as const;

/** Input of `emailDelivery`: transactional mails of one project that were queued at about the same time. */
export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
}

/** Input of `campaign`. The optional fields are set by continue-as-new only. */
export interface CampaignInput {
  campaignId: string;
  /** The first recipient of the first page that has not been sent. */
  nextSeq?: number;
  /** Kept, since the numbers of pages follow from it. */
  pageSize?: number;
}

/** Says that the campaign's row changed (scheduled anew, cancelled): read it again. Carries nothing. */
export const CAMPAIGN_CHANGED_SIGNAL = 'campaignChanged';
/** Query: `CampaignProgress`. For operators and tests; the API answers from PostgreSQL. */
export const CAMPAIGN_PROGRESS_QUERY = 'progress';

export interface CampaignProgress {
  phase: 'waiting' | 'freezing audience' | 'sending' | 'retrying deferred mail' | 'finished';
  totalRecipients: number;
  pagesDone: number;
  pagesTotal: number;
}

/** A delivery batch is named after its first mail, so a single mail is found under its own id. */
export function emailDeliveryWorkflowId(firstEmailId: string): string {
  return `email/${firstEmailId}`;
}

export function campaignWorkflowId(campaignId: string): string {
  return `campaign/${campaignId}`;
}
