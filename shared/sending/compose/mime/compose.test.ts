import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BASIC_FIELDS,
  composeMessage,
  expectWireForm,
  fieldNames,
  message,
  parse,
  prose,
  toLf,
} from '../../../../tests/support/composed-messages.ts';
import { createMessageComposer } from './compose.ts';

const body = fc
  .array(
    fc.oneof(
      prose,
      fc.constantFrom(
        '\n',
        '\r\n',
        '\r',
        '\n\n',
        '.\n',
        ' \n',
        '\t\r\n',
        '--=_a0_0190c0de7000examplecom\r\n',
        '--=_a0_0190c0de7000examplecom--\r\n',
      ),
      fc.nat(2500).map((length) => 'x'.repeat(length)),
    ),
    { maxLength: 10 },
  )
  // Parsers remove a byte order mark at the start, and NUL is not text.
  .map((pieces) => pieces.join('').replace(/[\0\ufeff]/g, ''));

describe('composeMessage', () => {
  it('writes a message that a parser reads back field by field', async () => {
    const mail = await parse(
      composeMessage(
        message({
          from: { address: 'news@example.com', name: 'Jörg "der Bär" Müller' },
          to: { address: 'ann@example.org', name: 'Ann, the Example' },
          replyTo: 'reply@example.com',
          subject: 'Grüße aus Köln',
          html: '<p>Schöne Grüße</p>\n<p>.</p>\n',
          text: 'Schöne Grüße\n.\n',
          headers: [
            ['X-Campaign', 'spring'],
            ['List-Unsubscribe', '<https://example.com/u/1>, <mailto:u@example.com>'],
          ],
        }),
      ),
    );
    expect(mail.from?.value).toEqual([{ address: 'news@example.com', name: 'Jörg "der Bär" Müller' }]);
    expect([mail.to].flat()[0]?.value).toEqual([{ address: 'ann@example.org', name: 'Ann, the Example' }]);
    expect(mail.replyTo?.value[0]?.address).toBe('reply@example.com');
    expect(mail.subject).toBe('Grüße aus Köln');
    expect(mail.html).toBe('<p>Schöne Grüße</p>\n<p>.</p>\n');
    expect(mail.text).toBe('Schöne Grüße\n.\n');
    expect(mail.messageId).toBe('<0190c0de-7000@example.com>');
    expect(mail.date).toEqual(new Date('2025-03-04T05:06:07.000Z'));
    expect(mail.headers.get('x-campaign')).toBe('spring');
    expect(mail.headers.get('mime-version')).toBe('1.0');
  });

  it('sends ASCII as it is', () => {
    const raw = composeMessage(message({ html: '<p>a = b</p>\n', text: 'a = b\r\n.\r\n' })).toString('latin1');
    expect(raw).toContain('Content-Transfer-Encoding: 7bit\r\n\r\n<p>a = b</p>\r\n');
    expect(raw).toContain('\r\n\r\na = b\r\n.\r\n');
    expect(raw).toContain('Date: Tue, 04 Mar 2025 05:06:07 +0000\r\n');
  });

  it('chooses quoted-printable for mostly Latin text and base64 for the rest', () => {
    const latin = composeMessage(message({ text: 'Ein schöner Tag im Mai, und alles grünt und blüht.' }));
    const cyrillic = composeMessage(message({ text: 'Здравствуйте, ваш заказ уже в пути.' }));
    expect(latin.toString('latin1')).toContain('Content-Transfer-Encoding: quoted-printable');
    expect(cyrillic.toString('latin1')).toContain('Content-Transfer-Encoding: base64');
  });

  it('takes another boundary when a body contains the first ones', async () => {
    const html = '--=_a0_0190c0de7000examplecom\r\n--=_a1_0190c0de7000examplecom--\r\nend';
    const raw = composeMessage(message({ html, text: html }));
    expect(raw.toString('latin1')).toContain('boundary="=_a2_0190c0de7000examplecom"');
    expect(toLf((await parse(raw)).html)).toBe(toLf(html));
  });

  it('encodes NUL, which no line of a message may contain', async () => {
    const raw = composeMessage(message({ text: 'a\0b', html: 'é\0'.repeat(9) }));
    expect(raw.includes(0)).toBe(false);
    expectWireForm(raw);
  });

  it('writes one part when there is one body', async () => {
    const htmlOnly = await parse(composeMessage(message({ text: '' })));
    expect(htmlOnly.headers.get('content-type')).toMatchObject({ value: 'text/html' });
    const textOnly = await parse(composeMessage(message({ html: '' })));
    expect(textOnly.headers.get('content-type')).toMatchObject({ value: 'text/plain' });
    expect(textOnly.text).toBe('Hello\n');
  });

  it('writes internationalised domains in ASCII, and a local part in UTF-8 only for its own recipient', () => {
    const raw = composeMessage(message({ to: { address: 'ann@bücher.example' } })).toString('latin1');
    expect(raw).toContain('To: ann@xn--bcher-kva.example\r\n');
    const own = composeMessage(message({ to: { address: 'än@bücher.example', name: 'Än' } })).toString();
    expect(own).toContain('To: =?UTF-8?B?w4Ru?= <än@xn--bcher-kva.example>\r\n');
    const copy = {
      to: { address: 'ann@example.org' },
      cc: [{ address: 'än@example.org' }, { address: 'bo@example.org' }],
    };
    expect(composeMessage(message(copy)).toString()).toMatch(
      /^Cc: =\?UTF-8\?[BQ]\?[^?]+\?= :;,\r\n bo@example\.org\r$/m,
    );
    const other = { to: { address: 'än@example.org' }, recipient: 'bo@example.org' };
    expect(composeMessage(message(other)).toString()).toMatch(/^To: =\?UTF-8\?[BQ]\?[^?]+\?= :;\r$/m);
    expect(() => composeMessage(message({ from: { address: 'än@example.org' } }))).toThrow(
      'cannot be used in an email',
    );
    for (const address of ['a b@example.org', 'a@b\r\nBcc: x@example.org', 'nobody', 'a@', 'a>@b.c']) {
      expect(() => composeMessage(message({ to: { address } }))).toThrow('cannot be used in an email');
    }
  });

  it('preserves bodies, names and subjects of any kind', async () => {
    const wire = (text: string) => text.replace(/[\0-\x08\x0a-\x1f\x7f\u2028\u2029]/g, '').trim();
    await fc.assert(
      fc.asyncProperty(prose, prose, body, body, async (subject, name, html, text) => {
        const to = { address: 'ann@example.org', name };
        const raw = composeMessage(message({ subject, to, html: `<p>${html}`, text: `-${text}` }));
        expect(fieldNames(raw)).toEqual(BASIC_FIELDS);
        const mail = await parse(raw);
        expect(toLf(mail.html)).toBe(`<p>${toLf(html)}`);
        expect(toLf(mail.text)).toBe(`-${toLf(text)}`);
        expect(mail.subject ?? '').toBe(wire(subject));
        expect([mail.to].flat()[0]?.value[0]).toEqual({ address: 'ann@example.org', name: wire(name) });
      }),
      { numRuns: 300 },
    );
  });

  it('splits long encoded words between code points only', () => {
    const raw = composeMessage(message({ subject: '👋🏽 Привет, мир! '.repeat(30) })).toString('latin1');
    const words = raw.match(/=\?UTF-8\?[BQ]\?[^?]*\?=/g) ?? [];
    expect(words.length).toBeGreaterThan(5);
    for (const word of words) {
      expect(word.length).toBeLessThanOrEqual(75);
      const octets = Buffer.from(word.split('?')[3] ?? '', 'base64');
      expect(Buffer.from(octets.toString('utf8')).equals(octets)).toBe(true);
    }
  });

  it('keeps header lines within 78 characters where words allow it, and within 998 always', () => {
    const subject = 'several words that have to be folded somewhere '.repeat(20);
    const raw = composeMessage(
      message({
        subject,
        headers: [
          ['X-Long', 'y'.repeat(998)],
          ['X-Spaces', `a${' '.repeat(900)}b`],
        ],
      }),
    );
    expectWireForm(raw);
    const header = raw.toString('latin1').split('\r\n\r\n')[0] ?? '';
    const lines = header.split('\r\n');
    expect(lines.filter((line) => line.trim() === '')).toEqual([]);
    const foldedLines = lines.filter((line) => line.includes('folded'));
    expect(foldedLines.length).toBeGreaterThan(1);
    expect(foldedLines.filter((line) => line.length > 78)).toEqual([]);
  });
});

