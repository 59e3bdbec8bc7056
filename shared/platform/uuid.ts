import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const UUID_OCTETS = 16;
const octets = Buffer.alloc(512 * UUID_OCTETS);
let used = octets.length;
let [lastMs, sequence] = [0, 0];

/**
 * A UUID of version 7 (RFC 9562 section 5.7), greater than every one before it in this process. Random octets are fetched
 * for many at a time, because a fetch takes longer than all else.
 */
export function uuidV7(): string {
  if (used === octets.length) {
    randomFillSync(octets);
    used = 0;
  }
  const random = octets.subarray(used, (used += UUID_OCTETS));
  const now = Date.now();
  sequence = now > lastMs ? random.readUInt32BE(6) >>> 1 : sequence + 1;
  lastMs = Math.max(now, lastMs);
  return v7({ random, msecs: lastMs, seq: sequence });
}
