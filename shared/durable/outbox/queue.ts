import { setTimeout as delay } from 'node:timers/promises';
import { withTimeLimit } from '../../platform/time-limit.ts';
import type { HandedOver } from './hand-over.ts';
import type { OutboxBatch } from './outbox-claims.ts';
import type { OutboxWork } from './work.ts';

export interface QueueDeps {
  /** Claims rows; first those that have lapsed, if there may be some. */
  claim: (hasLapsed: boolean) => Promise<OutboxBatch[]>;
  handOver: (batches: OutboxBatch[]) => Promise<HandedOver>;
  /** Aborted when no more rows may be claimed. */
  signal: AbortSignal;
  report: (error: unknown) => void;
}

/** The pauses while Temporal takes no batch, since every row would be put back, or while rows cannot be claimed. */
const BACKOFF_MS = { first: 250, longest: 5_000 } as const;

/**
 * Creates the queue of a kind. Up to `parallel` hand-overs run at the same time, so a slow one does not stop the queue.
 * A row waits at most for a pause and for the claims before its own.
 */
export function createQueue(
  { parallel, handOverMs, pauseMs }: Pick<OutboxWork, 'parallel' | 'handOverMs' | 'pauseMs'>,
  { claim, handOver, signal, report }: QueueDeps,
) {
  const underWay = new Set<Promise<number>>();
  let draining: Promise<void> | undefined;
  let hasLapsed = false;
  let failures = 0;

  function fail(error: unknown): void {
    failures += 1;
    report(error);
  }

  /** @returns the cost in rows */
  function start(batches: OutboxBatch[]): Promise<number> {
    const task = handOver(batches)
      .then(({ isTaken, costInRows }) => {
        failures = isTaken ? 0 : failures + 1;
        return costInRows;
      })
      .catch((error: unknown) => {
        fail(error);
        return 0;
      })
      .finally(() => underWay.delete(task));
    underWay.add(task);
    return task;
  }

  async function pauseAfter(rows: number): Promise<void> {
    const backoffMs = Math.min(BACKOFF_MS.first * 2 ** Math.min(failures - 1, 10), BACKOFF_MS.longest);
    await delay(failures === 0 ? pauseMs(rows) : backoffMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** @returns whether there were rows */
  async function claimOnce(): Promise<boolean> {
    const mayRecover = hasLapsed;
    hasLapsed = false;
    const batches = await claim(mayRecover);
    let cost = batches.reduce((sum, { subjectIds }) => sum + subjectIds.length, 0);
    if (cost > 0) cost = await withTimeLimit(start(batches), handOverMs, () => cost);
    if (underWay.size >= parallel) await Promise.race(underWay);
    await pauseAfter(cost);
    return batches.length > 0;
  }

  async function drain(): Promise<void> {
    try {
      while (!signal.aborted && (await claimOnce())) continue;
    } catch (error) {
      fail(error);
      await pauseAfter(0);
    }
  }

  return {
    /** Tells that rows are due. Never throws, never waits. */
    notify(due: { hasLapsed: boolean }) {
      hasLapsed ||= due.hasLapsed;
      draining ??= drain().finally(() => (draining = undefined));
    },
    /** Waits for the claim and the hand-overs under way, after `signal` was aborted. */
    async ended() {
      await draining;
      await Promise.all(underWay);
    },
  };
}

/** Claims rows of one kind and hands them over, one claim after the other, until a claim finds none. */
export type Queue = ReturnType<typeof createQueue>;
