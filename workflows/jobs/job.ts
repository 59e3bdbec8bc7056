import { ActivityFailure, CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { JobInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked, database } from '../proxies.ts';

/**
 * An import or a bulk operation. All of its state is in PostgreSQL: an attempt that is lost is followed by one that goes
 * on after the last committed chunk. Cancelled by an operator, or given up, the job ends as failed; what is done stays
 * done.
 */
export async function job(input: JobInput): Promise<void> {
  try {
    const { state } = await chunked.runJob(input);
    setCurrentDetails(`The job is **${state}**.`);
  } catch (error) {
    if (isCancellation(error)) await fail('The job was cancelled by an operator');
    else if (error instanceof ActivityFailure) await fail('The job cannot be finished because of an unexpected error');
    else throw error;
  }

  function fail(reason: string): Promise<void> {
    return CancellationScope.nonCancellable(() => database.failJob({ ...input, reason }));
  }
}
