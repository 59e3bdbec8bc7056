import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidV7 } from 'uuid';
import { isDatabaseUnavailable } from '../../shared/domain/database/database-errors.ts';
import { HIT_EVENTS_MAX, type MailHit } from '../../shared/domain/engagement/engagement.ts';
import type { Logger } from '../../shared/platform/logger.ts';

/** Takes opens and clicks at any speed and records each once, also those that come while PostgreSQL is away. */
export interface HitRecorder {
  /**
   * Takes a hit. Resolves when it has been recorded, or when it is clear that it has to wait for the database; then it is
   * kept. Never rejects.
   */
  add: (hit: Pick<MailHit, 'emailId' | 'url'>) => Promise<void>;
  /** Records what waits, for the end of the process. What is not recorded after `withinMs` is lost, which is logged. */
  drain: (withinMs: number) => Promise<void>;
}

export interface HitRecorderOptions {
  record: (hits: MailHit[]) => Promise<void>;
  logger: Logger;
  /** Hits that wait at most; then the oldest goes. */
  capacity?: number;
}

interface Waiting {
  hit: Pick<MailHit, 'id' | 'emailId' | 'url' | 'repeats'>;
  /** When it happened, on the monotonic clock. */
  at: number;
  settled: Promise<void>;
  settle: () => void;
}

/** The hits of one email and kind that wait. */
interface Group {
  count: number;
  latest: Waiting;
}

const CAPACITY = 100_000;
/** Of one email and kind, as many wait one by one as may have an event; the others are added to the latest of these. */
const GROUP_MAX = HIT_EVENTS_MAX;
const BATCH_MAX = 200;
const RETRY_MS = { first: 100, longest: 5_000, draining: 200 } as const;
/** Errors that are no outage, such as a deadlock, are given another try, but not for ever. */
const FAULTS_MAX = 5;

/**
 * Records hits one transaction after another, each with all that have come in during the one before. Alone, a hit waits
 * for nothing; in a rush, a commit and the lock on the campaign's counters are shared by many. While the database is
 * away, hits wait in memory with the time they happened at, and a batch whose commit was not confirmed is tried again:
 * the ids of its hits keep it from counting twice. One email takes up little of the room, however often its link is hit.
 */
export function createHitRecorder({ record, logger, capacity = CAPACITY }: HitRecorderOptions): HitRecorder {
  const waking = new AbortController();
  let waiting: Waiting[] = [];
  const groups = new Map<string, Group>();
  let underWay: Waiting[] = [];
  let running: Promise<void> | undefined;
  let isAway = false;
  let dropped = 0;
  let isGivenUp = false;

  function pause(attempt: number): Promise<void> {
    if (waking.signal.aborted) return delay(RETRY_MS.draining);
    const ms = Math.min(RETRY_MS.first * 2 ** Math.min(attempt, 10), RETRY_MS.longest);
    return delay(ms, undefined, { signal: waking.signal }).catch(() => undefined);
  }

  function beginOutage(error: unknown): void {
    if (isAway) return;
    isAway = true;
    logger.warn({ err: error }, 'opens and clicks wait in memory until the database is back');
    for (const { settle } of [...underWay, ...waiting]) settle();
  }

  function endOutage(): void {
    if (!isAway) return;
    isAway = false;
    logger.info({ waiting: waiting.length, dropped }, 'opens and clicks are recorded again');
  }

  async function recordUnderWay(): Promise<void> {
    let faults = 0;
    for (let attempt = 0; !isGivenUp; attempt++) {
      const now = performance.now();
      try {
        await record(underWay.map(({ hit, at }) => ({ ...hit, ageMs: now - at })));
        endOutage();
        return;
      } catch (error) {
        if (isDatabaseUnavailable(error)) {
          beginOutage(error);
        } else if (++faults >= FAULTS_MAX) {
          logger.error({ err: error, count: underWay.length }, 'opens and clicks could not be recorded and are lost');
          return;
        }
        await pause(attempt);
      }
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0 && !isGivenUp) {
      underWay = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      for (const { hit } of underWay) leaveGroup(hit);
      await recordUnderWay();
      for (const { settle } of underWay) settle();
      underWay = [];
    }
    dropped = 0;
    running = undefined;
  }

  function groupOf(hit: Pick<MailHit, 'emailId' | 'url'>): string {
    return `${hit.url === null ? 'open' : 'click'} ${hit.emailId}`;
  }

  function leaveGroup(hit: Waiting['hit']): void {
    const key = groupOf(hit);
    const group = groups.get(key);
    if (!group) return;
    group.count -= 1;
    if (group.count === 0) groups.delete(key);
  }

  function enqueue(hit: Pick<MailHit, 'emailId' | 'url'>): Waiting {
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const entry = { hit: { id: uuidV7(), repeats: 0, ...hit }, at: performance.now(), settled, settle };
    waiting.push(entry);
    groups.set(groupOf(hit), { count: (groups.get(groupOf(hit))?.count ?? 0) + 1, latest: entry });
    return entry;
  }

  function makeRoom(): void {
    if (waiting.length < capacity) return;
    const oldest = waiting.shift();
    if (oldest) leaveGroup(oldest.hit);
    oldest?.settle();
    dropped += 1;
    if (dropped === 1) logger.error({ capacity }, 'too many opens and clicks wait to be recorded: the oldest are lost');
  }

  return {
    add(hit) {
      const group = groups.get(groupOf(hit));
      if (group && group.count >= GROUP_MAX) {
        group.latest.hit.repeats += 1;
        return isAway || isGivenUp ? Promise.resolve() : group.latest.settled;
      }
      makeRoom();
      const entry = enqueue(hit);
      if (isAway || isGivenUp) entry.settle();
      running ??= run();
      return entry.settled;
    },
    async drain(withinMs) {
      waking.abort();
      const timer = new AbortController();
      await Promise.race([running, delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
      if (!running) return;
      isGivenUp = true;
      const count = underWay.length + waiting.length;
      logger.error({ count }, 'opens and clicks are lost: the database was not back in time');
    },
  };
}
