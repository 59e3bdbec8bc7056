import { describe, expect, it } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { readSubmittedMessage } from './submitted-message.ts';

const contentOf = (lines: string[]): Buffer =>
  readSubmittedMessage(Buffer.from(['From: a@b.example', ...lines].join('\r\n'), 'latin1'), []).content;
const longest = (content: Buffer): number =>
  Math.max(
    ...content
      .toString('latin1')
      .split('\r\n')
      .map(({ length }) => length),
  );
const html = `<p>${'word '.repeat(400)}= é</p>`;
const inLatin1 = 'Content-Type: text/html; charset=iso-8859-1';

describe('a submitted message with lines that are too long', () => {
  it.each([
    ['without MIME', ['', 'x'.repeat(999), 'y'], (mail: Mail) => mail.text, `${'x'.repeat(999)}\ny`],
    [
      'of HTML',
      ['MIME-Version: 1.0', inLatin1, 'Content-Transfer-Encoding: 8bit', '', html],
      (mail: Mail) => mail.html,
      html,
    ],
    [
      'of base64 in one line',
      [
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('z'.repeat(2_000)).toString('base64'),
      ],
      (mail: Mail) => mail.text,
      'z'.repeat(2_000),
    ],
    [
      'in an attachment',
      [
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        '',
        'Hello',
        '--b',
        'Content-Type: text/csv',
        'Content-Disposition: attachment; filename=a.csv',
        '',
        'a,'.repeat(800),
        '--b--',
      ],
      (mail: Mail) => mail.attachments[0]?.content.toString(),
      'a,'.repeat(800),
    ],
  ])('is encoded again where they are: %s', async (_name, lines, read, expected) => {
    const content = contentOf(lines);
    expect(longest(content)).toBeLessThanOrEqual(76);
    expect(content.toString().match(/^MIME-Version:/gim)).toHaveLength(1);
    expect(String(read(await simpleParser(content))).trim()).toBe(expected);
  });

  it.each([
    ['that just fit', ['', 'x'.repeat(998), '']],
    ['in a signed part', ['Content-Type: multipart/signed; boundary=b', '', '--b', '', 'x'.repeat(2_000), '--b--', '']],
    ['in a message in it', ['Content-Type: message/rfc822', '', 'Subject: x', '', 'x'.repeat(2_000), '']],
    ['in an encoding that is not known', ['Content-Transfer-Encoding: x-uuencode', '', 'x'.repeat(2_000), '']],
  ])('stays as it is with lines %s', (_name, lines) => {
    expect(contentOf(lines).toString('latin1')).toBe(['From: a@b.example', ...lines].join('\r\n'));
  });
});

describe('a submitted header with lines that are too long', () => {
  const to = Array.from({ length: 200 }, (_, n) => `reader${n}@mail.example`).join(', ');

  it('is folded at white space, and says the same', async () => {
    const content = contentOf([`To: ${to}`, 'X-Words: ' + ' \t x'.repeat(600), 'Subject: x', '', 'Hello', '']);
    expect(longest(content)).toBeLessThanOrEqual(998);
    const [header = ''] = content.toString().split('\r\n\r\n');
    expect(header.split('\r\n').filter((line) => line.trim() === '')).toEqual([]);
    const mail = await simpleParser(content);
    expect([mail.to].flat()[0]?.value).toHaveLength(200);
    expect([mail.subject, mail.text?.trim()]).toEqual(['x', 'Hello']);
  });

  it('is refused where it cannot be folded', () => {
    expect(() => contentOf([`X-Long: ${'x'.repeat(999)}`, '', 'Hello'])).toThrow('a word of more than 998 octets');
  });
});

type Mail = Awaited<ReturnType<typeof simpleParser>>;
