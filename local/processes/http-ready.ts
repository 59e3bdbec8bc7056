import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves when the URL answers with a 2xx status, or with an answer that `accepts` takes; rejects only when `signal` is
 * aborted.
 */
export async function waitForHttp(
  url: string,
  signal: AbortSignal,
  accepts: (body: string) => boolean = () => false,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
      const body = await response.text();
      if (response.ok || accepts(body)) return;
    } catch {
      // Not listening yet.
    }
    await sleep(100);
  }
}
