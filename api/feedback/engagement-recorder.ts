import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../shared/domain/database/database-errors.ts';
import type { Engagement } from '../../shared/domain/engagement/engagement.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createEngagementQueue, type NewEngagement, type WaitingEngagement } from './engagement-queue.ts';

/** Records opens and clicks, each once, even those that come while PostgreSQL is unavailable. */
export interface EngagementRecorder {
  /**
   * Adds an engagement. Resolves when it has been recorded, or is kept in memory because the database is unavailable.
   * Never rejects.
   */
  add: (engagement: NewEngagement) => Promise<void>;
  /**
   * Records the waiting engagements before the process ends. Those that take longer than `withinMs` are lost and
   * logged.
   */
  drain: (withinMs: number) => Promise<void>;
}

export interface EngagementRecorderOptions {
  record: (engagements: Engagement[]) => Promise<void>;
  logger: Logger;
  /** The most engagements that may wait; then the oldest is dropped. */
  capacity?: number;
}

const CAPACITY = 100_000;
const BATCH_MAX = 200;
const RETRY_MS = { first: 100, longest: 5_000, draining: 200 } as const;
/** How often an error that is not an outage, such as a deadlock, is retried. */
const FAULTS_MAX = 5;

/** Waits before a batch is tried again: longer each time, but only shortly once `draining` is aborted. */
function pauseBeforeRetry(attempt: number, draining: AbortSignal): Promise<void> {
  if (draining.aborted) return delay(RETRY_MS.draining);
  const ms = Math.min(RETRY_MS.first * 2 ** Math.min(attempt, 10), RETRY_MS.longest);
  return delay(ms, undefined, { signal: draining }).catch(() => undefined);
}

/**
 * Creates a recorder that writes one transaction after another; each has the engagements that arrived during the one
 * before it. A single engagement waits for nothing; under load, many share a commit and the lock on the campaign's
 * counters. While the database is unavailable, engagements wait in memory and keep their time. A batch whose commit was
 * not confirmed is tried again; the ids of its engagements keep it from being counted twice.
 */
export function createEngagementRecorder({
  record,
  logger,
  capacity = CAPACITY,
}: EngagementRecorderOptions): EngagementRecorder {
  const draining = new AbortController();
  const queue = createEngagementQueue(capacity);
  let underWay: WaitingEngagement[] = [];
  let running: Promise<void> | undefined;
  let isAway = false;
  let isDropping = false;
  let isGivenUp = false;

  function beginOutage(error: unknown): void {
    if (isAway) return;
    isAway = true;
    logger.warn({ err: error }, 'opens and clicks wait in memory until the database is back');
    for (const { settle } of underWay) settle();
    queue.settleAll();
  }

  function endOutage(): void {
    if (!isAway) return;
    isAway = false;
    logger.info({ waiting: queue.length }, 'opens and clicks are recorded again');
  }

  async function recordUnderWay(): Promise<void> {
    let faults = 0;
    for (let attempt = 0; !isGivenUp; attempt++) {
      const now = performance.now();
      try {
        await record(underWay.map(({ engagement, atMs }) => ({ ...engagement, ageMs: now - atMs })));
        endOutage();
        return;
      } catch (error) {
        if (isDatabaseUnavailable(error)) {
          beginOutage(error);
        } else if (++faults >= FAULTS_MAX) {
          logger.error({ err: error, count: underWay.length }, 'opens and clicks could not be recorded and are lost');
          return;
        }
        await pauseBeforeRetry(attempt, draining.signal);
      }
    }
  }

  async function run(): Promise<void> {
    while (queue.length > 0 && !isGivenUp) {
      underWay = queue.take(BATCH_MAX);
      await recordUnderWay();
      for (const { settle } of underWay) settle();
      underWay = [];
    }
    isDropping = false;
    running = undefined;
  }

  function reportDropping(): void {
    if (isDropping) return;
    isDropping = true;
    logger.error({ capacity }, 'too many opens and clicks wait to be recorded: the oldest are lost');
  }

  return {
    add(engagement) {
      const added = queue.add(engagement);
      if (added.isDropping) reportDropping();
      if (isAway || isGivenUp) added.entry.settle();
      running ??= run();
      return added.entry.settled;
    },
    async drain(withinMs) {
      draining.abort();
      const timer = new AbortController();
      await Promise.race([running, delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
      if (!running) return;
      isGivenUp = true;
      const count = underWay.length + queue.length;
      logger.error({ count }, 'opens and clicks are lost: the database was not back in time');
    },
  };
}
