import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import type { Hold } from '../../shared/pure/emails/hold.ts';
import {
  beginScheduledCampaign,
  closeRecipients,
  finishCampaign,
  markCampaignCancelled,
  readCampaignState,
  type CampaignState,
} from '../../shared/domain/campaigns/campaign-state.ts';
import { planDeferredRound, type DeferredRound } from '../../shared/domain/campaigns/deferred-pages.ts';
import { requeueNextRecipients } from '../../shared/domain/campaigns/resend.ts';
import { readPolicy } from '../../shared/domain/emails/permit-store.ts';
import type { CampaignResult } from '../../shared/pure/workflow-contracts.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import { createAudienceFreezer } from './freeze-audience.ts';
import { createPageSender } from './send-page.ts';

export interface CampaignRef {
  campaignId: string;
}

/** The state by which the campaign workflow decides. Times are in milliseconds since 1970. */
export interface CampaignStateView {
  status: CampaignStatus | 'DELETED';
  scheduledForMs: number | null;
  totalRecipients: number;
  isAudienceFrozen: boolean;
  /** The time of the pause; absent when it is not paused. */
  pausedSince?: string;
  /** Why the campaign holds; absent when it does not. */
  waiting?: Hold;
  /** Recipients must be queued again before anything is sent; absent otherwise. */
  isResending?: true;
  /** Recipients of one page at the project's sending speed. */
  pageSize: number;
  /** Pages under way at the same time. */
  lanes: number;
}

export interface ClosedCampaign {
  status: CampaignStatus | 'DELETED';
  /** The campaign has ended, and is to be sent again. */
  isResending?: true;
  /** The result of the workflow; absent when the campaign was deleted. */
  result?: CampaignResult;
}

/**
 * The largest page. A page costs Temporal 11 milliseconds whatever its size, as much as 50 emails cost all processes.
 */
const PAGE_SIZE_MAX = 2_000;
/** The longest time for a page of a throttled project, so that its progress is visible. */
const PAGE_SECONDS = 300;
/**
 * Pages under way or waiting for a worker at the same time, and the emails per second for each of them. One page is
 * enough at a low speed. A worker takes four, so four workers are busy, and one that joins finds pages at once.
 */
const LANES = 16;
const LANE_RATE = 200;

/** The size and number of pages at the sending speed of the project; 0 is no limit. */
function divisionFor(ratePerSecond: number): Pick<CampaignStateView, 'pageSize' | 'lanes'> {
  if (ratePerSecond === 0) return { pageSize: PAGE_SIZE_MAX, lanes: LANES };
  return {
    pageSize: Math.min(PAGE_SIZE_MAX, ratePerSecond * PAGE_SECONDS),
    lanes: Math.min(LANES, Math.ceil(ratePerSecond / LANE_RATE)),
  };
}

const DELETED: CampaignStateView = {
  status: 'DELETED',
  scheduledForMs: null,
  totalRecipients: 0,
  isAudienceFrozen: false,
  ...divisionFor(0),
};

function stateView(state: CampaignState, ratePerSecond: number): CampaignStateView {
  return {
    status: state.status,
    scheduledForMs: state.scheduledFor?.getTime() ?? null,
    totalRecipients: state.totalRecipients,
    isAudienceFrozen: state.isAudienceFrozen,
    ...(state.isResending && { isResending: true }),
    ...(state.waiting && { waiting: state.waiting }),
    ...(state.pausedAt && { pausedSince: state.pausedAt.toISOString() }),
    ...divisionFor(ratePerSecond),
    // Pages side by side would not keep the order of the recipients.
    ...(state.isOrdered && { lanes: 1 }),
  };
}

/** Activities of the campaign workflow. */
export function createCampaignActivities(deps: Parameters<typeof createPageSender>[0]) {
  const em = () => deps.orm.em.fork();

  return {
    /** Reads the state of the campaign in PostgreSQL, which is authoritative. */
    async readCampaign({ campaignId }: CampaignRef): Promise<CampaignStateView> {
      const state = await readCampaignState(em(), campaignId);
      if (!state) return DELETED;
      const policy = await readPolicy(em(), state.projectId, deps.config.EMAIL_RATE_PER_SECOND);
      return stateView(state, policy?.ratePerSecond ?? 0);
    },

    /** Moves a scheduled campaign to SENDING when it is due at the time of the workflow. */
    async beginCampaign({ campaignId, asOfMs }: CampaignRef & { asOfMs: number }): Promise<void> {
      await beginScheduledCampaign(em(), campaignId, new Date(asOfMs));
    },

    freezeAudience: createAudienceFreezer(deps),

    /** Queues the recipients of a resend. A repeated call goes on after the last committed part. */
    async requeueRecipients({ campaignId }: CampaignRef): Promise<void> {
      await withHeartbeat(deps, async (signal, advance) => {
        while (!(await requeueNextRecipients(em(), campaignId))) {
          signal.throwIfAborted();
          advance();
        }
      });
    },

    sendRecipientPage: createPageSender(deps),

    /** Plans the next pages of deferred emails, and when they are due. */
    async planDeferred(round: CampaignRef & { pageSize: number; fromSeq: number }): Promise<DeferredRound> {
      return planDeferredRound(em(), round.campaignId, round);
    },

    /** Cancels the campaign if that is still possible, with a reason when nobody requested it. */
    async cancelCampaign({ campaignId, reason }: CampaignRef & { reason?: string }): Promise<void> {
      await markCampaignCancelled(em(), campaignId, reason ?? null);
    },

    /** Records the outcome of the unsent recipients of a cancelled campaign, while its last pages are still ending. */
    async closeRecipients({ campaignId }: CampaignRef): Promise<void> {
      await withHeartbeat(deps, (_signal, advance) => closeRecipients(em(), campaignId, advance));
    },

    /** Closes the campaign once every recipient has an outcome. */
    async finishCampaign({ campaignId }: CampaignRef): Promise<ClosedCampaign> {
      const state = await withHeartbeat(deps, (_signal, advance) => finishCampaign(em(), campaignId, advance));
      if (!state) return { status: 'DELETED' };
      const { status, isResending, totalRecipients, outcomes } = state;
      return { status, ...(isResending && { isResending }), result: { status, totalRecipients, emails: outcomes } };
    },
  };
}
