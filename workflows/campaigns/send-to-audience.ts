import {
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  setCurrentDetails,
  workflowInfo,
  type CancellationScope,
} from '@temporalio/workflow';
import type { CampaignInput } from '../../shared/pure/workflow-contracts.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { bulk, campaignDelivery, chunked, database } from '../proxies.ts';
import { readState, showHeadway, whileSending, type CampaignRun } from './campaign-run.ts';
import type { campaign } from './campaign.ts';

/** Pages that are out at the same time, over all workers, if the state names no number. */
const LANES = 4;
/** A page is six events; this stays far below Temporal's limits, even without a suggestion. */
const HISTORY_EVENTS_MAX = 1_500;

interface PageRange {
  firstSeq: number;
  lastSeq: number;
}

interface Plan {
  lanes: number;
  pageSize: number;
  /** Recipients of the campaign. */
  total: number;
}

/** Pages to send, and where the next run goes on when this one ends before `page`. */
interface Pages {
  ranges: Iterator<PageRange>;
  resumeAt: (page: PageRange) => number;
}

/** Freezes the audience, sends to all of it, and comes back until every recipient has an outcome. */
export async function sendToAudience(run: CampaignRun, input: CampaignInput, state: CampaignStateView): Promise<void> {
  const total = await freezeAudience(run, state);
  if (total === undefined) return;
  const pageSize = input.pageSize ?? state.pageSize;
  const plan: Plan = { lanes: state.lanes ?? LANES, pageSize, total };
  run.progress.totalRecipients = total;
  run.progress.pagesTotal = Math.ceil(total / pageSize);
  run.progress.phase = 'sending';
  if (state.isResending) await requeue(run);
  else await sendPages(run, plan, { ranges: pagesFrom(input.nextSeq ?? 1, plan), resumeAt: (page) => page.firstSeq });
  await retryDeferred(run, plan);
}

/** @returns the number of recipients; undefined when the campaign has ended */
async function freezeAudience(run: CampaignRun, state: CampaignStateView): Promise<number | undefined> {
  if (state.isAudienceFrozen) return state.totalRecipients;
  const { campaignId } = run;
  run.progress.phase = 'freezing audience';
  setCurrentDetails('Writing the audience down.');
  const frozen = await whileSending(run, () =>
    bulk.freezeAudience.executeWithOptions({ summary: 'freeze audience' }, [{ campaignId }]),
  );
  return !frozen || frozen.isStopped ? undefined : frozen.totalRecipients;
}

/** Queues the recipients who are to be sent to again; they are then found like deferred email. */
async function requeue(run: CampaignRun): Promise<void> {
  const { campaignId } = run;
  setCurrentDetails('Queueing the recipients who are sent to again.');
  await whileSending(run, () =>
    chunked.requeueRecipients.executeWithOptions({ summary: 'queue again' }, [{ campaignId }]),
  );
}

/** The state that the lanes of `sendPages` share. */
interface Sending {
  pages: Pages;
  isStopped: boolean;
  /** The campaign was paused: only messages on the wire are waited for. */
  isPaused: boolean;
  /** Set when the history is long enough: where the next run begins. */
  nextSeq?: number;
  failure?: Error;
}

async function sendPages(run: CampaignRun, plan: Plan, pages: Pages): Promise<void> {
  const sending: Sending = { pages, isStopped: false, isPaused: false };
  await whileSending(
    run,
    async (scope) => {
      await Promise.all(Array.from({ length: plan.lanes }, () => runLane(run, plan, sending, scope)));
    },
    (scope) => {
      sending.isStopped = true;
      sending.isPaused = true;
      scope.cancel();
    },
  );
  const { failure, isPaused, nextSeq } = sending;
  if (failure !== undefined && !(isPaused && isCancellation(failure))) throw failure;
  if (nextSeq !== undefined) await goOnAsNew(run, plan, nextSeq);
}

async function goOnAsNew({ campaignId }: CampaignRun, { pageSize }: Plan, nextSeq: number): Promise<never> {
  return continueAsNew<typeof campaign>({ campaignId, nextSeq, pageSize });
}

/** A lane that fails ends the others, which may be waiting for a server; messages on the wire are waited for. */
async function runLane(run: CampaignRun, plan: Plan, sending: Sending, scope: CancellationScope): Promise<void> {
  return sendPageByPage(run, plan, sending).catch((error: unknown) => {
    sending.failure ??= error as Error;
    scope.cancel();
  });
}

