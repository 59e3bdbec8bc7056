import { setCurrentDetails } from '@temporalio/workflow';
import type { SegmentComputationInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked } from '../proxies.ts';

/** Computes one tracked segment, after the process that computed it has died. */
export async function segmentComputation(input: SegmentComputationInput): Promise<void> {
  const change = await chunked.computeSegment(input);
  if (change) setCurrentDetails(`**${change.added}** joined, **${change.removed}** left, **${change.total}** in all.`);
}
