import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { simpleParser, type ParsedMail } from 'mailparser';
import { composeMessage as compose, createMessageComposer, type OutgoingMessage } from './compose.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A message as the octets that leave. */
const composeMessage = (content: OutgoingMessage) => Buffer.from(compose(content) as string, 'latin1');

function message(overrides: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    from: { address: 'news@example.com', name: 'Example' },
    to: { address: 'ann@example.org' },
    subject: 'Hello',
    html: '<p>Hello</p>',
    text: 'Hello',
    messageId: '<0190c0de-7000@example.com>',
    date: new Date('2025-03-04T05:06:07.890Z'),
    ...overrides,
  };
}

/** What every message must satisfy, whatever went in. */
function expectWireForm(raw: Buffer): void {
  const wire = raw.toString('latin1');
  expect(wire).toMatch(/^[\t\r\n\x20-\x7e\x01-\x08\x0b\x0c\x0e-\x1f\x7f]*$/);
  expect(wire.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(wire.endsWith('\r\n')).toBe(true);
  for (const line of wire.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(998);
  }
}

/** The names of the top-level header fields, in order. */
function fieldNames(raw: Buffer): string[] {
  const wire = raw.toString('latin1');
  const header = wire.slice(0, wire.indexOf('\r\n\r\n'));
  return header
    .split('\r\n')
    .filter((line) => !/^[ \t]/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')));
}

const BASIC_FIELDS = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type'];

/** Line ends are CRLF on the wire and LF in the parser. */
const toLf = (text: string | false | undefined) => (text || '').replace(/\r\n?/g, '\n');

async function parse(raw: Buffer): Promise<ParsedMail> {
  expectWireForm(raw);
  return simpleParser(raw, { skipTextToHtml: true, skipHtmlToText: true, skipTextLinks: true, skipImageLinks: true });
}

/** Text as people type it: several scripts, emoji, odd white space, dots, markers of all kinds, no lone surrogates. */
const prose = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'Grüße',
        'Привет',
        '你好，世界',
        '👩‍👩‍👧',
        '.',
        '..',
        '\n.\n',
        '=20',
        '=?UTF-8?Q?x?=',
        '--=_a0_',
        'From ',
        '"',
        '\\',
        ' ',
      ),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(' '));

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
  // Parsers take away a byte order mark at the start, and NUL is not text.
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

  it('encodes NUL, which no line of a message may hold', async () => {
    const raw = composeMessage(message({ text: 'a\0b', html: 'é\0'.repeat(9) }));
    expect(raw.includes(0)).toBe(false);
    expectWireForm(raw);
  });

  it('writes one part only where there is one body only', async () => {
    const htmlOnly = await parse(composeMessage(message({ text: '' })));
    expect(htmlOnly.headers.get('content-type')).toMatchObject({ value: 'text/html' });
    const textOnly = await parse(composeMessage(message({ html: '' })));
    expect(textOnly.headers.get('content-type')).toMatchObject({ value: 'text/plain' });
    expect(textOnly.text).toBe('Hello\n');
  });

  it('gives internationalised domains their ASCII form and refuses what has none', () => {
    const raw = composeMessage(message({ to: { address: 'ann@bücher.example' } })).toString('latin1');
    expect(raw).toContain('To: ann@xn--bcher-kva.example\r\n');
    for (const address of [
      'än@example.org',
      'a b@example.org',
      'a@b\r\nBcc: x@example.org',
      'nobody',
      'a@',
      'a>@b.c',
    ]) {
      expect(() => composeMessage(message({ to: { address } }))).toThrow('cannot be used in an e-mail');
    }
  });

  it('gives bodies, names and subjects of any kind back unchanged', async () => {
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

  it('keeps header lines at 78 where words allow it and at 998 where they do not', () => {
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
    for (const line of header.split('\r\n')) {
      expect(line.trim()).not.toBe('');
    }
    expect(
      header
        .split('\r\n')
        .filter((line) => line.includes('folded'))
        .every((line) => line.length <= 78),
    ).toBe(true);
  });
});

