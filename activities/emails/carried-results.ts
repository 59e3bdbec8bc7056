import type { DeliveryResult } from '../../shared/sending/ports.ts';
import { attemptMemory, remember } from '../attempt.ts';

/**
 * Gives the next attempt, which may run on another machine, the ids of emails that servers accepted and that could not
 * be recorded. Temporal stores them, so they hold no address and no words of a server. The other results are not
 * carried: those emails are tried again.
 */
export function carryResults(claimToken: string, results: readonly DeliveryResult[]): void {
  const emailIds = results.filter(({ verdict }) => verdict === 'sent').map(({ emailId }) => emailId);
  if (emailIds.length === 0) return;
  remember({ unrecorded: [...(attemptMemory().unrecorded ?? []), { claimToken, emailIds }] });
}

/** Records what earlier attempts of the activity have carried. Call it before the claim, which would make it worthless. */
export async function recordCarried(
  record: (claimToken: string, results: DeliveryResult[]) => Promise<unknown>,
): Promise<void> {
  const { unrecorded } = attemptMemory();
  if (!unrecorded) return;
  for (const { claimToken, emailIds } of unrecorded) {
    await record(
      claimToken,
      emailIds.map((emailId) => ({ emailId, verdict: 'sent', subject: null, error: null })),
    );
  }
  remember({ unrecorded: undefined });
}
