import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AppError } from '../../shared/pure/app-error.ts';
import { parseJson } from './json-parser.ts';
import { createJsonScanner, LARGE_TEXT_BYTES } from './json-scanner.ts';
import { Octets } from './octets.ts';

const BASE64_AT = ['files', '*', 'content'];

/** Reads a body that arrives in pieces of the given lengths, the last of which repeats. */
async function read(body: string | Buffer, lengths: number[] = [64 * 1024]): Promise<unknown> {
  const octets = new Octets();
  const scanner = createJsonScanner();
  const all = Buffer.from(body);
  let position = 0;
  for (let index = 0; position < all.length; index++) {
    const length = lengths[Math.min(index, lengths.length - 1)] ?? 1;
    const chunk = all.subarray(position, position + length);
    scanner.push(chunk);
    octets.push(chunk);
    position += length;
  }
  expect(octets.length).toBe(all.length);
  return parseJson(octets, scanner.largeTexts, BASE64_AT);
}

async function faultOf(body: string | Buffer): Promise<string> {
  const error = await read(body).catch((thrown: unknown) => thrown);
  if (!(error instanceof AppError)) throw new Error('the body was taken', { cause: error });
  return error.code;
}

/** A text with everything that JSON escapes, long enough to be read in pieces. */
const largeText = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.integer({ min: 1_000, max: 12_000 }))
  .map(([text, times]) => text.toWellFormed().replaceAll('\0', ' ').repeat(times));
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    { arbitrary: fc.string({ unit: 'grapheme' }), weight: 3 },
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    largeText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 5 }),
  ),
})).value;
const lengths = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 });
/** Other ways to write JSON: with escape sequences where none are needed, and with spaces. */
const writers = fc.constantFrom<(json: unknown) => string>(
  (json) => JSON.stringify(json),
  (json) => JSON.stringify(json, null, 2),
  (json) =>
    JSON.stringify(json).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  (json) => ` \n\t${JSON.stringify(json).replaceAll('/', '\\/')}\r\n`,
);

describe('a JSON body', () => {
  it('is read as JSON.parse reads it, in whatever pieces it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(value, writers, lengths, async (json, write, pieces) => {
        const text = write(json);
        expect(await read(text, pieces)).toEqual(JSON.parse(text));
      }),
      { numRuns: 150 },
    );
  });

  it('is refused where JSON.parse refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(
        value,
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', '}', ']', '\n', '1'),
        async (json, at, put) => {
          const text = JSON.stringify(json);
          const cut = at % (text.length + 1);
          const broken = text.slice(0, cut) + put + text.slice(cut + 1);
          let isJson = true;
          try {
            JSON.parse(broken);
          } catch {
            isJson = false;
          }
          if (isJson || broken === '') return;
          // The scanner refuses a large text that has become a key before JSON.parse refuses the body.
          expect(['BAD_REQUEST', 'VALIDATION_ERROR']).toContain(await faultOf(broken));
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    ['no text in UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    [
      'a large text that is not UTF-8',
      Buffer.concat([Buffer.from('"'), Buffer.alloc(300_000, 0xbf), Buffer.from('"')]),
    ],
    ['a line break in a large text', `"${'x'.repeat(LARGE_TEXT_BYTES)}\n"`],
    ['two large texts without a comma', `["${'x'.repeat(LARGE_TEXT_BYTES + 1)}""${'x'.repeat(LARGE_TEXT_BYTES + 1)}"]`],
    ['an end within a large text', `"${'x'.repeat(LARGE_TEXT_BYTES * 3)}`],
    ['401 levels', '['.repeat(401)],
  ])('with %s is a 400', async (_what, body) => {
    expect(await faultOf(body)).toBe('BAD_REQUEST');
  });

  it.each([
    ['more than 15,000 values', `[${'0,'.repeat(50_000)}0]`],
    ['more than 15,000 members', `{${Array.from({ length: 15_001 }, (_, n) => `"${n}":0`).join()}}`],
    ['a key of 100 kB', `{"${'x'.repeat(100_000)}":1}`],
    ['NUL in a large text', `{"a":"${'x'.repeat(LARGE_TEXT_BYTES)}\\u0000"}`],
    ['half a pair of surrogates at the end of a large text', `{"a":"${'x'.repeat(LARGE_TEXT_BYTES)}\\ud800"}`],
    ['half a pair of surrogates between its pieces', `{"a":"${'\\ud800x'.repeat(LARGE_TEXT_BYTES)}"}`],
    ['a large text that should be base64', `{"files":[{"content":"${'x='.repeat(LARGE_TEXT_BYTES)}"}]}`],
  ])('with %s is a 422', async (_what, body) => {
    expect(await faultOf(body)).toBe('VALIDATION_ERROR');
  });

  it('with a byte order mark is read', async () => {
    expect(await read('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it('of which more than 5 MiB are not in large texts is a 413', async () => {
    const texts = Array.from({ length: 200 }, () => `"${'x'.repeat(30_000)}"`);
    expect(await faultOf(`[${texts.join()}]`)).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('a large base64 text', () => {
  it('is read as its octets, with line breaks and without', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 50 }),
        fc.integer({ min: 5_000, max: 20_000 }),
        fc.constantFrom('', '\n', '\r\n'),
        lengths,
        async (part, times, lineBreak, pieces) => {
          const file = Buffer.alloc(part.length * times, Buffer.from(part));
          const base64 = file.toString('base64').replaceAll(/.{76}/g, `$&${lineBreak}`);
          const body = await read(JSON.stringify({ files: [{ content: base64 }] }), pieces);
          const content = (body as { files: { content: unknown }[] }).files[0]?.content;
          const octets = Buffer.isBuffer(content) ? content : Buffer.from(String(content), 'base64');
          expect(octets.equals(file)).toBe(true);
          expect(Buffer.isBuffer(content)).toBe(JSON.stringify(base64).length - 2 > LARGE_TEXT_BYTES);
        },
      ),
      { numRuns: 60 },
    );
  });
});
