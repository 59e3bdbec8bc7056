import { Context } from '@temporalio/activity';
import { beat, noteProgress, reportProgress } from './attempt.ts';
import { stalledFailure } from './failures.ts';
import { redactText } from '../../pure/redact.ts';
import { databaseFaultReason } from '../../database/database-errors.ts';

/** Longer than any single wait of an activity: for the reply of an SMTP server, a database outage or a transaction. */
const STALL_MS = 15 * 60_000;

export interface HeartbeatOptions {
  /** The heartbeat details that operators see. */
  progress?: () => object;
  /** How long the work may go on without progress, in milliseconds. */
  stallMs?: number;
}

/** What work tells about itself while it goes on. */
export interface Pulse {
  /** Reports lasting progress. */
  advance: () => void;
  /** Reports that PostgreSQL makes the work wait, which operators see. That is neither progress nor a standstill. */
  wait: (error: unknown) => void;
}

/**
 * Runs work that may take longer than the heartbeat timeout. Heartbeats are sent at intervals while the work makes
 * progress, which it reports by calling `advance`, or waits for PostgreSQL. Work without progress is given up, so that
 * the next attempt can begin; its result is ignored. `signal` is aborted when the activity is cancelled or given up; the
 * work checks it between chunks.
 * @param deps how often a heartbeat is sent
 * @throws ApplicationFailure `Stalled`
 */
export async function withHeartbeat<T>(
  deps: { heartbeatMs: number },
  work: (signal: AbortSignal, advance: Pulse['advance'], wait: Pulse['wait']) => Promise<T>,
  { progress, stallMs = STALL_MS }: HeartbeatOptions = {},
): Promise<T> {
  const context = Context.current();
  const stalling = new AbortController();
  let advancedAt = performance.now();
  let waiting: string | undefined;
  reportProgress(() => (progress || waiting ? { ...progress?.(), ...(waiting && { waiting }) } : undefined));
  const advance = (): void => {
    advancedAt = performance.now();
    waiting = undefined;
    noteProgress();
  };
  const wait = (error: unknown): void => {
    advancedAt = performance.now();
    waiting = `PostgreSQL: ${redactText(databaseFaultReason(error))}`;
  };
  let timer: NodeJS.Timeout | undefined;
  const stall = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      if (performance.now() - advancedAt < stallMs) return beat();
      const failure = stalledFailure(stallMs);
      stalling.abort(failure);
      reject(failure);
    }, deps.heartbeatMs);
  });
  try {
    return await Promise.race([
      work(AbortSignal.any([context.cancellationSignal, stalling.signal]), advance, wait),
      stall,
    ]);
  } finally {
    clearInterval(timer);
  }
}
