import { CancellationScope, condition, patched, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignProgress } from '../../shared/pure/workflow-contracts.ts';
import type { ProviderWait } from '../../shared/pure/emails/provider-wait.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { bulk, database } from '../proxies.ts';

/** One run of the workflow `campaign`. */
export interface CampaignRun {
  readonly campaignId: string;
  /** Signals and cancellations so far. */
  changes: number;
  /** The value of `changes` when the state was last read. */
  changesRead: number;
  /** Temporal was asked to cancel, and PostgreSQL does not know of it yet. */
  isCancelRequested: boolean;
  readonly progress: CampaignProgress;
  /** Why emails of the latest page are held, or the whole campaign is. */
  waiting?: ProviderWait | undefined;
  /** How far the sending is, as the Temporal UI shows it. */
  headway: string;
}

/** Shows in the Temporal UI how far the sending is, and what it waits for. */
export function showHeadway(run: CampaignRun, headway = run.headway): void {
  run.headway = headway;
  setCurrentDetails([headway, waitDetails(run)].filter((text) => text !== '').join(' '));
}

function waitDetails({ waiting }: CampaignRun): string {
  if (!waiting) return '';
  const { provider, relay, until, reason } = waiting;
  // A hold that is about no relay has no end of its own.
  if (relay === undefined) return `The campaign **holds** because of **${provider}**. ${reason}`;
  return `Emails wait for **${provider}**, through ${relay}, until ${until}. ${reason}`;
}

/** Reads the campaign from PostgreSQL. A cancellation that Temporal was asked for is written first. */
export async function readState(run: CampaignRun): Promise<CampaignStateView> {
  const { campaignId } = run;
  run.changesRead = run.changes;
  if (run.isCancelRequested) await database.cancelCampaign({ campaignId });
  run.isCancelRequested = false;
  return database.readCampaign.executeWithOptions({ summary: 'read the state' }, [{ campaignId }]);
}

/**
 * Runs work that ends at once when the campaign is cancelled, even while a retry is waiting. The recipients that were
 * not reached get their outcome at once as well, because a message on the wire to a slow server may take minutes.
 * @param onPause is called when the campaign is found paused, maybe more than once, or may go on after it held; without
 * it the work goes on
 * @returns undefined when the campaign ended before the work did
 */
export async function whileSending<T>(
  run: CampaignRun,
  work: (scope: CancellationScope) => Promise<T>,
  onPause?: (scope: CancellationScope) => void,
): Promise<T | undefined> {
  const scope = new CancellationScope();
  let isDone = false;
  const watching = cancelWhenEnded({ run, scope, isDone: () => isDone, onPause }).catch((error: unknown) => {
    scope.cancel();
    throw error;
  });
  const working = scope.run(() => work(scope)).finally(() => (isDone = true));
  await Promise.allSettled([watching, working]);
  const isEnded = await watching;
  const result = await working;
  return isEnded ? undefined : result;
}

interface Watch {
  run: CampaignRun;
  scope: CancellationScope;
  isDone: () => boolean;
  onPause: ((scope: CancellationScope) => void) | undefined;
}

/** A campaign that held may go on: its pages wait for their retries, and are planned again instead. */
function isReleased({ waiting }: CampaignRun, current: CampaignStateView): boolean {
  return waiting !== undefined && waiting.relay === undefined && current.waiting === undefined;
}

/** @returns whether the campaign has ended before the work was done */
async function cancelWhenEnded({ run, scope, isDone, onPause }: Watch): Promise<boolean> {
  for (;;) {
    await condition(() => isDone() || run.changes !== run.changesRead);
    if (isDone()) return false;
    const current = await readState(run);
    if (current.status === 'SENDING') {
      if (current.pausedSince !== undefined) onPause?.(scope);
      else if (isReleased(run, current) && patched('goes-on-at-once')) {
        run.waiting = undefined;
        onPause?.(scope);
      }
      if (current.waiting && current.pausedSince === undefined) {
        run.waiting = current.waiting;
        showHeadway(run);
      }
      continue;
    }
    scope.cancel();
    if (patched('recipients-closed-early')) await bulk.closeRecipients({ campaignId: run.campaignId });
    return true;
  }
}
