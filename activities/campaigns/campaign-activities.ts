import { AppError } from '../../shared/pure/app-error.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import type { ProviderWait } from '../../shared/pure/emails/provider-wait.ts';
import {
  beginScheduledCampaign,
  closeRecipients,
  finishCampaign,
  markCampaignCancelled,
  readCampaignState,
  type CampaignState,
} from '../../shared/domain/campaigns/campaign-state.ts';
import { planDeferredRound, type DeferredRound } from '../../shared/domain/campaigns/deferred-pages.ts';
import { freezeNextRecipients, type FreezeProgress } from '../../shared/domain/campaigns/freeze-audience.ts';
import { requeueNextRecipients } from '../../shared/domain/campaigns/resend.ts';
import { isTooSlow } from '../../shared/domain/database/database-errors.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { readSendPolicy } from '../../shared/domain/emails/send-budget.ts';
import { createKeyedGate } from '../../shared/platform/turns.ts';
import type { ActivityDeps } from '../deps.ts';
import type { ProviderGuard } from '../emails/provider-guard.ts';
import type { Sandbox } from '../emails/sandbox.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createPageSender } from './send-page.ts';

export interface CampaignRef {
  campaignId: string;
}

/** The state that the campaign workflow decides by. Times are milliseconds since 1970. */
export interface CampaignStateView {
  status: CampaignStatus | 'DELETED';
  scheduledForMs: number | null;
  totalRecipients: number;
  isAudienceFrozen: boolean;
  /** Since when; absent when it is not paused, and in old histories. */
  pausedSince?: string;
  /** Why the campaign holds; absent when it does not, and in old histories. */
  waiting?: ProviderWait;
  /** Recipients are to be queued again before anything is sent; absent otherwise, and in old histories. */
  isResending?: true;
  /** Recipients of one page at the project's sending speed. */
  pageSize: number;
  /** Pages under way at the same time; absent in old histories. */
  lanes?: number;
}

export interface FrozenAudience {
  totalRecipients: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
}

export interface ClosedCampaign {
  status: CampaignStatus | 'DELETED';
  /** It has ended, and is to be sent again. */
  isResending?: true;
}

/** A page costs Temporal 11 milliseconds whatever its size, as much as 50 emails cost all processes. */
const PAGE_SIZE_MAX = 2_000;
/** A page of a throttled project takes no longer than this, so that its progress is seen. */
const PAGE_SECONDS = 300;
/** Pages under way at the same time, over all workers; one is enough where the speed is low. */
const LANES = 4;
const LANE_RATE = 200;
/**
 * Contacts searched in one statement. Their number follows the time a statement takes, which depends on the condition. A
 * statement is short, because the commits of others wait until the disk has what it wrote.
 */
const FREEZE_WINDOW = { first: 2_000, min: 100, max: 100_000 } as const;
const FREEZE_MS = { fast: 50, slow: 500 } as const;

function nextWindow(size: number, tookMs: number): number {
  if (tookMs > FREEZE_MS.slow) return Math.max(FREEZE_WINDOW.min, Math.floor(size / 4));
  return tookMs < FREEZE_MS.fast ? Math.min(FREEZE_WINDOW.max, size * 2) : size;
}

function audienceReason(error: AppError): string {
  return `The audience cannot be computed: ${error.message}. Correct its condition in a copy of the campaign and send that.`;
}

/** How a campaign is divided at the speed of its project. */
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
  };
}

