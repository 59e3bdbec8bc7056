/** The pause between two looks. */
const PAUSE_MS = 50;
/** In a long wait, a look that asks the API or the database pauses longer: it takes processor time from what it waits for. */
const LONG_WAIT_MS = 1_000;
const LONG_PAUSE_MS_MAX = 250;
const PAUSE_PER_LOOK = 20;

function pauseAfter(lookMs: number, waitedMs: number): number {
  if (waitedMs < LONG_WAIT_MS) return PAUSE_MS;
  return Math.min(Math.max(PAUSE_MS, lookMs * PAUSE_PER_LOOK), LONG_PAUSE_MS_MAX);
}

/**
 * Waits until `check` answers something, looking again and again, also after it threw; fails after `timeoutMs` with the
 * last fault.
 */
export async function eventually<T>(check: () => Promise<T | undefined | false>, timeoutMs = 20_000): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const lookedAt = performance.now();
    let fault: unknown;
    try {
      const result = await check();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      fault = error;
    }
    const now = performance.now();
    if (now - startedAt > timeoutMs) {
      throw new Error(`nothing within ${timeoutMs} ms: ${check.toString().slice(0, 200)}`, { cause: fault });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(now - lookedAt, now - startedAt)));
  }
}
