import { hash } from 'node:crypto';
import { deriveKeys, type AppSecrets } from './sealed-values.ts';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const [INNER_PAD, OUTER_PAD] = [0x36, 0x5c];

/** The authentication code of a message, 32 bytes. */
export type Mac = (message: Uint8Array) => Buffer;

/**
 * HMAC-SHA-256 (RFC 2104) with a key of at most 64 bytes. It takes 1.1 to 1.6 microseconds. `createHmac` takes 2.3, or
 * 4.9 with garbage collection, because it allocates a stream per message and memory outside the heap.
 * @throws RangeError for a longer key
 */
export function createMac(key: Uint8Array): Mac {
  if (key.length > BLOCK_BYTES) throw new RangeError('the key is longer than a block');
  const inner = Buffer.alloc(BLOCK_BYTES, INNER_PAD);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, OUTER_PAD);
  for (const [index, octet] of key.entries()) {
    inner[index] = octet ^ INNER_PAD;
    outer[index] = octet ^ OUTER_PAD;
  }
  // A digest as a string needs no memory outside the heap, unlike a buffer.
  return (message) => {
    const innerDigest = hash('sha256', Buffer.concat([inner, message]), 'binary');
    outer.write(innerDigest, BLOCK_BYTES, 'latin1');
    return Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
  };
}

/** Creates one authentication code per secret for one purpose; the first one belongs to APP_SECRET. */
export function deriveMacs(secrets: AppSecrets, purpose: string): readonly [Mac, ...Mac[]] {
  const [first, ...others] = deriveKeys(secrets, purpose);
  return [createMac(first), ...others.map(createMac)];
}
