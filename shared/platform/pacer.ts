import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest that work in many small parts keeps the event loop from everybody else, in milliseconds. */
const SLICE_MS = 8;

/**
 * For work in many small parts: call the pacer between them. Most calls return undefined at once; when the work has had
 * its share of time, the promise resolves after everybody else has had a turn.
 */
export function createPacer(sliceMs = SLICE_MS): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < sliceMs) return undefined;
    return nextTurn().then(() => {
      startedAt = performance.now();
    });
  };
}