describe('hostile input', () => {
  const attack = fc.constantFrom(
    '\r\nBcc: evil@example.org',
    '\nBcc: evil@example.org\n\nbody',
    '\rX-Evil: 1',
    '\u2028Bcc: x',
    '\0',
    '\r\n\r\n<script>',
  );
  const hostile = fc.tuple(prose, attack, prose).map((pieces) => pieces.join(''));

  it('never starts a header or ends the header block from a field', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, hostile, hostile, async (subject, fromName, toName, value, other) => {
        const raw = composeMessage(
          message({
            subject,
            from: { address: 'news@example.com', name: fromName },
            to: { address: 'ann@example.org', name: toName },
            messageId: `<1@example.com>${other}`,
            headers: [
              ['X-Value', value],
              [`X-Name${other}`, 'ignored'],
            ],
            attachments: [
              { filename: other, content: PNG, contentType: value, contentId: other, disposition: 'attachment' },
            ],
          }),
        );
        expect(fieldNames(raw)).toEqual([...BASIC_FIELDS.slice(0, 5), 'X-Value', ...BASIC_FIELDS.slice(5)]);
        const mail = await parse(raw);
        expect(mail.bcc).toBeUndefined();
        expect(mail.attachments).toHaveLength(1);
        expect(mail.attachments[0]?.content.equals(PNG)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('ignores protected and malformed names, and lets a later header of the same name win', () => {
    const raw = composeMessage(
      message({
        replyTo: 'reply@example.com',
        headers: [
          ['From', 'evil@example.org'],
          ['content-type', 'text/evil'],
          ['Bcc', 'evil@example.org'],
          ['X Y', 'no'],
          ['x-one', '1'],
          ['X-One', '2'],
          ['reply-to', 'other@example.com'],
        ],
      }),
    );
    expect(fieldNames(raw)).toEqual([...BASIC_FIELDS.slice(0, 5), 'X-One', 'reply-to', ...BASIC_FIELDS.slice(5)]);
    expect(raw.toString('latin1')).toContain('X-One: 2\r\nreply-to: other@example.com\r\n');
  });
});

describe('attachments', () => {
  it('nests mixed, alternative and related where each is needed', async () => {
    const raw = composeMessage(
      message({
        html: '<img src="cid:logo@1">',
        attachments: [
          { filename: 'logo.png', content: PNG, contentType: 'image/png', contentId: 'logo@1', disposition: 'inline' },
          {
            filename: 'terms.txt',
            content: Buffer.from('Terms'),
            contentType: 'text/plain; charset=utf-8',
            disposition: 'attachment',
          },
        ],
      }),
    );
    const types = [...raw.toString('latin1').matchAll(/^Content-Type: ([^;\r]*)/gm)].map((match) => match[1]);
    expect(types).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'multipart/related',
      'text/html',
      'image/png',
      'text/plain',
    ]);
    const mail = await parse(raw);
    expect(
      mail.attachments.map(({ filename, contentType, related, cid }) => ({
        filename,
        contentType,
        related: [related].includes(true),
        cid,
      })),
    ).toEqual([
      { filename: 'logo.png', contentType: 'image/png', related: true, cid: 'logo@1' },
      { filename: 'terms.txt', contentType: 'text/plain', related: false, cid: undefined },
    ]);
  });

  it.each([
    'Rechnung für März.pdf',
    '请求书.pdf',
    `${'ein sehr langer Name '.repeat(8)}.pdf`,
    `${'年度报告'.repeat(20)}.pdf`,
    "it's 100% (new)*.txt",
    'quote"back\\slash.txt',
  ])('keeps the file name %s', async (filename) => {
    const attachments = [
      { filename, content: PNG, contentType: 'application/pdf', disposition: 'attachment' as const },
    ];
    const mail = await parse(composeMessage(message({ attachments })));
    expect(mail.attachments[0]?.filename).toBe(filename);
  });

  it('keeps parameters a media type needs, and sends messages and odd types as octets', () => {
    const contentTypes = [
      'text/calendar; method=REQUEST; charset="utf-8"',
      'message/rfc822',
      'no type',
      'image/png; name=x; boundary=y',
    ];
    const attachments = contentTypes.map((contentType) => ({
      filename: 'a',
      content: PNG,
      contentType,
      disposition: 'attachment' as const,
    }));
    const raw = composeMessage(message({ attachments })).toString('latin1');
    expect(raw).toContain('Content-Type: text/calendar;\r\n method=REQUEST;\r\n charset="utf-8";\r\n name="a"\r\n');
    expect(raw.match(/Content-Type: application\/octet-stream;\r\n name="a"\r\n/g)).toHaveLength(2);
    expect(raw).toContain('Content-Type: image/png;\r\n name="a"\r\n');
  });

  it('gives every attachment back byte for byte', async () => {
    const files = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(files, fc.boolean(), async (contents, isInline) => {
        const attachments = contents.map((content, index) => ({
          filename: `file-${index}.bin`,
          content: Buffer.from(content),
          contentType: 'application/octet-stream',
          ...(isInline ? { contentId: `part${index}@example.com` } : {}),
          disposition: isInline ? ('inline' as const) : ('attachment' as const),
        }));
        const mail = await parse(composeMessage(message({ attachments })));
        expect(mail.attachments.map((attachment) => [...attachment.content])).toEqual(
          contents.map((content) => [...content]),
        );
      }),
      { numRuns: 100 },
    );
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