async function sendPageByPage(run: CampaignRun, plan: Plan, sending: Sending): Promise<void> {
  const { campaignId, progress } = run;
  while (!sending.isStopped && sending.nextSeq === undefined) {
    const page = sending.pages.ranges.next();
    if (page.done) return;
    if (shouldContinueAsNew()) {
      sending.nextSeq = sending.pages.resumeAt(page.value);
      return;
    }
    const { firstSeq, lastSeq } = page.value;
    const result = await campaignDelivery.sendRecipientPage.executeWithOptions(
      { summary: `recipients ${firstSeq} to ${lastSeq} of ${plan.total}` },
      [{ campaignId, firstSeq, lastSeq }],
    );
    sending.isStopped ||= result.isStopped;
    run.waiting = result.waiting;
    progress.pagesDone = Math.ceil(lastSeq / plan.pageSize);
    showHeadway(run, `Sent up to recipient **${lastSeq}** of **${plan.total}**.`);
  }
}

/** Runs until every recipient has an outcome, or the campaign is cancelled; also sends the pages that a pause left. */
async function retryDeferred(run: CampaignRun, plan: Plan): Promise<void> {
  const { campaignId, progress } = run;
  const { pageSize, total } = plan;
  for (let fromSeq = 1; ;) {
    const current = await readState(run);
    if (current.status !== 'SENDING') return;
    const summary = fromSeq === 1 ? 'plan deferred emails' : `plan deferred emails from ${fromSeq}`;
    const round = await database.planDeferred.executeWithOptions({ summary }, [{ campaignId, pageSize, fromSeq }]);
    if (round.firstSeqs.length === 0) return;
    if (current.pausedSince !== undefined) {
      await waitPaused(run, plan, current.pausedSince);
      continue;
    }
    if (round.retryInMs > 0) {
      progress.phase = 'retrying deferred emails';
      showHeadway(run, 'Mail that servers deferred is tried again.');
      const pause = { summary: 'try deferred emails again' };
      if (await condition(() => run.changes !== run.changesRead, round.retryInMs, pause)) continue;
    }
    const ranges = round.firstSeqs.map((firstSeq) => ({
      firstSeq,
      lastSeq: Math.min(firstSeq + pageSize - 1, total),
    }));
    await sendPages(run, plan, { ranges: ranges.values(), resumeAt: () => total + 1 });
    fromSeq = round.nextSeq ?? 1;
  }
}

/**
 * Waits until something about the campaign changes. The remaining work is found in PostgreSQL, so nothing is carried
 * over.
 */
async function waitPaused(run: CampaignRun, plan: Plan, since: string): Promise<void> {
  if (shouldContinueAsNew()) await goOnAsNew(run, plan, plan.total + 1);
  run.progress.phase = 'paused';
  setCurrentDetails(`**Paused** since ${since}, by a request. It goes on when it is resumed.`);
  await condition(() => run.changes !== run.changesRead);
  run.progress.phase = 'sending';
}

/**
 * Closes the campaign.
 * @returns whether there is more to do, since it was sent again meanwhile
 * @throws ApplicationFailure when recipients are left without an outcome
 */
export async function closeCampaign(run: CampaignRun): Promise<boolean> {
  const { campaignId, progress } = run;
  const { status, isResending } = await bulk.finishCampaign.executeWithOptions({ summary: 'close' }, [{ campaignId }]);
  if (isResending || (run.changes !== run.changesRead && patched('sent-again-at-its-end'))) return true;
  progress.phase = 'finished';
  setCurrentDetails(`The campaign is **${status}**.`);
  if (status !== 'SENDING') return false;
  throw ApplicationFailure.nonRetryable(
    `Campaign ${campaignId} has recipients without an outcome. Reset this workflow to its first task to go on.`,
    'RecipientsLeft',
  );
}

function shouldContinueAsNew(): boolean {
  const info = workflowInfo();
  return info.continueAsNewSuggested || info.historyLength > HISTORY_EVENTS_MAX;
}

function* pagesFrom(firstSeq: number, { total, pageSize }: Plan): Generator<PageRange> {
  for (let first = firstSeq; first <= total; first += pageSize) {
    yield { firstSeq: first, lastSeq: Math.min(first + pageSize - 1, total) };
  }
}
