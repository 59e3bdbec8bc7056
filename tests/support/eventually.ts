/** The pause between two checks. */
const PAUSE_MS = 50;
/** In a long wait, expensive checks come less often, because they take CPU time from the work that they wait for. */
const LONG_WAIT_MS = 1_000;
const LONG_PAUSE_MS_MAX = 250;
const PAUSE_PER_CHECK = 20;

function pauseAfter(checkMs: number, waitedMs: number): number {
  if (waitedMs < LONG_WAIT_MS) return PAUSE_MS;
  return Math.min(Math.max(PAUSE_MS, checkMs * PAUSE_PER_CHECK), LONG_PAUSE_MS_MAX);
}

/**
 * Repeats `check`, also after it has thrown, until it returns something. Throws after `timeoutMs`, with the last error
 * as cause.
 */
export async function eventually<T>(check: () => Promise<T | undefined | false>, timeoutMs = 20_000): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const checkedAt = performance.now();
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
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(now - checkedAt, now - startedAt)));
  }
}
