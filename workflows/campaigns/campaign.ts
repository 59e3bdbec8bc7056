import {
  ActivityFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CAMPAIGN_PROGRESS_QUERY,
  type CampaignInput,
  type CampaignProgress,
  type CampaignResult,
} from '../../shared/pure/workflow-contracts.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { reasonOf } from '../failure-reason.ts';
import { database } from '../proxies.ts';
import { readState, type CampaignRun } from './campaign-run.ts';
import { closeCampaign, sendToAudience } from './send-to-audience.ts';

export const campaignChangedSignal = defineSignal(CAMPAIGN_CHANGED_SIGNAL);
export const progressQuery = defineQuery<CampaignProgress>(CAMPAIGN_PROGRESS_QUERY);

/** The longest timer. A date far in the future takes several timers. */
const TIMER_MS_MAX = 300 * 24 * 60 * 60 * 1_000;

/**
 * One campaign: it waits until the campaign is due, freezes the audience, sends page by page, repeats deferred emails,
 * and closes. A paused campaign waits for a signal with nothing on the wire. The state is in PostgreSQL; this workflow
 * decides what comes next, and reads the state again after every signal and every restart. A campaign that has ended
 * may be sent again to some recipients, by this run or by a later one. Cancelling the workflow in Temporal cancels the
 * campaign as the API does; a permanent fault cancels it with the reason. It continues as new when no page is under
 * way.
 */
export async function campaign(input: CampaignInput): Promise<CampaignResult | undefined> {
  const run: CampaignRun = {
    campaignId: input.campaignId,
    changes: 0,
    changesRead: 0,
    isCancelRequested: false,
    statusText: '',
    progress: { phase: 'waiting', totalRecipients: 0, pagesDone: 0, pagesTotal: 0 },
  };
  setHandler(campaignChangedSignal, () => {
    run.changes++;
  });
  setHandler(progressQuery, () => run.progress);
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCancelRequested = true;
    run.changes++;
  });
  return CancellationScope.nonCancellable(() => runCampaign(run, input));
}

async function runCampaign(run: CampaignRun, input: CampaignInput): Promise<CampaignResult | undefined> {
  for (let next = input; await sendOnce(run, next);) next = { campaignId: input.campaignId };
  return run.result;
}

/**
 * Sends the campaign once and closes it.
 * @returns whether there is more to do
 */
async function sendOnce(run: CampaignRun, input: CampaignInput): Promise<boolean> {
  const { campaignId } = run;
  try {
    const state = await waitUntilSending(run);
    if (state) await sendToAudience(run, input, state);
  } catch (error) {
    // Only the end of the campaign cancels its work. What would begin after that fails as cancelled without an activity.
    if (isCancellation(error)) return closeCampaign(run);
    if (!(error instanceof ActivityFailure)) throw error;
    await database.cancelCampaign({ campaignId, reason: reasonOf(error) });
  }
  return closeCampaign(run);
}

/**
 * Waits until the campaign is being sent.
 * @returns undefined when it will not be sent
 */
async function waitUntilSending(run: CampaignRun): Promise<CampaignStateView | undefined> {
  const { campaignId } = run;
  for (;;) {
    const current = await readState(run);
    if (current.status === 'SENDING') return current;
    if (current.status !== 'SCHEDULED' || current.scheduledForMs === null) return undefined;
    const waitMs = current.scheduledForMs - Date.now();
    const dueAt = new Date(current.scheduledForMs).toISOString();
    if (waitMs <= 0) {
      await database.beginCampaign.executeWithOptions({ summary: 'begin' }, [{ campaignId, asOfMs: Date.now() }]);
      continue;
    }
    setCurrentDetails(`Waiting until **${dueAt}**.`);
    const timer = { summary: `send at ${dueAt}` };
    await condition(() => run.changes !== run.changesRead, Math.min(waitMs, TIMER_MS_MAX), timer);
  }
}
