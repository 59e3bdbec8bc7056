import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { PRIORITIES } from '../../shared/pure/task-queues.ts';
import type { CampaignInput } from '../../shared/pure/workflow-contracts.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { bulk, campaignDelivery, chunked, database, HEARTBEAT_TIMEOUT } from '../proxies.ts';
import { readState, showStatus, whileSending, type CampaignRun } from './campaign-run.ts';

/** Sending begins when this many pages of the audience are stored. The rest is stored while they are sent. */
const FIRST_PAGES = 2;
/**
 * Events after which the run continues as new. A page is six events, so the history stays far below the limits of
 * Temporal, even without its suggestion.
 */
const HISTORY_EVENTS_MAX = 1_500;

/**
 * How long a lane without a page waits for the others, before it looks which pages that have ended have emails to try
 * again. A page may take minutes, because a host says nothing.
 */
const BESIDE_MS = { first: 1_000, last: 30_000 } as const;

interface PageRange {
  firstSeq: number;
  lastSeq: number;
}

interface Plan {
  lanes: number;
  pageSize: number;
  /** Recipients that are stored. */
  total: number;
  /** Whether more recipients are being stored. */
  isGrowing: boolean;
}

/** Freezes the audience, sends to all of it, and repeats deferred emails until every recipient has an outcome. */
export async function sendToAudience(run: CampaignRun, input: CampaignInput, state: CampaignStateView): Promise<void> {
  const pageSize = input.pageSize ?? state.pageSize;
  const plan: Plan = { lanes: state.lanes, pageSize, total: state.totalRecipients, isGrowing: false };
  if (!state.isAudienceFrozen && !(await freezeFirstPages(run, plan))) return;
  showTotal(run, plan);
  run.progress.phase = 'sending';
  if (state.isResending) await requeue(run);
  else await sendPages(run, plan, pagesFrom(input.nextSeq ?? 1, plan));
  await retryDeferred(run, plan);
}

function showTotal({ progress }: CampaignRun, { total, pageSize }: Plan): void {
  progress.totalRecipients = total;
  progress.pagesTotal = Math.ceil(total / pageSize);
}

/** @returns false when the campaign has ended */
async function freezeFirstPages(run: CampaignRun, plan: Plan): Promise<boolean> {
  run.progress.phase = 'freezing audience';
  setCurrentDetails('Storing the audience.');
  const isSending = await whileSending(run, () => freezeUntil(run, plan, FIRST_PAGES * plan.pageSize));
  return isSending ?? false;
}

/** @returns false when the campaign has ended */
async function freezeUntil({ campaignId }: CampaignRun, plan: Plan, untilTotal: number): Promise<boolean> {
  const summary = untilTotal > FIRST_PAGES * plan.pageSize ? `freeze audience up to ${untilTotal}` : 'freeze audience';
  // Hundreds of campaigns may store their audiences at the same time, and jobs must not wait for all of them.
  const options = { summary, priority: { priorityKey: PRIORITIES.job }, heartbeatTimeout: HEARTBEAT_TIMEOUT };
  const frozen = await bulk.freezeAudience.executeWithOptions(options, [{ campaignId, untilTotal }]);
  plan.total = frozen.totalRecipients;
  plan.isGrowing = frozen.isPartial ?? false;
  return !frozen.isStopped;
}

/**
 * Stores the rest of the audience, doubling it each time, so that sending always has work and few activity results are
 * awaited.
 */
async function freezeRest(run: CampaignRun, plan: Plan, sending: Sending): Promise<void> {
  while (plan.isGrowing) {
    if (!(await freezeUntil(run, plan, 2 * plan.total))) sending.isStopped = true;
    showTotal(run, plan);
  }
}

/** Queues the recipients of a resend. They are then sent to like deferred ones. */
async function requeue(run: CampaignRun): Promise<void> {
  const { campaignId } = run;
  setCurrentDetails('Queueing the recipients of the resend.');
  await whileSending(run, () =>
    chunked.requeueRecipients.executeWithOptions({ summary: 'queue again' }, [{ campaignId }]),
  );
}

