import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  patched,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CAMPAIGN_PROGRESS_QUERY,
  type CampaignInput,
  type CampaignProgress,
} from '../../shared/pure/workflow-contracts.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { reasonOf } from '../failure-reason.ts';
import { bulk, campaignDelivery, database } from '../proxies.ts';

export const campaignChangedSignal = defineSignal(CAMPAIGN_CHANGED_SIGNAL);
export const progressQuery = defineQuery<CampaignProgress>(CAMPAIGN_PROGRESS_QUERY);

/** Pages under way at the same time, over all workers, where the state does not say. */
const LANES = 4;
/** A page is six events; this stays far below what Temporal likes, whatever it suggests. */
const HISTORY_EVENTS_MAX = 1_500;

/** A date far in the future is waited for in several timers. */
const TIMER_MS_MAX = 300 * 24 * 60 * 60 * 1_000;

interface PageRange {
  firstSeq: number;
  lastSeq: number;
}

/**
 * One campaign: waits until it is due, writes the audience down, sends page by page, comes back for mail that servers
 * deferred, closes. PostgreSQL knows what is so, this knows what is next: after every signal and every restart the
 * state is read again. Cancelled in Temporal, the campaign is cancelled as through the API; what cannot go on for good
 * cancels it with the reason. Continues as new with drained lanes; `nextSeq` is all that is carried over.
 */
