import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { Activities } from '../../activities/index.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, campaignWorkflowId } from '../../shared/pure/workflow-contracts.ts';

export type CampaignActivities = Pick<
  Activities,
  | 'readCampaign'
  | 'beginCampaign'
  | 'cancelCampaign'
  | 'freezeAudience'
  | 'sendRecipientPage'
  | 'planDeferred'
  | 'finishCampaign'
  | 'closeRecipients'
  | 'requeueRecipients'
>;

export interface FakeCampaign {
  /** The state, which a test may change at any time, as a request would. */
  campaign: CampaignStateView;
  /** Pages that were sent, in order: `1-100`. */
  pages: string[];
  /** The reasons of cancellations; null for one by request. */
  reasons: (string | null)[];
  /** How often its recipients were closed, early and at the end. */
  closings: string[];
  activities: CampaignActivities;
}

/** A campaign in memory that behaves like one in PostgreSQL. A test may replace single activities. */
export function fakeCampaign(
  overrides: Partial<CampaignActivities> = {},
  state: Partial<CampaignStateView> = {},
): FakeCampaign {
  const campaign: CampaignStateView = {
    status: 'SENDING',
    scheduledForMs: null,
    totalRecipients: 450,
    isAudienceFrozen: false,
    pageSize: 100,
    lanes: 4,
    ...state,
  };
  const pages: string[] = [];
  const reasons: (string | null)[] = [];
  const closings: string[] = [];
  const activities: CampaignActivities = {
    readCampaign: () => Promise.resolve({ ...campaign }),
    async beginCampaign({ asOfMs }) {
      if (campaign.status === 'SCHEDULED' && (campaign.scheduledForMs ?? Infinity) <= asOfMs)
        campaign.status = 'SENDING';
    },
    async cancelCampaign({ reason }) {
      campaign.status = 'CANCELLED';
      reasons.push(reason ?? null);
    },
    async closeRecipients() {
      closings.push('early');
    },
    async freezeAudience() {
      campaign.isAudienceFrozen = true;
      return { totalRecipients: campaign.totalRecipients, isStopped: false };
    },
    async sendRecipientPage({ firstSeq, lastSeq }) {
      pages.push(`${firstSeq}-${lastSeq}`);
      return { sent: lastSeq - firstSeq + 1, deferred: 0, isStopped: campaign.status !== 'SENDING' };
    },
    async requeueRecipients() {
      delete campaign.isResending;
    },
    planDeferred: () => Promise.resolve({ firstSeqs: [], retryInMs: 0 }),
    async finishCampaign() {
      closings.push('at the end');
      if (campaign.status === 'SENDING') campaign.status = 'SENT';
      const { status, totalRecipients } = campaign;
      return { status, result: { status, totalRecipients, emails: { SENT: totalRecipients } } };
    },
    ...overrides,
  };
  return { campaign, pages, reasons, closings, activities };
}

/** Starts the workflow of a new campaign. */
export function startCampaign(client: Client): Promise<WorkflowHandleWithFirstExecutionRunId> {
  const campaignId = randomUUID();
  return client.workflow.start(WORKFLOW_TYPES.campaign, {
    workflowId: campaignWorkflowId(campaignId),
    taskQueue: TASK_QUEUES.orchestration,
    args: [{ campaignId }],
  });
}

/** An activity that runs until it is cancelled, like a page at a server that accepts one email an hour. */
export async function untilCancelled(): Promise<never> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 50);
  try {
    return await context.cancelled;
  } finally {
    clearInterval(timer);
  }
}
