import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

/**
 * Runs work that may take longer between two results than Temporal waits for a heartbeat: one is sent at intervals.
 * `signal` tells that the activity is cancelled; the work looks at it between its chunks. `progress` is what operators see.
 */
export async function withHeartbeat<T>(
  deps: ActivityDeps,
  work: (signal: AbortSignal) => Promise<T>,
  progress?: () => unknown,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(progress?.()), deps.heartbeatMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
