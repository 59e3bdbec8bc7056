import { CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { JobInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked, database } from '../proxies.ts';

/**
 * An import or a bulk operation. All of its state is in PostgreSQL: an attempt that is lost is followed by one that goes
 * on after the last committed chunk. Cancelled by an operator, the job ends as failed; what is done stays done.
 */
export async function job(input: JobInput): Promise<void> {
  try {
    const { state } = await chunked.runJob(input);
    setCurrentDetails(`The job is **${state}**.`);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() =>
      database.failJob({ ...input, reason: 'The job was cancelled by an operator' }),
    );
  }
}
