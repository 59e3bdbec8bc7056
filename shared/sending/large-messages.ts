import { Share, type Release } from '../platform/share.ts';
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
 * Creates the function that takes memory for several messages of a batch at once, or else for one. All attempts are one
 * owner, so they get it in their order, and small messages never keep a large one waiting.
 * @throws MemoryBusyError when there is not enough for one
 */
export function createLargeMessages() {
  const refusal = (): Error => new MemoryBusyError('Other large messages are being sent');
  const memory = new Share({ total: LARGE_MESSAGES_BYTES, waitMs: MEMORY_WAIT_MS, refusal });
  return async ({ sharedBytes, messageBytes }: Required<EmailBatch>['memory']): Promise<[number, Release]> => {
    const octetsOf = (atOnce: number): number => sharedBytes + atOnce * COPIES_PER_MESSAGE * messageBytes;
    const atOnce = memory.isFree('', octetsOf(LARGE_AT_ONCE)) ? LARGE_AT_ONCE : 1;
    return [atOnce, await memory.take('', octetsOf(atOnce))];
  };
}
