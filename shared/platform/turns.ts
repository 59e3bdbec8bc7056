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

/** Does work that says where it may be interrupted. Once it has gone on for a few milliseconds, others have a turn. */
export async function inTurns<Result>(steps: Generator<'pause', Result, unknown>): Promise<Result> {
  const turn = createTurns();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await turn();
  }
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

/** Does work with what `create` makes for each key, and keeps that for as long as there is work with it. */
export function createPerKey<Made>(
  create: () => Made,
): <Result>(key: string, work: (made: Made) => Promise<Result>) => Promise<Result> {
  const kept = new Map<string, { made: Made; count: number }>();
  return async (key, work) => {
    const entry = kept.get(key) ?? { made: create(), count: 0 };
    kept.set(key, entry);
    entry.count += 1;
    try {
      return await work(entry.made);
    } finally {
      entry.count -= 1;
      if (entry.count === 0) kept.delete(key);
    }
  };
}

/** As `Gate`, for each key of its own. */
export type KeyedGate = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates a gate for each key, for as long as there is work under it. */
export function createKeyedGate(width: number): KeyedGate {
  const withGate = createPerKey(() => createGate(width));
  return (key, work) => withGate(key, (pass) => pass(work));
}
