import type { Steps } from '../pure/steps.ts';

/** Lets the other work of the event loop run before the caller goes on. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The longest that work in many small pieces keeps the event loop, in milliseconds. */
const TURN_MS = 8;

/**
 * Creates a function to call, and await, after each of many small pieces of work. Most calls return undefined at once.
 * When the work has used up its time, the promise resolves after other work of the event loop has run.
 */
export function createTurns(turnMs = TURN_MS): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < turnMs) return undefined;
    return pause().then(() => {
      startedAt = performance.now();
    });
  };
}

/** Runs work that yields where it may be interrupted. After a few milliseconds, other work of the event loop runs. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const turn = createTurns();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await turn();
  }
}

/** Runs work as soon as the gate lets it through. Work that waits when `signal` is aborted fails with its reason. */
export type Gate = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Creates a gate that lets `width` pieces of work run at a time; the others wait, first come, first served. */
export function createGate(width: number): Gate {
  let free = width;
  const waiting: (() => void)[] = [];
  function enter(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      function leave(): void {
        waiting.splice(waiting.indexOf(pass), 1);
        reject(signal?.reason as Error);
      }
      function pass(): void {
        signal?.removeEventListener('abort', leave);
        resolve();
      }
      waiting.push(pass);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
  return async (work, signal) => {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await enter(signal);
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/**
 * Keeps one object per key, made by `create`, for as long as work with that key is under way.
 * @returns the function that runs work with the object of a key
 */
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

/** A separate `Gate` for each key. */
export type KeyedGate = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Creates gates that let `width` pieces of work of a key run at a time. */
export function createKeyedGate(width: number): KeyedGate {
  const withGate = createPerKey(() => createGate(width));
  return (key, work, signal) => withGate(key, (pass) => pass(work, signal));
}