export async function campaign(input: CampaignInput): Promise<void> {
  const { campaignId } = input;
  let changes = 0;
  /** The changes that the state as it was last read has in it. */
  let changesRead = 0;
  let isCancelRequested = false;
  let lanes = LANES;
  const progress: CampaignProgress = { phase: 'waiting', totalRecipients: 0, pagesDone: 0, pagesTotal: 0 };
  setHandler(campaignChangedSignal, () => {
    changes++;
  });
  setHandler(progressQuery, () => progress);
  CancellationScope.current().cancelRequested.catch(() => {
    isCancelRequested = true;
    changes++;
  });
  return CancellationScope.nonCancellable(run);

  async function run(): Promise<void> {
    try {
      const state = await waitUntilSending();
      if (state) await send(state);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      if (!isCancellation(error)) await database.cancelCampaign({ campaignId, reason: reasonOf(error) });
    }
    return close();
  }

  async function readState(): Promise<CampaignStateView> {
    changesRead = changes;
    if (isCancelRequested) await database.cancelCampaign({ campaignId });
    isCancelRequested = false;
    return database.readCampaign({ campaignId });
  }

  async function waitUntilSending(): Promise<CampaignStateView | undefined> {
    for (;;) {
      const current = await readState();
      if (current.status === 'SENDING') return current;
      if (current.status !== 'SCHEDULED' || current.scheduledForMs === null) return undefined;
      const waitMs = current.scheduledForMs - Date.now();
      const dueAt = new Date(current.scheduledForMs).toISOString();
      if (waitMs <= 0) {
        await database.beginCampaign.executeWithOptions({ summary: 'begin' }, [{ campaignId, asOfMs: Date.now() }]);
        continue;
      }
      setCurrentDetails(`Waiting until **${dueAt}**.`);
      await condition(() => changes !== changesRead, Math.min(waitMs, TIMER_MS_MAX), { summary: `send at ${dueAt}` });
    }
  }

  /**
   * Runs work that a cancelled campaign ends at once, retries that are waiting included. What it has not sent is given
   * its outcome at once as well: what is on the wire to a slow server may take minutes.
   * @returns undefined when the work was done just before it could be ended
   */
  async function whileSending<T>(work: (scope: CancellationScope) => Promise<T>): Promise<T | undefined> {
    const scope = new CancellationScope();
    let isDone = false;
    /** Whether the campaign has ended. */
    const watch = async (): Promise<boolean> => {
      for (;;) {
        await condition(() => isDone || changes !== changesRead);
        if (isDone) return false;
        const current = await readState();
        if (current.status === 'SENDING') continue;
        scope.cancel();
        if (patched('recipients-closed-early')) await bulk.closeRecipients({ campaignId });
        return true;
      }
    };
    const watching = watch().catch((error: unknown) => {
      scope.cancel();
      throw error;
    });
    const working = scope.run(() => work(scope)).finally(() => (isDone = true));
    await Promise.allSettled([watching, working]);
    const isEnded = await watching;
    const result = await working;
    return isEnded ? undefined : result;
  }

  async function send(current: CampaignStateView): Promise<void> {
    const pageSize = input.pageSize ?? current.pageSize;
    lanes = current.lanes ?? LANES;
    let total = current.totalRecipients;
    if (!current.isAudienceFrozen) {
      progress.phase = 'freezing audience';
      setCurrentDetails('Writing the audience down.');
      const frozen = await whileSending(() =>
        bulk.freezeAudience.executeWithOptions({ summary: 'freeze audience' }, [{ campaignId }]),
      );
      if (!frozen || frozen.isStopped) return;
      total = frozen.totalRecipients;
    }
    progress.totalRecipients = total;
    progress.pagesTotal = Math.ceil(total / pageSize);
    progress.phase = 'sending';
    await sendPages(pagesFrom(input.nextSeq ?? 1, total, pageSize), total, pageSize, (page) => page.firstSeq);
    await retryDeferred(total, pageSize);
  }

  /** `resumeAt` answers where the next run goes on when this one ends before `page`. */
  async function sendPages(
    pages: Iterator<PageRange>,
    total: number,
    pageSize: number,
    resumeAt: (page: PageRange) => number,
  ): Promise<void> {
    let isStopped = false;
    let nextSeq: number | undefined;
    let failure: Error | undefined;
    const lane = async (): Promise<void> => {
      while (!isStopped && nextSeq === undefined) {
        const page = pages.next();
        if (page.done) return;
        if (shouldContinueAsNew()) {
          nextSeq = resumeAt(page.value);
          return;
        }
        const { firstSeq, lastSeq } = page.value;
        const result = await campaignDelivery.sendRecipientPage.executeWithOptions(
          { summary: `recipients ${firstSeq} to ${lastSeq} of ${total}` },
          [{ campaignId, firstSeq, lastSeq }],
        );
        isStopped ||= result.isStopped;
        progress.pagesDone = Math.ceil(lastSeq / pageSize);
        setCurrentDetails(`Sent up to recipient **${lastSeq}** of **${total}**.`);
      }
    };
    await whileSending(async (scope) => {
      // One that fails ends the others, which may be waiting for a server; what they have on the wire is waited for.
      const end = (error: Error): void => {
        failure ??= error;
        scope.cancel();
      };
      await Promise.all(Array.from({ length: lanes }, () => lane().catch(end)));
    });
    if (failure !== undefined) throw failure;
    if (nextSeq !== undefined) await continueAsNew<typeof campaign>({ campaignId, nextSeq, pageSize });
  }

  /** Until every recipient has an outcome, or the campaign is cancelled. */
  async function retryDeferred(total: number, pageSize: number): Promise<void> {
    for (let fromSeq = 1; ;) {
      const current = await readState();
      if (current.status !== 'SENDING') return;
      const round = await database.planDeferred({ campaignId, pageSize, fromSeq });
      if (round.firstSeqs.length === 0) return;
      if (round.retryInMs > 0) {
        progress.phase = 'retrying deferred mail';
        setCurrentDetails('Mail that servers deferred is tried again.');
        const pause = { summary: 'try deferred mail again' };
        if (await condition(() => changes !== changesRead, round.retryInMs, pause)) continue;
      }
      const pages = round.firstSeqs.map((firstSeq) => ({
        firstSeq,
        lastSeq: Math.min(firstSeq + pageSize - 1, total),
      }));
      await sendPages(pages.values(), total, pageSize, () => total + 1);
      fromSeq = round.nextSeq ?? 1;
    }
  }

  async function close(): Promise<void> {
    const { status } = await bulk.finishCampaign.executeWithOptions({ summary: 'close' }, [{ campaignId }]);
    progress.phase = 'finished';
    setCurrentDetails(`The campaign is **${status}**.`);
    if (status === 'SENDING') {
      throw ApplicationFailure.nonRetryable(
        `Campaign ${campaignId} has recipients without an outcome. Reset this workflow to its first task to go on.`,
        'RecipientsLeft',
      );
    }
  }
}

function shouldContinueAsNew(): boolean {
  const info = workflowInfo();
  return info.continueAsNewSuggested || info.historyLength > HISTORY_EVENTS_MAX;
}

function* pagesFrom(firstSeq: number, total: number, pageSize: number): Generator<PageRange> {
  for (let first = firstSeq; first <= total; first += pageSize) {
    yield { firstSeq: first, lastSeq: Math.min(first + pageSize - 1, total) };
  }
}