describe('createMessageComposer', () => {
  it('writes what composeMessage writes', () => {
    const headers = [['X-Campaign', 'spring']] as const;
    const { from, ...content } = message();
    const composer = createMessageComposer({ from, replyTo: 'reply@example.com', headers });
    for (const subject of ['One', 'Zwei für dich']) {
      const whole = composeMessage(message({ subject, replyTo: 'reply@example.com', headers }));
      expect(Buffer.from(composer.compose({ ...content, subject }) as string, 'latin1')).toEqual(whole);
    }
  });

  it('lets the headers of one message replace those of the frame, for that message only', () => {
    const { from, ...content } = message();
    const composer = createMessageComposer({
      from,
      headers: [
        ['Precedence', 'bulk'],
        ['X-A', '1'],
      ],
    });
    const own = composer
      .compose({
        ...content,
        headers: [
          ['precedence', 'list'],
          ['X-B', '2'],
        ],
      })
      .toString('latin1');
    expect(own).toContain('X-A: 1\r\nprecedence: list\r\nX-B: 2\r\n');
    expect(own).not.toContain('bulk');
    expect(composer.compose(content).toString('latin1')).toContain('Precedence: bulk\r\nX-A: 1\r\nMIME');
  });

  it('writes the headers of each message, whatever the previous message had', () => {
    const { from, ...content } = message();
    const composer = createMessageComposer({ from });
    const written = ['1', '2', '2', '1'].map((value) => {
      const headers = [
        ['X-A', value],
        ['x-a', `${value}${value}`],
        ['Bcc', value],
      ] as const;
      return /^x-a: .*$|bcc/gim.exec(composer.compose({ ...content, headers }).toString('latin1'))?.[0];
    });
    expect(written).toEqual(['x-a: 11', 'x-a: 22', 'x-a: 22', 'x-a: 11']);
  });

  it('writes the date of each message', () => {
    const { from, ...content } = message();
    const composer = createMessageComposer({ from });
    const dates = ['2025-01-01T00:00:00.999Z', '2025-01-01T00:00:01.000Z', '2025-01-01T00:00:00.000Z'];
    const seconds = dates.map(
      (date) =>
        /Date: .*:(\d\d) \+0000/.exec(composer.compose({ ...content, date: new Date(date) }).toString('latin1'))?.[1],
    );
    expect(seconds).toEqual(['00', '01', '00']);
  });
});
