/** A turn at a provider that limits the speed. */
export interface Turn {
  waitMs: number;
  /** Whether the turn is so far away that the email is held instead. */
  isHeld: boolean;
  /** Call when the wait is over. */
  done: () => void;
}

/** The longest wait within the send loop, where a waiting email occupies the place of another. */
const SHORT_WAIT_MS = 300;
/** Turns missed longer ago than this are not made up for. */
const LATE_MS = 2_000;
/** How long a held email waits. The speed may change meanwhile, so a distant turn is planned again. */
const HOLD_MS = { min: 2_000, max: 60_000 } as const;

/** Creates turns at a speed. At most a quarter of the places of the send loop wait for one. */
export function createProviderTurns(concurrency: number, now: () => number = Date.now) {
  const free = new Map<string, { turnMs: number; holdMs: number }>();
  const waitingMax = Math.max(1, Math.floor(concurrency / 4));
  let waiting = 0;

  return {
    /** Whether the next turn is now. */
    isFree: (key: string) => (free.get(key)?.turnMs ?? 0) <= now(),

    /** @param rate emails a second of this worker */
    take(key: string, rate: number): Turn {
      const atMs = now();
      const stepMs = 1_000 / rate;
      const at = free.get(key) ?? { turnMs: atMs, holdMs: 0 };
      free.set(key, at);
      const turnMs = Math.max(at.turnMs, atMs - LATE_MS);
      const waitMs = Math.max(0, turnMs - atMs);
      if (waitMs <= SHORT_WAIT_MS && (waitMs === 0 || waiting < waitingMax)) {
        at.turnMs = turnMs + stepMs;
        if (waitMs > 0) waiting += 1;
        return { waitMs, isHeld: false, done: () => (waiting -= waitMs > 0 ? 1 : 0) };
      }
      const holdMs = Math.min(Math.max(at.holdMs, atMs + HOLD_MS.min), atMs + HOLD_MS.max);
      at.holdMs = holdMs + stepMs;
      return { waitMs: holdMs - atMs, isHeld: true, done: () => undefined };
    },
  };
}
