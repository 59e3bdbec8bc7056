import { afterEach, beforeEach } from '@jest/globals';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that stands still until a test lets time pass. */
export interface FakeClock {
  /** Lets time pass, and everything happen that is due by then. */
  pass: (ms?: number) => Promise<void>;
}

/**
 * Replaces `setTimeout`, `clearTimeout`, `setImmediate` and `performance.now` during each test of the file, or of the
 * `describe` in which it is called.
 */
export function useFakeClock(): FakeClock {
  const real = { setTimeout, clearTimeout, setImmediate };
  const realNow = performance.now.bind(performance);
  /** Work that is called by promises runs in a later pass of the real event loop. */
  const settled = () => new Promise((resolve) => real.setImmediate(resolve));
  let timers = new Set<Timer>();
  let now = 0;

  function setTimer(work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object {
    const timer = { at: now + Math.max(0, ms), run: () => work(...args) };
    timers.add(timer);
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  }

  beforeEach(() => {
    timers = new Set();
    now = 0;
    Object.assign(globalThis, {
      setTimeout: setTimer,
      setImmediate: (work: (...args: unknown[]) => void, ...args: unknown[]) => setTimer(work, 0, ...args),
      clearTimeout: (timer: Timer) => void timers.delete(timer),
    });
    performance.now = () => now;
  });
  afterEach(() => {
    Object.assign(globalThis, real);
    performance.now = realNow;
  });

  return {
    pass: async (ms = 0) => {
      const until = now + ms;
      for (;;) {
        await settled();
        let next: Timer | undefined;
        for (const timer of timers) if (timer.at <= until && timer.at < (next?.at ?? Infinity)) next = timer;
        if (!next) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = until;
    },
  };
}
