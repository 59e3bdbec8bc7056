import { untilNextBatchMs } from '../durable/outbox/outbox.ts';

/** Calls the look of a dispatcher for due rows, never two looks at a time. */
export interface Watch {
  /** Looks within so many milliseconds, at once for 0. All calls in that time cause one look. */
  lookWithin: (ms: number) => void;
  /** Looks once more, so many milliseconds after the rows that are being batched now become due. */
  lookWithNextBatch: (ms: number) => void;
  /** Stops looking, and waits for the look under way. */
  stop: () => Promise<void>;
}

/** The shortest pause between two looks. */
const PAUSE_MS = 10;

/** Creates the watch of a dispatcher. An error of `look` goes to `onError`. */
export function createWatch(look: () => Promise<void>, onError: (error: unknown) => void): Watch {
  let isStopped = false;
  let scheduled: { timer: NodeJS.Timeout; at: number } | undefined;
  let gathered: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isWantedAgain = false;
  let notBefore = 0;

  function lookNow(): void {
    scheduled = undefined;
    // A look under way may have missed the row of this call, so another look follows it.
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
