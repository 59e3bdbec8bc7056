import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
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
import { bulk, campaignDelivery, database } from '../proxies.ts';

export const campaignChangedSignal = defineSignal(CAMPAIGN_CHANGED_SIGNAL);
export const progressQuery = defineQuery<CampaignProgress>(CAMPAIGN_PROGRESS_QUERY);

/** Pages under way at the same time, over all workers. */
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
 * state is read again. Continues as new with drained lanes; `nextSeq` is all that is carried over.
 */
export async function campaign(input: CampaignInput): Promise<void> {
  const { campaignId } = input;
  let changes = 0;
  const progress: CampaignProgress = { phase: 'waiting', totalRecipients: 0, pagesDone: 0, pagesTotal: 0 };
  setHandler(campaignChangedSignal, () => {
    changes++;
  });
  setHandler(progressQuery, () => progress);

  try {
    const state = await waitUntilSending();
    if (state) await send(state);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    if (CancellationScope.current().consideredCancelled) return CancellationScope.nonCancellable(cancelByOperator);
  }
  return close();

  async function waitUntilSending(): Promise<CampaignStateView | undefined> {
    for (;;) {
      const seen = changes;
      const current = await database.readCampaign({ campaignId });
      if (current.status === 'SENDING') return current;
      if (current.status !== 'SCHEDULED' || current.scheduledForMs === null) return undefined;
      const waitMs = current.scheduledForMs - Date.now();
      const dueAt = new Date(current.scheduledForMs).toISOString();
      if (waitMs <= 0) {
        await database.beginCampaign.executeWithOptions({ summary: 'begin' }, [{ campaignId, asOfMs: Date.now() }]);
        continue;
      }
      setCurrentDetails(`Waiting until **${dueAt}**.`);
      await condition(() => changes !== seen, Math.min(waitMs, TIMER_MS_MAX), { summary: `send at ${dueAt}` });
    }
  }

  /** Runs work that a cancelled campaign ends at once, retries that are waiting included. */
  async function whileSending<T>(work: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope();
    let isDone = false;
    const watch = async (): Promise<void> => {
      let seen = changes;
      for (;;) {
        await condition(() => isDone || changes !== seen);
        if (isDone) return;
        seen = changes;
        const current = await database.readCampaign({ campaignId });
        if (current.status !== 'SENDING') scope.cancel();
      }
    };
    const watching = watch();
    try {
      return await scope.run(work);
    } finally {
      isDone = true;
      await watching;
    }
  }

  async function send(current: CampaignStateView): Promise<void> {
    const pageSize = input.pageSize ?? current.pageSize;
    let total = current.totalRecipients;
    if (!current.isAudienceFrozen) {
      progress.phase = 'freezing audience';
      setCurrentDetails('Writing the audience down.');
      const frozen = await whileSending(() =>
        bulk.freezeAudience.executeWithOptions({ summary: 'freeze audience' }, [{ campaignId }]),
      );
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
    pages: Generator<PageRange>,
    total: number,
    pageSize: number,
    resumeAt: (page: PageRange) => number,
  ): Promise<void> {
    let isStopped = false;
    let nextSeq: number | undefined;
    const lane = async (): Promise<void> => {
      for (const page of pages) {
        if (isStopped) return;
        if (shouldContinueAsNew()) {
          nextSeq = resumeAt(page);
          return;
        }
        const result = await campaignDelivery.sendRecipientPage.executeWithOptions(
          { summary: `recipients ${page.firstSeq} to ${page.lastSeq} of ${total}` },
          [{ campaignId, ...page }],
        );
        isStopped ||= result.isStopped;
        progress.pagesDone = Math.ceil(page.lastSeq / pageSize);
        setCurrentDetails(`Sent up to recipient **${page.lastSeq}** of **${total}**.`);
      }
    };
    await whileSending(async () => {
      await Promise.all(Array.from({ length: LANES }, lane));
    });
    if (nextSeq !== undefined) await continueAsNew<typeof campaign>({ campaignId, nextSeq, pageSize });
  }

  /** Until every recipient has an outcome, or the campaign is cancelled. */
  async function retryDeferred(total: number, pageSize: number): Promise<void> {
    for (;;) {
      const current = await database.readCampaign({ campaignId });
      if (current.status !== 'SENDING') return;
      const round = await database.planDeferred({ campaignId, pageSize });
      if (round.firstSeqs.length === 0) return;
      if (round.retryInMs > 0) {
        progress.phase = 'retrying deferred mail';
        setCurrentDetails(
          `Mail on **${round.firstSeqs.length}** pages was deferred by mail servers and is tried again.`,
        );
        const seen = changes;
        if (await condition(() => changes !== seen, round.retryInMs, { summary: 'try deferred mail again' })) continue;
      }
      const pages = round.firstSeqs.map((firstSeq) => ({
        firstSeq,
        lastSeq: Math.min(firstSeq + pageSize - 1, total),
      }));
      await sendPages(iterate(pages), total, pageSize, () => total + 1);
    }
  }

  /** Cancelled in Temporal instead of through the API: the campaign is cancelled all the same. */
  async function cancelByOperator(): Promise<void> {
    await database.cancelCampaign({ campaignId });
    await close();
  }

  async function close(): Promise<void> {
    const { status } = await database.finishCampaign.executeWithOptions({ summary: 'close' }, [{ campaignId }]);
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

function* iterate<T>(items: T[]): Generator<T> {
  yield* items;
}
