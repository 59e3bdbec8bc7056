import { untilNextBatchMs } from '../domain/outbox/outbox.ts';

/** Decides when a dispatcher looks for due rows. */
export interface Watch {
  /** Looks now, or within this many milliseconds: simultaneous calls make one look. */
  lookWithin: (ms: number) => void;
  /** Looks once more when the rows being batched now have been due for so many milliseconds. */
  lookWithNextBatch: (ms: number) => void;
  /** Stops looking, and waits for the look under way. */
  stop: () => Promise<void>;
}

/** A process looks no more often than this, however often it is told to. */
const PAUSE_MS = 10;

/** Creates the watch of a dispatcher. `look` is called one at a time. */
export function createWatch(look: () => Promise<void>, onError: (error: unknown) => void): Watch {
  let isStopped = false;
  let scheduled: { timer: NodeJS.Timeout; at: number } | undefined;
  let gathered: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isWantedAgain = false;
  let notBefore = 0;

  function lookNow(): void {
    scheduled = undefined;
    // The look under way may have missed the row of this call.
    isWantedAgain = looking !== undefined;
    if (looking) return;
    notBefore = performance.now() + PAUSE_MS;
    looking = look()
      .catch(onError)
      .finally(() => {
        looking = undefined;
        if (isWantedAgain) lookWithin(0);
      });
  }

  function lookWithin(ms: number): void {
    if (isStopped) return;
    const now = performance.now();
    const at = Math.max(now + ms, notBefore);
    if (scheduled && scheduled.at <= at) return;
    clearTimeout(scheduled?.timer);
    scheduled = undefined;
    if (at <= now) lookNow();
    else scheduled = { timer: setTimeout(lookNow, at - now), at };
  }

  return {
    lookWithin,
    lookWithNextBatch(ms) {
      if (isStopped) return;
      gathered ??= setTimeout(() => {
        gathered = undefined;
        lookWithin(0);
      }, untilNextBatchMs() + ms);
    },
    async stop() {
      isStopped = true;
      clearTimeout(scheduled?.timer);
      clearTimeout(gathered);
      await looking;
    },
  };
}
