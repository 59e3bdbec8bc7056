import { ActivityFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { EmailDeliveryInput } from '../../shared/pure/workflow-contracts.ts';
import { reasonOf } from '../failure-reason.ts';
import { automationDelivery, database, transactionalDelivery } from '../proxies.ts';

function countOf(emailIds: string[]): string {
  return emailIds.length === 1 ? 'one mail' : `${emailIds.length} mails`;
}

/**
 * Delivers transactional emails until each is sent, bounced or given up. Email that a server deferred (4xx) is tried
 * again after growing pauses, which occupy no worker. Email that no server takes for two days fails with the reason.
 * Email of a disabled project waits until the project is enabled.
 */
export async function emailDelivery({ projectId, emailIds, origin }: EmailDeliveryInput): Promise<void> {
  const delivery = origin === 'automation' ? automationDelivery : transactionalDelivery;
  let remaining = emailIds;
  while (remaining.length > 0) {
    try {
      const { deferredIds, retryInMs } = await delivery.deliverEmails.executeWithOptions(
        { summary: `deliver ${countOf(remaining)}` },
        [{ projectId, emailIds: remaining }],
      );
      remaining = deferredIds;
      if (remaining.length > 0 && retryInMs > 0) {
        await sleep(retryInMs, { summary: `try ${countOf(remaining)} again that the server deferred` });
      }
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      await database.abandonEmails({ emailIds: remaining, reason: reasonOf(error) });
      return;
    }
  }
}
