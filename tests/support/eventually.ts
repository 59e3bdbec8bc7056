/**
 * Waits until `check` answers something, looking again and again, also after it threw; fails after `timeoutMs` with the
 * last fault.
 */
export async function eventually<T>(check: () => Promise<T | undefined | false>, timeoutMs = 20_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let fault: unknown;
    try {
      const result = await check();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      fault = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`nothing within ${timeoutMs} ms: ${check.toString().slice(0, 200)}`, { cause: fault });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
