import type { DeliveryResult } from '../../shared/sending/ports.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';

/** Emails that servers accepted, by claim, that could not be recorded before the attempt ended. */
const keptUnrecorded = keptValue<{ claimToken: string; emailIds: string[] }[]>('unrecorded');

/**
 * Gives the next attempt, which may run on another machine, the ids of emails that servers accepted and that could not
 * be recorded. Temporal stores them, so they hold no address and no words of a server. The other results are not
 * carried: those emails are tried again.
 */
export function carryResults(claimToken: string, results: readonly DeliveryResult[]): void {
  const emailIds = results.filter(({ verdict }) => verdict === 'sent').map(({ emailId }) => emailId);
  if (emailIds.length === 0) return;
  keptUnrecorded.set([...(keptUnrecorded.get() ?? []), { claimToken, emailIds }]);
}

/** Records what earlier attempts of the activity have carried. Call it before the claim, which would make it worthless. */
export async function recordCarried(
  record: (claimToken: string, results: DeliveryResult[]) => Promise<unknown>,
): Promise<void> {
  const unrecorded = keptUnrecorded.get();
  if (!unrecorded) return;
  for (const { claimToken, emailIds } of unrecorded) {
    await record(
      claimToken,
      emailIds.map((emailId) => ({ emailId, verdict: 'sent', subject: null, error: null })),
    );
  }
  keptUnrecorded.set(undefined);
}
