import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { finish } from '../../pure/steps.ts';
import { toDataParts } from '../transport/data-content.ts';
import { encodeTextBody } from './mime/body-encoding.ts';
import { mapLines, toLineFeeds } from './line-ends.ts';

const filler = fc.constantFrom('', 'x'.repeat(262_140), 'x\n'.repeat(131_070), '\r'.repeat(262_143));
const ends = fc.string({ unit: fc.constantFrom('\r', '\n', '.', 'a', 'ß'), maxLength: 12 });
const texts = fc.tuple(ends, filler, ends, filler, ends).map((parts) => parts.join(''));

describe('texts in pieces', () => {
  it('are converted like texts in one piece', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(finish(toLineFeeds(text))).toBe(text.replace(/\r\n?/g, '\n'));
        expect(finish(mapLines(text, (lines) => lines.replace(/\n/g, '\r\n')))).toBe(text.replace(/\n/g, '\r\n'));
        const { content } = finish(encodeTextBody(text.replaceAll('ß', 'b').replaceAll('x', '\u0001')));
        expect(content).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
      }),
      { numRuns: 40 },
    );
  });

  it.each(['\n', '\r', 'ß\n', '\n.', 'a'])('of millions of %j are composed in seconds of CPU time', async (piece) => {
    const cpuMs = await cpuMsOf(() => {
      const { content } = finish(encodeTextBody(piece.repeat(4_000_000)));
      const octets = Buffer.concat([...toDataParts(`a\r\n\r\n${content}`, 262_144)]);
      expect(octets.toString('latin1', octets.length - 5)).toBe('\r\n.\r\n');
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});
