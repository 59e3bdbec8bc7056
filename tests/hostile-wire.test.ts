import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { expectCheap, startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { exchangeRaw, openRaw, sendRaw, statusOf } from './support/raw-http.ts';

/** Node parses 64 kB in one turn, which may be ten thousand chunks. */
const CHUNKS_TURN_MAX_MS = 100;
const HEX_DIGEST = createHash('sha256').update('nobody').digest('hex');

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi({ API_KEYLESS_RATE_PER_SECOND: 0 }, { DOCS: 'true' });
});
afterAll(() => app.stop());

const bearer = () => `Authorization: Bearer ${app.attacker.keys.secretKey}\r\n`;
const chunked = (path: string, key = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${key}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

const body = JSON.stringify({ email: 'ada@example.com', data: { note: 'x'.repeat(6_000) } });
const inChunksOfOne = Array.from(body)
  .map((letter) => `1\r\n${letter}\r\n`)
  .join('');

describe('a chunked body', () => {
  it('in chunks of one octet is read like any other', async () => {
    await expectCheap(
      app,
      async () => {
        expect(statusOf(await exchangeRaw(app.url, `${chunked('/contacts', bearer())}${inChunksOfOne}0\r\n\r\n`))).toBe(
          201,
        );
      },
      CHUNKS_TURN_MAX_MS,
    );
  });

  it.each([
    ['extensions', `2;a=${'b'.repeat(10_000)}\r\n{}\r\n0\r\n\r\n`],
    ['thousands of extensions', `2${';a=b'.repeat(5_000)}\r\n{}\r\n0\r\n\r\n`],
    ['extensions in every chunk', `${'1;a=b;c="d"\r\n \r\n'.repeat(20_000)}2\r\n{}\r\n0\r\n\r\n`],
    ['trailers without end', `2\r\n{}\r\n0\r\n${'a: b\r\n'.repeat(50_000)}\r\n`],
    ['one long trailer', `2\r\n{}\r\n0\r\na: ${'b'.repeat(100_000)}\r\n\r\n`],
    ['a trailer that would change the request', '2\r\n{}\r\n0\r\nContent-Length: 5\r\nHost: b\r\n\r\n'],
    ['a length that overflows', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['a negative length', '-1\r\n{}\r\n0\r\n\r\n'],
    ['a length with a prefix', '0x2\r\n{}\r\n0\r\n\r\n'],
    ['line feeds alone', '2\n{}\n0\n\n'],
  ])('with %s gets a clear answer, with a key and without', async (_what, chunks) => {
    await expectCheap(
      app,
      async () => {
        for (const key of ['', bearer(), `Authorization: Bearer sk_${HEX_DIGEST}\r\n`]) {
          const status = statusOf(await exchangeRaw(app.url, `${chunked('/contacts', key)}${chunks}`));
          expect([400, 401, 408, 413, 422, 431]).toContain(status);
        }
      },
      CHUNKS_TURN_MAX_MS,
    );
  });
});

describe('headers', () => {
  it.each([
    ['as many as fit', 'a: b\r\n'.repeat(2_000)],
    ['all of one name', 'X-Same: y\r\n'.repeat(1_000)],
    ['cookies', `Cookie: ${'a=b; '.repeat(2_500)}\r\n`],
    ['odd names', '__proto__: x\r\nconstructor: y\r\ntoString: z\r\n'],
    ['many kinds of content', `Accept: ${'a/b;q=0.1,'.repeat(1_400)}*/*\r\n`],
    ['many codings', `Accept-Encoding: ${'gzip;q=0.1,'.repeat(1_300)}br\r\n`],
    ['many languages', `Accept-Language: ${'de-DE-1996;q=0.1,'.repeat(800)}en\r\n`],
    ['many hops', `X-Forwarded-For: ${'198.51.100.7,'.repeat(1_100)}::1\r\n`],
    ['a type with a thousand parameters', `Content-Type: application/json;${' a="b\\"";'.repeat(1_400)}\r\n`],
  ])('%s cost nothing', async (_what, headers) => {
    await expectCheap(app, async () => {
      for (const path of ['/contacts?limit=1', '/docs', '/t/c/x', '/unsubscribe/x', '/nowhere']) {
        const answer = await exchangeRaw(
          app.url,
          `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${bearer()}${headers}\r\n`,
        );
        expect([200, 301, 302, 304, 404, 431]).toContain(statusOf(answer));
      }
    });
  });

  it('are not repeated in an answer', async () => {
    const request = `GET /contacts HTTP/1.1\r\nHost: a\r\nX-Request-ID: a\r\n b\r\nIdempotency-Key: c\rX-Evil: 1\r\n\r\n`;
    expect(await sendRaw(app.url, request)).not.toMatch(/x-evil/i);
    const encoded = await sendRaw(app.url, 'GET /docs%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(encoded).not.toMatch(/^x-evil/im);
  });
});

describe('input that is not HTTP/1.1', () => {
  it.each([
    ['the beginning of TLS', Buffer.from('16030100f8010000f40303', 'hex')],
    ['the beginning of HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')],
    ['a PROXY header', Buffer.from('PROXY TCP4 198.51.100.7 198.51.100.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['SMTP', Buffer.from('EHLO example.com\r\nMAIL FROM:<a@example.com>\r\n')],
    ['octets of all values', Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 7) % 256))],
  ])('%s is answered with 400, or not at all', async (_what, octets) => {
    await expectCheap(app, async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => sendRaw(app.url, octets)));
      for (const answer of answers) expect([400, undefined]).toContain(statusOf(answer));
    });
  });

  it.each(['h2c', 'websocket', 'TLS/1.0'])('an upgrade to %s is ignored', async (to) => {
    const upgrade = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${to}\r\nHTTP2-Settings: AAMAAABk\r\n`;
    await expectCheap(app, async () => {
      const answer = await sendRaw(app.url, `GET /health HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
      expect(statusOf(answer)).toBe(200);
    });
  });
});