/** The state that the lanes of `sendPages` share. */
interface Sending {
  pages: Pages;
  /** The first recipients of the pages that are being sent. */
  running: Set<number>;
  /** Whether a lane looks for pages to try again. */
  isPlanning: boolean;
  isStopped: boolean;
  /** The campaign was paused: only messages on the wire are completed. */
  isPaused: boolean;
  /** The recipient from which the next run continues; set when the history is long enough. */
  nextSeq?: number;
  failure?: Error;
}

/**
 * Sends pages in several lanes. A lane that fails ends the others, which may be waiting for a server; messages on the
 * wire are completed.
 */
async function sendPages(run: CampaignRun, plan: Plan, pages: Pages): Promise<void> {
  const sending: Sending = { pages, running: new Set(), isPlanning: false, isStopped: false, isPaused: false };
  // The audience is stored completely, also during a pause.
  let lanes: CancellationScope | undefined;
  await whileSending(
    run,
    async (scope) => {
      lanes = new CancellationScope();
      const end = (error: unknown): void => {
        // The cancellation of a lane by a pause does not hide a failure.
        if (sending.failure === undefined || isCancellation(sending.failure)) sending.failure = error as Error;
        if (!sending.isPaused) scope.cancel();
      };
      const freezing = freezeRest(run, plan, sending).catch(end);
      await lanes.run(() =>
        Promise.all(Array.from({ length: plan.lanes }, () => sendPageByPage(run, plan, sending).catch(end))),
      );
      await freezing;
    },
    () => {
      sending.isStopped = true;
      sending.isPaused = true;
      lanes?.cancel();
    },
  );
  const { failure, isPaused, nextSeq } = sending;
  if (failure !== undefined && !(isPaused && isCancellation(failure))) throw failure;
  if (nextSeq !== undefined) await continueFrom(run, plan, nextSeq);
}

async function continueFrom({ campaignId }: CampaignRun, { pageSize }: Plan, nextSeq: number): Promise<never> {
  return continueAsNew<(input: CampaignInput) => Promise<unknown>>({ campaignId, nextSeq, pageSize });
}

/** Does something that a cancellation ends. */
async function untilCancelled(sending: Sending, wait: () => Promise<void>): Promise<void> {
  try {
    await wait();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    sending.isStopped = true;
  }
}

/** Plans pages to try again while others are still being sent, one lane at a time. */
async function planBeside({ campaignId }: CampaignRun, plan: Plan, sending: Sending): Promise<void> {
  const isOver = (): boolean => sending.isStopped || sending.running.size === 0;
  if (sending.isPlanning) {
    await condition(() => !sending.isPlanning || isOver());
    return;
  }
  sending.isPlanning = true;
  try {
    for (let waitMs: number = BESIDE_MS.first; ; waitMs = Math.min(2 * waitMs, BESIDE_MS.last)) {
      if (await condition(isOver, waitMs)) return;
      if (shouldContinueAsNew()) sending.nextSeq = plan.total + 1;
      if (sending.nextSeq !== undefined) return;
      const round = { campaignId, pageSize: plan.pageSize, fromSeq: 1 };
      const options = { summary: 'plan deferred emails beside slow pages' };
      const { firstSeqs, retryInMs } = await database.planDeferred.executeWithOptions(options, [round]);
      const ended = firstSeqs.filter((firstSeq) => !sending.running.has(firstSeq));
      if (ended.length === 0 || retryInMs > waitMs) continue;
      if (retryInMs > 0 && (await condition(isOver, retryInMs))) return;
      sending.pages = pagesAt(ended, plan);
      return;
    }
  } finally {
    sending.isPlanning = false;
  }
}

