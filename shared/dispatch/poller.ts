import { setTimeout as delay } from 'node:timers/promises';
import type { OutboxBatch } from '../domain/outbox/outbox-claims.ts';

/** Claims rows of one kind and hands them over, one claim after the other while there are rows. */
export interface Poller {
  /** Something may be due. Never throws, never waits. */
  notify: () => void;
  /** Stops claiming, and waits for work under way. */
  stop: () => Promise<void>;
}

/** What became of batches. */
export interface HandedOver {
  /** Whether any of them was taken. */
  isTaken: boolean;
  /** What they cost, in rows that Temporal was told of. */
  costInRows: number;
}

export interface PollerOptions {
  claim: () => Promise<OutboxBatch[]>;
  dispatch: (batches: OutboxBatch[]) => Promise<HandedOver>;
  /** Claims that may be under way at a time. */
  parallel: number;
  /**
   * The longest time that the next claim waits for the hand-over before it: when Temporal is busy, rows gather into fewer
   * and larger batches. A hand-over that takes longer goes on during the next claim.
   */
  handOverMs: number;
  /** The pause after a claim, by what it cost; by all its rows while that is not known. */
  pauseMs: (rows: number) => number;
  onError: (error: unknown) => void;
}

/** If Temporal takes nothing, claiming pauses, because rows would only be put back. */
const BACKOFF_MS = { first: 250, longest: 5_000 } as const;
const CLAIM_FAILED_PAUSE_MS = 1_000;

/**
 * Creates the poll loop of a kind. Hand-overs run concurrently with it, so one slow hand-over takes one of `parallel`
 * places and leaves the others. A row waits at most a pause and the claims before it.
 */
export function createPoller({ claim, dispatch, parallel, handOverMs, pauseMs, onError }: PollerOptions): Poller {
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let isWanted = false;
  let running: Promise<void> | undefined;
  let nextClaimAt = 0;
  let failures = 0;

  /** @returns what the batches cost */
  function handOver(batches: OutboxBatch[]): Promise<number> {
    const task = dispatch(batches)
      .then(
        ({ isTaken, costInRows }) => {
          failures = isTaken ? 0 : failures + 1;
          return costInRows;
        },
        (error: unknown) => {
          failures += 1;
          onError(error);
          return 0;
        },
      )
      .finally(() => underWay.delete(task));
    underWay.add(task);
    return task;
  }

  function pauseAfter(rows: number): number {
    if (failures === 0) return pauseMs(rows);
    return Math.min(BACKOFF_MS.first * 2 ** Math.min(failures - 1, 10), BACKOFF_MS.longest);
  }

  async function run(): Promise<void> {
    while (isWanted) {
      await untilNextClaim();
      if (stopping.signal.aborted) return;
      isWanted = false;
      const batches = await claim();
      let cost = batches.reduce((sum, batch) => sum + batch.subjectIds.length, 0);
      if (batches.length > 0) {
        isWanted = true;
        cost = await Promise.race([handOver(batches), delay(handOverMs, cost, { ref: false })]);
      }
      if (underWay.size >= parallel) await Promise.race(underWay);
      nextClaimAt = performance.now() + pauseAfter(cost);
    }
  }

  async function untilNextClaim(): Promise<void> {
    const waitMs = nextClaimAt - performance.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
  }

  function start(): void {
    running ??= run()
      .catch((error: unknown) => {
        nextClaimAt = performance.now() + CLAIM_FAILED_PAUSE_MS;
        onError(error);
      })
      .finally(() => {
        running = undefined;
        if (isWanted && !stopping.signal.aborted) start();
      });
  }

  return {
    notify() {
      isWanted = true;
      if (!stopping.signal.aborted) start();
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(underWay);
    },
  };
}