/** Activities of the campaign workflow. */
export function createCampaignActivities(
  deps: ActivityDeps & { identities: SendingIdentities; guard: ProviderGuard; sandbox: Sandbox },
) {
  const em = () => deps.orm.em.fork();
  const inTurn = createKeyedGate(1);

  /** An invalid campaign will not become valid: it ends with the reason. */
  async function freezeOrEnd(campaignId: string, windowSize: number): Promise<FreezeProgress | 'too slow' | undefined> {
    try {
      return await freezeNextRecipients(em(), campaignId, windowSize);
    } catch (error) {
      if (isTooSlow(error) && windowSize > FREEZE_WINDOW.min) return 'too slow';
      if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
      await markCampaignCancelled(em(), campaignId, audienceReason(error));
      return undefined;
    }
  }

  return {
    /** The campaign's state in PostgreSQL, which is authoritative. */
    async readCampaign({ campaignId }: CampaignRef): Promise<CampaignStateView> {
      const state = await readCampaignState(em(), campaignId);
      if (!state) return DELETED;
      const policy = await readSendPolicy(em(), state.projectId, deps.config.EMAIL_RATE_PER_SECOND);
      return stateView(state, policy?.ratePerSecond ?? 0);
    },

    /** Moves a scheduled campaign to SENDING when its time has come by the workflow's clock. */
    async beginCampaign({ campaignId, asOfMs }: CampaignRef & { asOfMs: number }): Promise<void> {
      await beginScheduledCampaign(em(), campaignId, new Date(asOfMs));
    },

    /**
     * Writes the audience down. A repeated call goes on after the last chunk that was committed. The campaigns of a project
     * take turns chunk by chunk, so that it uses one connection and core of the database, however many it sends.
     */
    async freezeAudience({ campaignId }: CampaignRef): Promise<FrozenAudience> {
      const campaign = await readCampaignState(em(), campaignId);
      if (!campaign) return { totalRecipients: 0, isStopped: true };
      let total = 0;
      let size: number = FREEZE_WINDOW.first;
      const freezeChunk = async (): Promise<FreezeProgress | 'too slow' | undefined> => {
        const beganAt = performance.now();
        const progress = await freezeOrEnd(campaignId, size);
        size = nextWindow(size, progress === 'too slow' ? Infinity : performance.now() - beganAt);
        return progress;
      };
      return withHeartbeat(
        deps,
        async (signal, advance) => {
          for (;;) {
            signal.throwIfAborted();
            const progress = await inTurn(campaign.projectId, freezeChunk);
            if (!progress) return { totalRecipients: total, isStopped: true };
            if (progress === 'too slow') continue;
            advance();
            total = progress.totalRecipients;
            if (progress.isComplete) return { totalRecipients: total, isStopped: false };
          }
        },
        { progress: () => ({ totalRecipients: total }) },
      );
    },

    /** Queues the recipients who are to be sent to again. A repeated call goes on after the last committed part. */
    async requeueRecipients({ campaignId }: CampaignRef): Promise<void> {
      await withHeartbeat(deps, async (signal, advance) => {
        while (!(await requeueNextRecipients(em(), campaignId))) {
          signal.throwIfAborted();
          advance();
        }
      });
    },

    sendRecipientPage: createPageSender(deps),

    /** The pages to try again because servers deferred mail, and when. */
    async planDeferred({
      campaignId,
      pageSize,
      fromSeq,
    }: CampaignRef & { pageSize: number; fromSeq: number }): Promise<DeferredRound> {
      return planDeferredRound(em(), campaignId, { pageSize, fromSeq });
    },

    /** Cancels the campaign, if that is still possible; with a reason when nobody asked for it. */
    async cancelCampaign({ campaignId, reason }: CampaignRef & { reason?: string }): Promise<void> {
      await markCampaignCancelled(em(), campaignId, reason ?? null);
    },

    /** Gives an outcome to the unsent recipients of a cancelled campaign, while its last pages are still ending. */
    async closeRecipients({ campaignId }: CampaignRef): Promise<void> {
      await withHeartbeat(deps, (_signal, advance) => closeRecipients(em(), campaignId, advance));
    },

    /** Closes the campaign once every recipient has an outcome. */
    async finishCampaign({ campaignId }: CampaignRef): Promise<ClosedCampaign> {
      const state = await withHeartbeat(deps, (_signal, advance) => finishCampaign(em(), campaignId, advance));
      return { status: state?.status ?? 'DELETED', ...(state?.isResending && { isResending: true }) };
    },
  };
}
