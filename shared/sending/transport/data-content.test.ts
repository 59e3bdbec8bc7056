import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toDataContent, toDataParts } from './data-content.ts';

const joined = (parts: Iterable<Buffer>) => Buffer.concat([...parts]).toString('latin1');
/** The content of a message in every form: whole, and in parts of text and of octets. */
const allForms = (raw: string): string[] => [
  toDataContent(raw),
  ...[1, 2, 5, 262_144].flatMap((partOctets) => [
    joined(toDataParts(raw, partOctets)),
    joined(toDataParts(Buffer.from(raw, 'latin1'), partOctets)),
  ]),
];

/** The message as a server reads it by RFC 5321; undefined when it ends too early. */
function received(content: string): string | undefined {
  const lines = content.split('\r\n');
  if (lines.indexOf('.') !== lines.length - 2 || lines.at(-1) !== '') return undefined;
  return lines
    .slice(0, -2)
    .map((line) => `${line.startsWith('.') ? line.slice(1) : line}\r\n`)
    .join('');
}

describe('the content after DATA', () => {
  it.each([
    ['', '.\r\n'],
    ['a\r\n', 'a\r\n.\r\n'],
    ['a', 'a\r\n.\r\n'],
    ['.\r\n', '..\r\n.\r\n'],
    ['.a\r\n.b\r\nc.\r\n..d\r\n', '..a\r\n..b\r\nc.\r\n...d\r\n.\r\n'],
    ['\r\n', '\r\n.\r\n'],
    ['a\n.\nMAIL FROM:<b>\r\n', 'a\r\n..\r\nMAIL FROM:<b>\r\n.\r\n'],
    ['a\r.\rMAIL FROM:<b>\r\n', 'a\r\n..\r\nMAIL FROM:<b>\r\n.\r\n'],
    ['\n.\r\n', '\r\n..\r\n.\r\n'],
  ])('turns %j into %j', (raw, content) => {
    expect(allForms(raw)).toEqual(Array.from({ length: 9 }, () => content));
  });

  it('keeps a large message as it is', () => {
    const raw = 'x'.repeat(70) + '\r\n';
    for (const content of allForms(raw.repeat(5_000))) expect(received(content)).toBe(raw.repeat(5_000));
  });

  it('keeps the content, of text and of octets', () => {
    const piece = fc.constantFrom('.', '\r\n', 'a', '..', '\r\n.', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const raw = pieces.join('');
        const whole = raw.endsWith('\r\n') || raw === '' ? raw : `${raw}\r\n`;
        for (const content of allForms(raw)) expect(received(content)).toBe(whole);
      }),
    );
  });

  it('writes no second end for servers that accept a lone CR or LF as a line end', () => {
    const piece = fc.constantFrom('.', '\r\n', '\r', '\n', 'a', '..', '\r\n.', '\n.\n', '\r.\r', '\r\n.\r\n', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const content of allForms(pieces.join(''))) {
          const ends = [...content.matchAll(/(?<=^|[\r\n])\.(?=[\r\n])/g)];
          expect(ends.map((end) => end.index)).toEqual([content.length - 3]);
        }
      }),
    );
  });
});
