import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { toDataContent } from '../smtp/data-content.ts';
import { encodeTextBody } from './mime/body-encoding.ts';
import { mapLines, toLineFeeds } from './text-pieces.ts';

const filler = fc.constantFrom('', 'x'.repeat(262_140), 'x\n'.repeat(131_070), '\r'.repeat(262_143));
const ends = fc.string({ unit: fc.constantFrom('\r', '\n', '.', 'a', 'ß'), maxLength: 12 });
const texts = fc.tuple(ends, filler, ends, filler, ends).map((parts) => parts.join(''));

describe('texts in pieces', () => {
  it('are converted like texts in one piece', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(toLineFeeds(text)).toBe(text.replace(/\r\n?/g, '\n'));
        expect(mapLines(text, (lines) => lines.replace(/^\./gm, '..'))).toBe(text.replace(/^\./gm, '..'));
        const content = encodeTextBody(text.replaceAll('ß', 'b').replaceAll('x', '\u0001')).content;
        expect(content).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
      }),
      { numRuns: 40 },
    );
  });

  it.each(['\n', '\r', 'ß\n', '\n.', 'a'])('of millions of %j are composed in seconds of CPU time', async (piece) => {
    const cpuMs = await cpuMsOf(() => {
      const { content } = encodeTextBody(piece.repeat(4_000_000));
      expect(toDataContent(`a\r\n\r\n${content}`).endsWith('\r\n.\r\n')).toBe(true);
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});
