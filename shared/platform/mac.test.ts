import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createMac } from './mac.ts';

describe('createMac', () => {
  it.each([0, 1, 31, 32, 55, 56, 63, 64, 65, 4_000])(
    'makes the HMAC-SHA-256 of %i bytes for keys of up to 64 bytes',
    (length) => {
      for (const keyLength of [0, 1, 32, 63, 64]) {
        const [key, message] = [randomBytes(keyLength), randomBytes(length)];
        const mac = createMac(key);
        const expected = createHmac('sha256', key).update(message).digest();
        expect([mac(message), mac(randomBytes(9)), mac(message)]).toEqual([expected, expect.anything(), expected]);
      }
    },
  );

  it('refuses a key that is longer than a block', () => {
    expect(() => createMac(randomBytes(65))).toThrow(RangeError);
  });
});
