import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from './logger.ts';

/** Resolves after some milliseconds, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}

export interface Wait {
  /** The thing to wait for and its address, without a password: `PostgreSQL at db:5432/everpost`. */
  what: string;
  /** The reason why it cannot be used now; undefined when waiting does not help, which ends the wait. */
  unavailabilityReason: (error: unknown) => string | undefined;
  logger: Logger;
}

const PAUSE_MS = { first: 250, longest: 5_000 } as const;
/** Repeated, so that the end of the log always shows what a process waits for. */
const REMINDER_MS = 60_000;

/**
 * Repeats `attempt` until it succeeds, with growing pauses and without a limit. The log says what is missing, when the
 * reason changes, and when it is there.
 * @throws the error of `attempt` when waiting does not help
 */
export async function waitUntilThere<T>(
  attempt: () => Promise<T>,
  { what, unavailabilityReason, logger }: Wait,
): Promise<T> {
  let said: { reason: string; at: number } | undefined;
  for (let pauseMs: number = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
    try {
      const result = await attempt();
      if (said) logger.warn(`${what} is there, going on`);
      return result;
    } catch (error) {
      const reason = unavailabilityReason(error);
      if (reason === undefined) throw error;
      if (said?.reason !== reason || performance.now() - said.at > REMINDER_MS) {
        logger.warn(`${what} cannot be used: ${reason}. Trying again until it can`);
        said = { reason, at: performance.now() };
      }
    }
    // Random, so that processes that lost the same server do not all reconnect at the same time.
    await delay(pauseMs * (0.75 + Math.random() / 2));
  }
}
