import { describe, expect, it } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { createLinkSigner } from './links.ts';
import { trackMessage } from './tracked-message.ts';

const signer = createLinkSigner({
  appSecret: 'a secret for the tests of links',
  previousSecrets: [],
  publicUrl: 'https://mail.example',
});
const EMAIL = '01920000-0000-7000-8000-000000000001';
const links = signer.recipientUrls({ contactId: EMAIL, emailId: EMAIL, projectId: EMAIL });
const track = (raw: string | Buffer) => trackMessage(Buffer.isBuffer(raw) ? raw : Buffer.from(raw, 'latin1'), links);

async function compose(mail: object): Promise<Buffer> {
  const { message } = await createTransport({ streamTransport: true, buffer: true, newline: 'windows' }).sendMail({
    from: 'a@b.example',
    ...mail,
  });
  return message as Buffer;
}

/** The link that only machines follow. */
const HIDDEN_LINK = /<a [^>]*aria-hidden[^>]*><\/a>/;

/** The targets of the tracked links in a message, and whether it has the image. */
async function linksIn(raw: Buffer) {
  const { html, text, attachments } = await simpleParser(raw, { skipHtmlToText: true });
  const found = [
    ...String(html)
      .replace(HIDDEN_LINK, '')
      .matchAll(/href="([^"]*)"/g),
  ].map(([, url = '']) => {
    const token = /\/t\/c\/(.*)/.exec(url)?.[1];
    return token === undefined ? url : signer.readClickToken(token)?.url;
  });
  return {
    found,
    hasImage: String(html).includes('/t/o/'),
    html,
    text,
    files: attachments.map(({ content }) => content),
  };
}

const HTML = '<p>Grüße <a href="https://shop.example/ä?x=1&amp;y=2">a</a> <a href=\'mailto:x@y.z\'>m</a></p>';

describe('a tracked message', () => {
  it.each(['base64', 'quoted-printable'] as const)('keeps text and files, in %s', async (textEncoding) => {
    const file = Buffer.from(Array.from({ length: 10_000 }, (_, i) => (i * 31) % 256));
    const raw = await compose({
      html: HTML.repeat(20),
      text: 'https://shop.example/ stays',
      textEncoding,
      attachments: [{ content: file }, { filename: 'page.html', content: HTML }],
    });
    const tracked = await linksIn(track(raw));
    const before = await linksIn(raw);
    expect(tracked.found[0]).toBe('https://shop.example/%C3%A4?x=1&y=2');
    expect(tracked.hasImage).toBe(true);
    expect([tracked.text, tracked.files]).toEqual([before.text, before.files]);
    expect(String(tracked.html)).toContain('Grüße');
    for (const line of track(raw).toString('latin1').split('\r\n')) expect(line.length).toBeLessThan(999);
  });

  it('in 8 bits keeps its octets, and gets another encoding only for long lines', async () => {
    const head =
      'From: a@b.example\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n';
    const short = track(`${head}<p>gr\xfc\xdfe <a href=https://shop.example/>x</a></p>\r\n`).toString('latin1');
    expect(short).toContain('gr\xfc\xdfe <a href="https://mail.example/t/c/');
    expect(short).toContain('Content-Transfer-Encoding: 8bit');
    const long = track(`${head}<p>gr\xfc\xdfe <a href="https://shop.example/${'x'.repeat(800)}">x</a></p>\r\n`);
    expect(long.toString('latin1').match(/transfer-encoding/gi)).toHaveLength(1);
    expect((await linksIn(long)).found).toEqual([`https://shop.example/${'x'.repeat(800)}`]);
    expect((await linksIn(long)).html).toContain('grüße');
  });

  it('stays as it is without HTML, in attached messages, under a signature, in shifting charsets and in unknown encodings', () => {
    const inner = 'Content-Type: text/html\r\n\r\n<a href="https://a.example">x</a>\r\n';
    for (const raw of [
      'From: a@b.example\r\n\r\nhttps://a.example\r\n',
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${inner}--b--\r\n`,
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Disposition: attachment\r\n${inner}--b--\r\n`,
      // What is signed (S/MIME, OpenPGP) may lie below other parts.
      `Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: Multipart/Signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary=b\r\n\r\n--b\r\n${inner}--b\r\nContent-Type: application/pkcs7-signature\r\n\r\nMIIB\r\n--b--\r\n--a--\r\n`,
      inner.replace('text/html', 'text/html; charset=iso-2022-jp'),
      inner.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\n'),
      `Content-Type: multipart/mixed\r\n\r\n--b\r\n${inner}--b--\r\n`,
    ]) {
      expect(track(raw).toString('latin1')).toBe(raw);
    }
  });

  it('changes only its HTML part, in any multipart', () => {
    const raw = [
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      'preamble',
      '--b',
      'Content-Type: multipart/alternative; boundary=bb',
      '',
      '--bb',
      '',
      'plain  ',
      '--bb',
      'Content-Type: TEXT/HTML',
      '',
      '<a href="https://a.example/">x</a>',
      '--bb--',
      '--b',
      'Content-Type: application/octet-stream',
      '',
      '\xff\0 --b\t',
      '--b--',
      'epilogue',
    ].join('\r\n');
    const tracked = track(raw).toString('latin1');
    expect(
      tracked
        .replace(/https:\/\/mail\.example\/t\/c\/[^"]*/, 'https://a.example/')
        .replace(/<img[^>]*>/, '')
        .replace(HIDDEN_LINK, ''),
    ).toBe(raw);
    expect(tracked).toMatch(/<a href="https:\/\/mail\.example\/t\/c\/[^"]+">x<\/a><img[^>]*><a [^>]*><\/a>\r\n--bb--/);
  });

  it('is read in a time that grows with its length only', () => {
    const nested = Array.from(
      { length: 2_000 },
      (_, i) => `--b\r\nContent-Type: multipart/mixed; boundary=b${i % 7}\r\n\r\n`,
    );
    const hostile = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${nested.join('')}`;
    expect(track(hostile).toString('latin1')).toBe(hostile);
    const spaces = `Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${' '.repeat(500_000)}=`;
    expect(track(spaces).length).toBeGreaterThan(100);
  });
});
