import { AppError } from '../../shared/pure/app-error.ts';
import { markCampaignCancelled, readCampaignState } from '../../shared/domain/campaigns/campaign-state.ts';
import { freezeNextRecipients, type FreezeProgress } from '../../shared/domain/campaigns/freeze-audience.ts';
import { isTooSlow } from '../../shared/domain/database/database-errors.ts';
import { createKeyedGate } from '../../shared/platform/turns.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

export interface FrozenAudience {
  totalRecipients: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
  /** Enough are written down for now, and there are more; absent in old histories. */
  isPartial?: true;
}

export interface FreezeRequest {
  campaignId: string;
  /** Answers as soon as there are so many recipients; without it, when all are written down. */
  untilTotal?: number;
}

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

/** Creates the activity that writes the audience of a campaign down. */
export function createAudienceFreezer(deps: ActivityDeps) {
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

  /**
   * Writes the audience down. A repeated call goes on after the last chunk that was committed. The campaigns of a project
   * take turns chunk by chunk, so that it uses one connection and core of the database, however many it sends.
   */
  return async function freezeAudience({ campaignId, untilTotal }: FreezeRequest): Promise<FrozenAudience> {
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
          if (untilTotal !== undefined && total >= untilTotal) {
            return { totalRecipients: total, isStopped: false, isPartial: true };
          }
        }
      },
      { progress: () => ({ totalRecipients: total }) },
    );
  };
}
