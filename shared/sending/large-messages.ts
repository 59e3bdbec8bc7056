import { createOctetBudget, type Release } from '../platform/octet-budget.ts';
import type { EmailBatch } from './ports.ts';

/** The memory of a worker process for large messages: their attachments, and each message in flight. */
const LARGE_MESSAGES_BYTES = 134_217_728;
/** Copies of a message in memory: the composed one and the one written to the socket. */
const COPIES_PER_MESSAGE = 2;
const MEMORY_WAIT_MS = 1_000;
/** The most large messages of a batch in flight at the same time. */
export const LARGE_AT_ONCE = 4;

/** The error of an attempt that gets no memory for a large message, because others have it. */
export class MemoryBusyError extends Error {}

/**
 * Creates the function that reserves memory for several messages of a batch at once, or else for one.
 * @throws MemoryBusyError when there is not enough for one
 */
export function createLargeMessages() {
  const budget = createOctetBudget(LARGE_MESSAGES_BYTES);
  return async ({ sharedBytes, messageBytes }: Required<EmailBatch>['memory']): Promise<[number, Release]> => {
    for (const [atOnce, waitMs] of [
      [LARGE_AT_ONCE, 0],
      [1, MEMORY_WAIT_MS],
    ] as const) {
      const release = await budget.take(sharedBytes + atOnce * COPIES_PER_MESSAGE * messageBytes, waitMs);
      if (release) return [atOnce, release];
    }
    throw new MemoryBusyError('Other large messages are being sent');
  };
}
