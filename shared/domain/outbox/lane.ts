import { setTimeout as delay } from 'node:timers/promises';
import { claimOutboxBatches, isFullClaim, type OutboxBatch, type OutboxLane } from './outbox.ts';
import type { Em } from '../orm.ts';

/** One claim after the other, as long as there is something to claim. */
export interface Lane {
  /** Something may have been committed. Never throws, never waits. */
  look: () => void;
  /** Takes nothing more, and waits for what is under way. */
  stop: () => Promise<void>;
}

export interface LaneOptions {
  lane: OutboxLane;
  em: () => Em;
  dispatch: (batches: OutboxBatch[]) => Promise<void>;
  /** How long to gather before the next claim. */
  pauseMs: (batches: OutboxBatch[]) => number;
  /** The claim was full: there is work for another lane as well. */
  onFull?: () => void;
  onError: (error: unknown) => void;
}

/** Creates a lane of the dispatcher. */
export function createLane({ lane, em, dispatch, pauseMs, onFull, onError }: LaneOptions): Lane {
  const stopping = new AbortController();
  let looks = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      while (!stopping.signal.aborted) {
        const seen = looks;
        const batches = await claimOutboxBatches(em(), lane);
        if (batches.length === 0 && looks === seen) break;
        if (isFullClaim(lane, batches)) onFull?.();
        if (batches.length > 0) await dispatch(batches);
        await delay(pauseMs(batches), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    } catch (error) {
      onError(error);
    } finally {
      running = undefined;
    }
  }

  return {
    look() {
      looks++;
      if (!stopping.signal.aborted) running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
