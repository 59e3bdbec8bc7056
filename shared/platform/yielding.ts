import type { Steps } from '../pure/steps.ts';

/** Lets the other work of the event loop run before the caller goes on. */
export function yieldNow(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The longest that work in many small pieces keeps the event loop, in milliseconds. */
const STRETCH_MS = 8;

/**
 * Creates a function to call, and await, after each of many small pieces of work. Most calls return undefined at once.
 * When the work has used up its time, the promise resolves after other work of the event loop has run.
 */
export function createYields(stretchMs = STRETCH_MS): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < stretchMs) return undefined;
    return yieldNow().then(() => {
      startedAt = performance.now();
    });
  };
}

/** Runs work that yields where it may be interrupted. After a few milliseconds, other work of the event loop runs. */
export async function runWithYields<Result>(steps: Steps<Result>): Promise<Result> {
  const yieldIfDue = createYields();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await yieldIfDue();
  }
}
