import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { composeMessage, message, parse, PNG } from '../../../../tests/support/composed-messages.ts';

describe('a message with attachments', () => {
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

  it('keeps parameters of a media type, and sends messages and malformed types as octets', () => {
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

  it('preserves every attachment byte for byte', async () => {
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
