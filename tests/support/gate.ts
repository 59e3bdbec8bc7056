import { eventually } from './eventually.ts';

export interface Gate {
  /** Resolves at once, or when the gate opens. */
  pass: () => Promise<void>;
  /** Lets through what waits, and holds again what comes after `count` have passed in all. */
  openUntil: (count: number) => void;
  /** Resolves when something waits. */
  untilHeld: () => Promise<void>;
}

/** A gate that lets `count` through and holds what comes afterwards. */
export function createGate(count: number): Gate {
  let passed = 0;
  let limit = count;
  const waiting: (() => void)[] = [];
  return {
    async pass() {
      passed += 1;
      if (passed > limit) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    openUntil(next) {
      limit = next;
      for (const resolve of waiting.splice(0)) resolve();
    },
    untilHeld: async () => void (await eventually(() => Promise.resolve(waiting.length > 0), 90_000)),
  };
}
