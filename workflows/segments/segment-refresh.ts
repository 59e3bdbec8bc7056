import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { SegmentRefreshInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked } from '../proxies.ts';

const HISTORY_EVENTS_MAX = 1_000;

/** Counts all segments and computes the tracked ones, batch by batch. A schedule starts it every few minutes. */
export async function segmentRefresh(input: SegmentRefreshInput): Promise<void> {
  const startedAt = input.startedAt ?? workflowInfo().runStartTime.toISOString();
  for (;;) {
    const { lastId } = await chunked.refreshSegments({ startedAt });
    if (lastId === null) return;
    const info = workflowInfo();
    if (info.continueAsNewSuggested || info.historyLength > HISTORY_EVENTS_MAX) {
      await continueAsNew<typeof segmentRefresh>({ startedAt });
    }
  }
}
