import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64 } from './base64.ts';

/** What counts as base64: the alphabet of RFC 4648 section 4, in groups of four, padded at the end only. */
function isBase64(text: string): boolean {
  const compact = text.replace(/[\r\n]/g, '');
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}

describe('decodeBase64', () => {
  it('reads what was encoded, with line breaks or without', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('', '\n', '\r\n'), (octets, lineBreak) => {
        const text = Buffer.from(octets)
          .toString('base64')
          .replace(/.{1,20}/g, `$&${lineBreak}`);
        expect(decodeBase64(text)).toEqual(Buffer.from(octets));
      }),
    );
  });

  it('takes base64 and nothing else', () => {
    const character = fc.constantFrom('A', 'z', '0', '+', '/', '=', '-', '_', ' ', '\n', '\t', 'é', '\0');
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        expect(decodeBase64(text) !== undefined).toBe(isBase64(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
