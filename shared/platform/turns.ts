import { performance } from 'node:perf_hooks';

/** Gives everything else that waits a turn. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const TURN_MS = 8;

/** For work in many small pieces: call it after each. Once it has gone on for a few milliseconds, others have a turn. */
export function createTurns(): () => Promise<void> {
  let begunAt = performance.now();
  return async () => {
    if (performance.now() - begunAt < TURN_MS) return;
    await pause();
    begunAt = performance.now();
  };
}

/** Runs work, or keeps it waiting until fewer than so many are under way. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets `width` pieces of work go on at a time; the others wait, first come, first served. */
export function createGate(width: number): Gate {
  let free = width;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** As `Gate`, for each key of its own. */
export type KeyedGate = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates a gate for each key, for as long as there is work under it. */
export function createKeyedGate(width: number): KeyedGate {
  const gates = new Map<string, { pass: Gate; count: number }>();
  return async (key, work) => {
    const gate = gates.get(key) ?? { pass: createGate(width), count: 0 };
    gates.set(key, gate);
    gate.count += 1;
    try {
      return await gate.pass(work);
    } finally {
      gate.count -= 1;
      if (gate.count === 0) gates.delete(key);
    }
  };
}
