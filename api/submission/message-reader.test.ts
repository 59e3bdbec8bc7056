import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLineEnds } from './message-reader.ts';

describe('the line ends of a message', () => {
  it('are CRLF however its octets are cut, and stay when they are', () => {
    const text = fc
      .array(fc.constantFrom('a', '\r', '\n', '\r\n', '.'), { maxLength: 40 })
      .map((parts) => parts.join(''));
    const cuts = fc.array(fc.nat(40), { maxLength: 6 });
    fc.assert(
      fc.property(text, cuts, (whole, at) => {
        const inCrlf = createLineEnds();
        const edges = [0, ...at.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
        const pieces = edges.slice(1).map((edge, index) => inCrlf(Buffer.from(whole.slice(edges[index], edge))));
        const converted = Buffer.concat([...pieces, inCrlf(undefined)]).toString();
        expect(converted).toBe(whole.replace(/\r\n|\r|\n/g, '\r\n'));
      }),
      { numRuns: 2_000 },
    );
  });
});
