import { CancellationScope, condition, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignProgress, CampaignResult } from '../../shared/pure/workflow-contracts.ts';
import type { Hold } from '../../shared/pure/emails/hold.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { bulk, database } from '../proxies.ts';

/** One run of the workflow `campaign`. */
export interface CampaignRun {
  readonly campaignId: string;
  /** The number of signals and cancellations so far. */
  changes: number;
  /** The value of `changes` when the state was last read. */
  changesRead: number;
  /** Temporal was asked to cancel the workflow, and PostgreSQL does not know that yet. */
  isCancelRequested: boolean;
  readonly progress: CampaignProgress;
  /** What became of the campaign, once it is closed. */
  result?: CampaignResult | undefined;
  /** Why emails of the latest page, or the whole campaign, wait. */
  waiting?: Hold | undefined;
  /** The progress of sending, as text in the Temporal UI. */
  statusText: string;
}

/** Shows the progress of sending, and what it waits for, in the Temporal UI. */
export function showStatus(run: CampaignRun, statusText = run.statusText): void {
  run.statusText = statusText;
  setCurrentDetails([statusText, waitDetails(run)].filter((text) => text !== '').join(' '));
}

/**
 * Whether the whole campaign holds. A hold of version 0.1.0 has no level, and its words are the reason: there only other
 * holds name a relay.
 */
function isOfCampaign(hold: Omit<Hold, 'level'> & Partial<Hold>): boolean {
  return hold.level === undefined ? hold.relay === undefined : hold.level === 'stream';
}

function waitDetails({ waiting }: CampaignRun): string {
  if (!waiting) return '';
  const { provider, relay, until, reason, words } = waiting;
  if (isOfCampaign(waiting)) return `The campaign **holds** because of **${provider}**. ${words ?? reason}`;
  return `Emails wait for **${provider}**, through ${relay}, until ${until}. ${words ?? reason}`;
}

/** Reads the campaign from PostgreSQL. A cancellation in Temporal is stored first. */
export async function readState(run: CampaignRun): Promise<CampaignStateView> {
  const { campaignId } = run;
  run.changesRead = run.changes;
  if (run.isCancelRequested) await database.cancelCampaign({ campaignId });
  run.isCancelRequested = false;
  return database.readCampaign.executeWithOptions({ summary: 'read the state' }, [{ campaignId }]);
}

/**
 * Runs work that is cancelled as soon as the campaign ends, even while a retry is waiting. The unsent recipients then
 * get their outcome at once, because a message on the wire to a slow server may take minutes.
 * @param onPause called when the campaign is found paused, perhaps several times, or may continue after a hold; without
 *   it the work continues
 * @returns undefined when the campaign ended before the work
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

/** Whether a hold of the campaign has ended: its pages are planned again instead of waiting for their retries. */
function isReleased({ waiting }: CampaignRun, current: CampaignStateView): boolean {
  return waiting !== undefined && isOfCampaign(waiting) && current.waiting === undefined;
}

/**
 * Watches the campaign while work is under way, and cancels the work when the campaign ends.
 * @returns whether the campaign ended before the work
 */
async function cancelWhenEnded({ run, scope, isDone, onPause }: Watch): Promise<boolean> {
  for (;;) {
    await condition(() => isDone() || run.changes !== run.changesRead);
    if (isDone()) return false;
    const current = await readState(run);
    if (current.status === 'SENDING') {
      if (current.pausedSince !== undefined) onPause?.(scope);
      else if (isReleased(run, current)) {
        run.waiting = undefined;
        onPause?.(scope);
      }
      if (current.waiting && current.pausedSince === undefined) {
        run.waiting = current.waiting;
        showStatus(run);
      }
      continue;
    }
    scope.cancel();
    await bulk.closeRecipients({ campaignId: run.campaignId });
    return true;
  }
}
