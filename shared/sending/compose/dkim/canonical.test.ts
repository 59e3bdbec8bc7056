import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { relaxLines } from './canonical.ts';

/** RFC 6376 section 3.4.4 literally: a run of white space becomes one space, and none remains at the end of a line. */
function relaxed(lines: string): string {
  return lines.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n');
}

describe('relaxLines', () => {
  it('follows RFC 6376 for text and for octets', () => {
    const piece = fc.constantFrom(' ', '  ', '\t', ' \t ', '\r\n', ' \r\n', '-- \r\n', 'a', 'word and word', '.');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const lines = pieces.join('');
        expect(relaxLines(lines)).toBe(relaxed(lines));
        expect(relaxLines(Buffer.from(lines)).toString()).toBe(relaxed(lines));
      }),
    );
  });
});
