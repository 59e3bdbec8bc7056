import { Context } from '@temporalio/activity';
import { beat, noteProgress } from './attempt.ts';
import type { ActivityDeps } from './deps.ts';
import { stalledFailure } from './failures.ts';

/** Longer than any single wait of an activity: for the reply of an SMTP server, a database outage or a transaction. */
const STALL_MS = 15 * 60_000;

export interface HeartbeatOptions {
  /** The heartbeat details that operators see. */
  progress?: () => unknown;
  /** How long the work may go on without progress, in milliseconds. */
  stallMs?: number;
}

/**
 * Runs work that may take longer than the heartbeat timeout. Heartbeats are sent at intervals while the work makes
 * progress, which it reports by calling `advance`. Work without progress is given up, so that the next attempt can
 * begin; its result is ignored. `signal` is aborted when the activity is cancelled or given up; the work checks it
 * between chunks.
 * @throws ApplicationFailure `Stalled`
 */
export async function withHeartbeat<T>(
  deps: Pick<ActivityDeps, 'heartbeatMs'>,
  work: (signal: AbortSignal, advance: () => void) => Promise<T>,
  { progress, stallMs = STALL_MS }: HeartbeatOptions = {},
): Promise<T> {
  const context = Context.current();
  const stalling = new AbortController();
  let advancedAt = performance.now();
  const advance = (): void => {
    advancedAt = performance.now();
    noteProgress();
  };
  let timer: NodeJS.Timeout | undefined;
  const stall = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      if (performance.now() - advancedAt < stallMs) return beat(progress?.());
      const failure = stalledFailure(stallMs);
      stalling.abort(failure);
      reject(failure);
    }, deps.heartbeatMs);
  });
  try {
    return await Promise.race([work(AbortSignal.any([context.cancellationSignal, stalling.signal]), advance), stall]);
  } finally {
    clearInterval(timer);
  }
}
