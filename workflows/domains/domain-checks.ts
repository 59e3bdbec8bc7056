import { continueAsNew } from '@temporalio/workflow';
import type { DomainChecksInput } from '../../shared/pure/workflow-contracts.ts';
import { bulk } from '../proxies.ts';

/** Keeps the history short where there are very many domains. */
const BATCHES_PER_RUN = 100;

/** Looks up in DNS the sender domains whose check is due. Started every five minutes by a schedule. */
export async function domainChecks({ afterId = null, asOfMs = Date.now() }: DomainChecksInput = {}): Promise<void> {
  let lastId = afterId;
  for (let batch = 0; batch < BATCHES_PER_RUN; batch++) {
    const result = await bulk.checkDomains({ asOfMs, afterId: lastId });
    if (result.lastId === null) return;
    lastId = result.lastId;
  }
  await continueAsNew<typeof domainChecks>({ afterId: lastId, asOfMs });
}
