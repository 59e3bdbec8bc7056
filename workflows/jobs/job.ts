import { ActivityFailure, CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { JobInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked, database } from '../proxies.ts';

/**
 * An import or a bulk operation. All its state is in PostgreSQL: after a lost attempt, the next one continues after the
 * last committed chunk. A job that an operator cancels, or that is given up, ends as failed; committed chunks stay.
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
