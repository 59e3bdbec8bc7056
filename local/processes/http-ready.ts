import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the URL answers with a 2xx status; rejects only when `signal` is aborted. */
export async function waitForHttp(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(100);
  }
}
