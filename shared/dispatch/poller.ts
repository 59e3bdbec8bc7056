import { setTimeout as delay } from 'node:timers/promises';
import type { OutboxBatch } from '../durable/outbox/outbox-claims.ts';

/** Claims rows of one kind and hands them over, one claim after the other while there are rows. */
export interface Poller {
  /** Tells that rows may be due. Never throws, never waits. */
  notify: () => void;
  /** Stops claiming, and waits for hand-overs under way. */
  stop: () => Promise<void>;
}

/** The result of handing batches over. */
export interface HandedOver {
  /** Whether at least one batch was taken. */
  isTaken: boolean;
  /** The cost for Temporal, in rows of new workflows. A row that joins an open delivery costs less. */
  costInRows: number;
}

export interface PollerOptions {
  claim: () => Promise<OutboxBatch[]>;
  dispatch: (batches: OutboxBatch[]) => Promise<HandedOver>;
  /** Claims that may be under way at a time. */
  parallel: number;
  /**
   * The longest time that a claim waits for the previous hand-over. While Temporal is busy, rows gather into fewer
   * and larger batches. A hand-over that takes longer continues during the next claim.
   */
  handOverMs: number;
  /** The pause after a claim, by its `costInRows`, or by the number of its rows while the cost is unknown. */
  pauseMs: (rows: number) => number;
  onError: (error: unknown) => void;
}

/** The pauses while Temporal takes no batch, since every row would be put back. */
const BACKOFF_MS = { first: 250, longest: 5_000 } as const;
const CLAIM_FAILED_PAUSE_MS = 1_000;

/**
 * Creates the poll loop of a kind. Up to `parallel` hand-overs run concurrently, so a slow one does not stop the loop.
 * A row waits at most for a pause and for the claims before its own.
 */
export function createPoller({ claim, dispatch, parallel, handOverMs, pauseMs, onError }: PollerOptions): Poller {
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let isWanted = false;
  let running: Promise<void> | undefined;
  let nextClaimAt = 0;
  let failures = 0;

  /** @returns the cost in rows */
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