async function sendPageByPage(run: CampaignRun, plan: Plan, sending: Sending): Promise<void> {
  const { campaignId, progress } = run;
  while (!sending.isStopped && sending.nextSeq === undefined) {
    if (!sending.pages.isReady()) {
      await untilCancelled(sending, () => condition(() => sending.pages.isReady() || sending.isStopped));
      continue;
    }
    const page = sending.pages.take();
    if (!page) {
      const hasEnded = sending.running.size < progress.pagesTotal;
      if (!hasEnded || sending.running.size === 0 || !patched('plan-beside-slow-pages')) return;
      await untilCancelled(sending, () => planBeside(run, plan, sending));
      continue;
    }
    if (shouldContinueAsNew()) {
      sending.nextSeq = sending.pages.resumeAt(page);
      return;
    }
    const { firstSeq, lastSeq } = page;
    const options = { summary: `recipients ${firstSeq} to ${lastSeq} of ${plan.total}` };
    sending.running.add(firstSeq);
    try {
      const sent = campaignDelivery.sendRecipientPage.executeWithOptions(options, [{ campaignId, firstSeq, lastSeq }]);
      const { isStopped, waiting } = await sent;
      sending.isStopped ||= isStopped;
      run.waiting = waiting;
    } finally {
      sending.running.delete(firstSeq);
    }
    progress.pagesDone = Math.ceil(lastSeq / plan.pageSize);
    showStatus(run, `Sent up to recipient **${lastSeq}** of **${plan.total}**.`);
  }
}

/**
 * Plans and sends the pages of deferred recipients, and of those that a pause left, until every recipient has an
 * outcome or the campaign is cancelled.
 */
async function retryDeferred(run: CampaignRun, plan: Plan): Promise<void> {
  const { campaignId, progress } = run;
  const { pageSize } = plan;
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
      showStatus(run, 'Deferred emails are tried again.');
      const pause = { summary: 'try deferred emails again' };
      if (await condition(() => run.changes !== run.changesRead, round.retryInMs, pause)) continue;
    }
    await sendPages(run, plan, pagesAt(round.firstSeqs, plan));
    fromSeq = round.nextSeq ?? 1;
  }
}

/**
 * Waits until the campaign changes. The remaining work is in PostgreSQL, so the next run needs nothing from this one.
 */
async function waitPaused(run: CampaignRun, plan: Plan, since: string): Promise<void> {
  if (shouldContinueAsNew()) await continueFrom(run, plan, plan.total + 1);
  run.progress.phase = 'paused';
  setCurrentDetails(`**Paused** since ${since}, by a request. It goes on when it is resumed.`);
  await condition(() => run.changes !== run.changesRead);
  run.progress.phase = 'sending';
}

/**
 * Closes the campaign.
 * @returns whether there is more to do, because it was sent again meanwhile
 * @throws ApplicationFailure when recipients have no outcome
 */
export async function closeCampaign(run: CampaignRun): Promise<boolean> {
  const { campaignId, progress } = run;
  const closed = await bulk.finishCampaign.executeWithOptions({ summary: 'close' }, [{ campaignId }]);
  const { status, isResending } = closed;
  run.result = closed.result;
  if (isResending || run.changes !== run.changesRead) return true;
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

function pagesFrom(firstSeq: number, plan: Plan) {
  const { pageSize } = plan;
  let next = firstSeq;
  return {
    /** Whether the next page is stored, or there is none. */
    isReady: () => !plan.isGrowing || next + pageSize - 1 <= plan.total,
    take(): PageRange | undefined {
      if (next > plan.total) return undefined;
      const page = { firstSeq: next, lastSeq: Math.min(next + pageSize - 1, plan.total) };
      next += pageSize;
      return page;
    },
    /** The recipient from which the next run continues when this run ends before `page`. */
    resumeAt: (page: PageRange): number => page.firstSeq,
  };
}

/** The source of the pages to send. */
type Pages = ReturnType<typeof pagesFrom>;

/** Pages that are sent again. Those that are left are planned by the next run. */
function pagesAt(firstSeqs: readonly number[], { pageSize, total }: Plan): Pages {
  const ranges = firstSeqs.map((firstSeq) => ({ firstSeq, lastSeq: Math.min(firstSeq + pageSize - 1, total) }));
  return { isReady: () => true, take: () => ranges.shift(), resumeAt: () => total + 1 };
}
