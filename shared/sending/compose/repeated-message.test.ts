import { describe, expect, it } from '@jest/globals';
import { lastingPiecesOf } from './repeated-message.ts';

interface Composed {
  boundary?: string;
  inner?: string;
  date?: string;
  text?: string;
}

function lasting({
  boundary = '===first==',
  inner = '===inner==',
  date = 'Thu, 26 Nov 2026 10:00:00 +0000',
  text = 'Hi',
}: Composed): string {
  const lines = [
    'From: hello@example.com',
    `Date: ${date}`,
    'Message-ID: <1@shop>',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    `Content-Type: multipart/alternative; boundary=${inner}`,
    '',
    `--${inner}`,
    '',
    text,
    `--${inner}--`,
    `--${boundary}--`,
    '',
  ];
  return Buffer.concat(lastingPiecesOf(Buffer.from(lines.join('\r\n')))).toString();
}

describe('a message that its program composes again', () => {
  it('is the same with another date and other boundaries, of inner parts too', () => {
    const first = lasting({});
    const again = { boundary: '--_NmP-7d1b-Part_1', inner: '--_NmP-7d1b-Part_2' };
    expect(lasting({ ...again, date: 'Fri,\r\n 27 Nov 2026 10:00:09 +0000' })).toBe(first);
    expect(first).toContain('From: hello@example.com\r\nMessage-ID: <1@shop>\r\n');
    expect(first).toContain('\r\n\r\nHi\r\n');
  });

  it.each([
    ['text', { text: 'Hello' }],
    ['lines that look like a boundary', { text: '--===other==' }],
    ['a date in its text', { text: 'Date: today' }],
  ])('is another one with other %s', (_what, change) => {
    expect(lasting(change)).not.toBe(lasting({}));
  });

  it.each([
    ['a boundary that stands in it a million times', `boundary=${'a'.repeat(8)}\r\n\r\n${'a'.repeat(8_000_000)}`],
    ['a million names of boundaries', `From: a\r\n\r\n${'boundary=x '.repeat(1_000_000)}`],
    ['a header only', 'From: a\r\nDate: b\r\n'],
  ])('may have %s', (_what, text) => {
    const pieces = lastingPiecesOf(Buffer.from(text));
    expect(pieces.length).toBeLessThan(30_000);
    expect(Buffer.concat(pieces).length).toBeLessThanOrEqual(text.length);
  });
});
