import { continueAsNew } from '@temporalio/workflow';
import type { DomainChecksInput } from '../../shared/pure/workflow-contracts.ts';
import { bulk } from '../proxies.ts';

/** Batches of one run, so that the history stays short. */
const BATCHES_PER_RUN = 100;

/** Checks the DNS records of the sender domains whose check is due. A schedule starts it every five minutes. */
export async function domainChecks({ afterId = null, asOfMs = Date.now() }: DomainChecksInput = {}): Promise<void> {
  let lastId = afterId;
  for (let batch = 0; batch < BATCHES_PER_RUN; batch++) {
    const result = await bulk.checkDomains({ asOfMs, afterId: lastId });
    if (result.lastId === null) return;
    lastId = result.lastId;
  }
  await continueAsNew<typeof domainChecks>({ afterId: lastId, asOfMs });
}
