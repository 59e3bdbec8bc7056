import { setTimeout as delay } from 'node:timers/promises';
import { isUndoneByServer } from '../../shared/database/database-errors.ts';
import { GROUP_LOCK_MS } from '../../shared/database/project-writer.ts';
import type { Engagement } from '../../shared/domain/engagement/engagement.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createAttempts, createProjectLanes } from './engagement-attempts.ts';
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
  /** @param lockMs the longest wait for a lock; that of the session when undefined */
  record: (engagements: Engagement[], lockMs?: number) => Promise<void>;
  /** The projects of emails, by the id of the email. Emails that are gone are missing. */
  projectsOf: (emailIds: string[]) => Promise<ReadonlyMap<string, string>>;
  logger: Logger;
  /** The most engagements that may wait; then the oldest is dropped. */
  capacity?: number;
}

const CAPACITY = 100_000;
const BATCH_MAX = 200;
function toEngagement({ engagement, atMs }: WaitingEngagement): Engagement {
  return { ...engagement, ageMs: performance.now() - atMs };
}

/**
 * Creates a recorder that writes one transaction after another; each has the engagements that arrived during the one
 * before it. A single engagement waits for nothing; under load, many share a commit and the lock on the campaign's
 * counters. While the database is unavailable, engagements wait in memory and keep their time. A batch whose commit was
 * not confirmed is tried again, always as a whole; the ids of its engagements keep it from being counted twice.
 *
 * A batch that PostgreSQL undid, because of a lock for example, is recorded project by project. Then only the projects
 * that it was undone for wait, in memory.
 */
export function createEngagementRecorder({
  record,
  projectsOf,
  logger,
  capacity = CAPACITY,
}: EngagementRecorderOptions): EngagementRecorder {
  const write = (entries: WaitingEngagement[], lockMs?: number) => record(entries.map(toEngagement), lockMs);
  const draining = new AbortController();
  const givenUp = new AbortController();
  const repeat = createAttempts(logger, draining.signal, givenUp.signal);
  const lanes = createProjectLanes({ repeat, write, projectsOf, logger, capacity, onFull: reportDropping });
  const queue = createEngagementQueue(capacity);
  let underWay: WaitingEngagement[] = [];
  let running: Promise<void> | undefined;
  let isAway = false;
  let isDropping = false;

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
    try {
      await write(underWay, GROUP_LOCK_MS);
    } catch (error) {
      if (!isUndoneByServer(error)) throw error;
      await lanes.record(underWay);
    }
    endOutage();
  }

  async function run(): Promise<void> {
    while (queue.length > 0 && !givenUp.signal.aborted) {
      underWay = queue.take(BATCH_MAX);
      await repeat(underWay.length, recordUnderWay, beginOutage);
      for (const { settle } of underWay) settle();
      underWay = [];
    }
    isDropping = false;
    running = undefined;
  }

  function reportDropping(): void {
    if (isDropping) return;
    isDropping = true;
    logger.error({ capacity }, 'too many opens and clicks wait to be recorded: some are lost');
  }

  return {
    add(engagement) {
      const added = queue.add(engagement);
      if (added.isDropping) reportDropping();
      if (isAway || givenUp.signal.aborted) added.entry.settle();
      running ??= run();
      return added.entry.settled;
    },
    async drain(withinMs) {
      draining.abort();
      const timer = new AbortController();
      const ended = Promise.resolve(running).then(lanes.ended);
      await Promise.race([ended, delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
      const count = underWay.length + queue.length + lanes.count;
      if (count === 0) return;
      givenUp.abort();
      logger.error({ count }, 'opens and clicks are lost: the database was not back in time');
    },
  };
}
