import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/pure/app-error.ts';
import { markCampaignCancelled, readCampaignState } from '../../shared/domain/campaigns/campaign-state.ts';
import { freezeNextRecipients, type FreezeProgress } from '../../shared/domain/campaigns/freeze-audience.ts';
import { isStatementTimeout } from '../../shared/database/database-errors.ts';
import { readPolicy } from '../../shared/domain/emails/permit-store.ts';
import { Share } from '../../shared/platform/share.ts';
import type { ActivityDeps } from '../deps.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import { beginTurn } from '../../shared/durable/attempts/failures.ts';

export interface FrozenAudience {
  totalRecipients: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
  /** Enough recipients are stored for now, and there are more; absent otherwise. */
  isPartial?: true;
}

export interface FreezeRequest {
  campaignId: string;
  /** Returns as soon as there are so many recipients; without it, when all are stored. */
  untilTotal?: number;
}

/**
 * The number of contacts that one statement searches. It adapts to the time of a statement, which depends on the filter
 * condition. Statements are short, because commits of other transactions wait until their writes are on disk.
 */
interface Statements {
  firstWindow: number;
  /** The next window is twice as large after a shorter time, and a quarter after a longer one. */
  fastMs: number;
  slowMs: number;
}
const WINDOW = { min: 100, max: 100_000 } as const;
const FULL_SPEED: Statements = { firstWindow: 2_000, fastMs: 50, slowMs: 500 };
/**
 * A throttled campaign sends for hours what can be stored in seconds. So it is stored at a multiple of its
 * speed, in shorter statements, and leaves the disk to others in between.
 */
const THROTTLED: Statements = { firstWindow: 500, fastMs: 10, slowMs: 100 };
const THROTTLED_RECIPIENTS_PER_SECOND = { min: 5_000, timesItsSpeed: 10 } as const;

/** The number of contacts that the next statement for an audience searches. */
const keptWindow = keptValue<number>('window');

function nextWindow(size: number, tookMs: number, { fastMs, slowMs }: Statements): number {
  if (tookMs > slowMs) return Math.max(WINDOW.min, Math.floor(size / 4));
  return tookMs < fastMs ? Math.min(WINDOW.max, size * 2) : size;
}

/** The pause after storing recipients, in milliseconds. `ratePerSecond` is the speed of the project, 0 if unlimited. */
export function pauseAfterStoring(recipients: number, tookMs: number, ratePerSecond: number): number {
  if (ratePerSecond === 0) return 0;
  const { min, timesItsSpeed } = THROTTLED_RECIPIENTS_PER_SECOND;
  return Math.max(0, (recipients * 1000) / Math.max(min, ratePerSecond * timesItsSpeed) - tookMs);
}

/** Why an audience cannot be stored, and what to do; recipients who were stored before may have the email. */
function audienceReason(error: AppError, campaignId: string, storedCount: number): string {
  const had = `GET /campaigns/${campaignId}/recipients says who has the email: leave them out of it.`;
  const advice = `Correct its condition in a copy of the campaign and send that.${storedCount > 0 ? ` ${had}` : ''}`;
  return `The audience cannot be computed: ${error.message}. ${advice}`;
}

/** Creates the activity that stores the audience of a campaign. `turnMs` is for tests. */
export function createAudienceFreezer(deps: ActivityDeps, turnMs?: number) {
  const em = () => deps.orm.em.fork();
  const freezing = new Share({ total: Infinity, perOwner: 1 });

  /**
   * Stores the next recipients. An invalid campaign stays invalid, so it ends with the reason.
   * @returns undefined when the campaign has ended
   */
  async function freezeOrEnd(
    campaignId: string,
    windowSize: number,
    storedCount: number,
  ): Promise<FreezeProgress | 'too slow' | undefined> {
    try {
      return await freezeNextRecipients(em(), campaignId, windowSize);
    } catch (error) {
      if (isStatementTimeout(error) && windowSize > WINDOW.min) return 'too slow';
      if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
      await markCampaignCancelled(em(), campaignId, audienceReason(error, campaignId, storedCount));
      return undefined;
    }
  }

  /**
   * Stores the audience. A repeated call goes on after the last committed chunk. The campaigns of a project take turns
   * chunk by chunk, so that the project uses one connection and one core of the database. An attempt ends after its
   * turn, also while it waits for other campaigns of the project.
   */
  return async function freezeAudience({ campaignId, untilTotal }: FreezeRequest): Promise<FrozenAudience> {
    const campaign = await readCampaignState(em(), campaignId);
    if (!campaign) return { totalRecipients: 0, isStopped: true };
    const policy = await readPolicy(em(), campaign.projectId, deps.config.EMAIL_RATE_PER_SECOND);
    const ratePerSecond = policy?.ratePerSecond ?? 0;
    const statements = ratePerSecond === 0 ? FULL_SPEED : THROTTLED;
    let total = campaign.totalRecipients;
    let size = keptWindow.get() ?? statements.firstWindow;
    const turn = beginTurn(turnMs);
    const freezeChunk = async (signal: AbortSignal): Promise<FreezeProgress | 'too slow' | undefined> => {
      const beganAt = performance.now();
      const progress = await freezeOrEnd(campaignId, size, total);
      const tookMs = progress === 'too slow' ? Infinity : performance.now() - beganAt;
      size = nextWindow(size, tookMs, statements);
      keptWindow.set(size);
      if (progress && progress !== 'too slow' && !progress.isComplete) {
        await delay(pauseAfterStoring(progress.totalRecipients - total, tookMs, ratePerSecond), undefined, { signal });
      }
      return progress;
    };
    return withHeartbeat(
      deps,
      async (signal, advance) => {
        for (;;) {
          signal.throwIfAborted();
          const progress = await freezing.run(campaign.projectId, () => freezeChunk(signal), turn);
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
