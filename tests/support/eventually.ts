/** Expensive checks come less often, because they take CPU time from the work that they wait for. */
const PAUSE_PER_CHECK = 20;
/** The shortest and the longest pause between two checks. */
const SHORT_WAIT = [5, 50] as const;
const LONG_WAIT = [50, 250] as const;
const LONG_WAIT_MS = 1_000;

function pauseAfter(checkMs: number, waitedMs: number): number {
  const [least, most] = waitedMs < LONG_WAIT_MS ? SHORT_WAIT : LONG_WAIT;
  return Math.min(Math.max(least, checkMs * PAUSE_PER_CHECK), most);
}

/**
 * Repeats `check`, also after it has thrown, until it returns something. Throws after `timeoutMs`, with the last error
 * as cause.
 */
export async function eventually<T>(check: () => Promise<T | undefined | false>, timeoutMs = 30_000): Promise<T> {
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