describe('many requests on one connection', () => {
  it('with Expect: 100-continue get no more than others', async () => {
    const { socket, received, ended } = await openRaw(app.url);
    const head = `POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
    await expectCheap(app, async () => {
      socket.write(`${head}Expect: 100-continue\r\n\r\n{}`.repeat(2_000));
      await ended;
    });
    expect(received().match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThan(50);
  });

  it('are all answered when they come one after the other', async () => {
    const { socket, received } = await openRaw(app.url);
    const answered = () => received().match(/HTTP\/1\.1 200 /g)?.length ?? 0;
    for (let count = 1; count <= 50; count++) {
      socket.write(`GET /contacts?limit=1 HTTP/1.1\r\nHost: a\r\n${bearer()}\r\n`);
      await eventually(() => Promise.resolve(answered() === count));
    }
    socket.destroy();
  });
});

describe('a form', () => {
  const part = (name: string, content = 'x') =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
  const disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"';

  it.each([
    ['thousands of parts', part('a').repeat(20_000)],
    ['parts without names', part('').repeat(1_000)],
    ['thousands of files', `--b\r\n${disposition}\r\n\r\nx\r\n`.repeat(10_000)],
    ['a name of 50 kB', part('n'.repeat(50_000))],
    [
      'a file name of 50 kB',
      `--b\r\nContent-Disposition: form-data; name="file"; filename="${'n'.repeat(50_000)}"\r\n\r\n`,
    ],
    ['a thousand parameters', `--b\r\n${disposition}${'; a="b"'.repeat(5_000)}\r\n\r\nx\r\n`],
    ['encoded parameters', `--b\r\n${disposition}; filename*=utf-8''${'%ff'.repeat(3_000)}\r\n\r\nx\r\n`],
    ['almost boundaries', `--b\r\n${disposition}\r\n\r\n${'\r\n--'.repeat(300_000)}`],
    ['line ends', `--b\r\n${disposition}\r\n\r\n${'\r\n'.repeat(1_000_000)}`],
    [
      'a form in a form',
      `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n${disposition}\r\n\r\n${'--c\r\n\r\n'.repeat(1_000)}`,
    ],
    ['base64', `--b\r\n${disposition}\r\nContent-Transfer-Encoding: base64\r\n\r\n${'=='.repeat(10_000)}\r\n`],
  ])('with %s is refused, or read, without effort', async (_what, parts) => {
    const form = `${parts}--b--\r\n`;
    await expectCheap(app, async () => {
      const answer = await fetch(`${app.url}/contacts/import`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${app.attacker.keys.secretKey}`,
          'Content-Type': 'multipart/form-data; boundary=b',
        },
        body: form,
      });
      await answer.arrayBuffer();
      expect([202, 400, 413, 422]).toContain(answer.status);
    });
  });
});

describe('a path', () => {
  it.each([
    ['encoded over and over', `/contacts/${'%25'.repeat(2_000)}41`],
    ['dots', `/${'../'.repeat(2_000)}etc/passwd`],
    ['slashes', `/${'/'.repeat(7_000)}`],
    ['a host in it', 'http://user:pw@[::1]:80/contacts'],
    ['semicolons', `/contacts${';a=b'.repeat(1_500)}`],
    ['thousands of parameters', `/contacts?${'a&'.repeat(3_500)}`],
    ['a parameter of many dots', `/contacts?${'a[b]'.repeat(1_500)}=1`],
    ['too long', `/contacts?search=${'a'.repeat(15_000)}`],
    ['longer than the headers may be', `/contacts?search=${'a'.repeat(100_000)}`],
  ])('with %s gets a clear answer', async (_what, path) => {
    await expectCheap(app, async () => {
      const answer = await exchangeRaw(
        app.url,
        `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${bearer()}\r\n`,
      );
      expect([200, 400, 404, 422, 431]).toContain(statusOf(answer));
    });
  });
});
