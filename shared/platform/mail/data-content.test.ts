import { finished } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import DataStream from 'nodemailer/lib/smtp-connection/data-stream';
import { toDataContent } from './data-content.ts';

const octets = (text: string): Buffer => Buffer.from(text, 'latin1');

/** What the SMTP client itself would send. */
async function longWay(raw: Buffer): Promise<Buffer> {
  const stream = new DataStream();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.end(raw);
  await finished(stream);
  return Buffer.concat(chunks);
}

describe('toDataContent', () => {
  it.each([
    ['a\r\n', 'a\r\n.\r\n'],
    ['.\r\n', '..\r\n.\r\n'],
    ['.a\r\n.b\r\nc.\r\n..d\r\n', '..a\r\n..b\r\nc.\r\n...d\r\n.\r\n'],
    ['\r\n', '\r\n.\r\n'],
  ])('turns %j into %j', (raw, content) => {
    expect(toDataContent(octets(raw))?.toString('latin1')).toBe(content);
  });

  it.each(['', 'a', 'a\n', 'a\nb\r\n', 'a\rb\r\n', 'a\r\r\n', '\n.\r\n', 'a\r', 'a\r\n.\r', 'a\n.\nMAIL\r\n'])(
    'leaves %j to the long way',
    (raw) => {
      expect(toDataContent(octets(raw))).toBeUndefined();
    },
  );

  it('leaves large messages to the long way', () => {
    expect(toDataContent(Buffer.concat([Buffer.alloc(300_000, 'a'), octets('\r\n')]))).toBeUndefined();
  });

  it('sends what the client itself would send, and one end of data at most', async () => {
    const piece = fc.constantFrom('.', '\r\n', '\r', '\n', 'a', '..', '\r\n.', 'é');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const raw = octets(`${pieces.join('')}\r\n`);
        const content = toDataContent(raw);
        if (content === undefined) return;
        expect(content).toEqual(await longWay(raw));
        expect(content.indexOf('\r\n.\r\n')).toBe(content.length - 5);
      }),
    );
  });
});
