import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectCheap, startHostileApi, TURN_MAX_MS, type HostileApi } from './support/hostile-api.ts';
import { openRaw, sendRaw, statusOf } from './support/raw-http.ts';

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi({}, { DOCS: 'true' });
});
afterAll(() => app.stop());

const json = { 'content-type': 'application/json' };

function post(path: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<number | string> {
  const request = { method: 'POST', headers: { ...json, ...headers }, body: new Uint8Array(Buffer.from(body)) };
  return fetch(`${app.url}${path}`, request).then(
    async (response) => {
      await response.text();
      return response.status;
    },
    // The connection may be closed while the rest of the body is still being sent.
    () => 'closed',
  );
}

/** 59 MB, as much as /v1/send accepts. */
const arrays = Buffer.from(`[${'[],'.repeat(19_700_000)}0]`);
const digits = Buffer.from(`[${'0,'.repeat(29_500_000)}0]`);

describe('a guest', () => {
  it.each([
    ['gzip', gzipSync(arrays)],
    ['gzip', gzipSync(digits)],
    ['br', brotliCompressSync(digits, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ['deflate', Buffer.from('not compressed at all')],
    ['br', Buffer.alloc(100_000, 0xff)],
  ])('gets 401 for a compressed body, which is not decompressed: %s', async (coding, body) => {
    await expectCheap(app, async () => {
      const statuses = await Promise.all(
        Array.from({ length: 10 }, () => post('/v1/send', body, { 'content-encoding': coding })),
      );
      expect(new Set(statuses)).toEqual(new Set([401]));
    });
  });

  it('gets 401 for a large plain body, which is not kept in memory', async () => {
    await expectCheap(app, async () => {
      const statuses = await Promise.all([
        post('/v1/send', arrays),
        post('/v1/send', digits),
        post('/contacts', arrays),
      ]);
      for (const status of statuses) expect([401, 'closed']).toContain(status);
    });
  });

  it('gets 400 for a small body that is not JSON, and 401 for one that is', async () => {
    await expectCheap(app, async () => {
      expect(await post('/v1/send', `[${'[],'.repeat(10_000)}`)).toBe(400);
      expect(await post('/v1/send', `[${'[],'.repeat(10_000)}0]`)).toBe(401);
      expect(await post('/v1/send', `[${'[],'.repeat(21_000)}0]`)).toBe(401);
      expect(await post('/v1/send', '['.repeat(60_000))).toBe(400);
    });
  });

  it('gets 400, 401 or 404 for a malformed request, in the envelope of the API', async () => {
    const requests = [
      'GET\r\n\r\n',
      '\0\0\0\0\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      'GET /health HTTP/1.1\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: a b\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
      'POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
      'POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      'GET /contacts/%ff%fe HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /%E0%A4%A/x HTTP/1.1\r\nHost: a\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ];
    await expectCheap(app, async () => {
      for (const request of requests) {
        const answer = await sendRaw(app.url, request);
        expect([request, statusOf(answer)]).toEqual([request, expect.any(Number)]);
        expect([400, 401, 404]).toContain(statusOf(answer));
        expect(answer).toMatch(/x-request-id: \S+/i);
        expect(answer).toContain('"success":false');
      }
    });
  });

  it('gets 400 for two keys, whatever they are', async () => {
    const [one, other] = ['a', 'b'].map((digit) => `Authorization: Bearer sk_${digit.repeat(64)}\r\n`);
    for (const keys of [`${one}${one}`, `${one}${other}`]) {
      const answer = await sendRaw(app.url, `GET /contacts HTTP/1.1\r\nHost: a\r\n${keys}\r\n`);
      expect([statusOf(answer), answer]).toEqual([400, expect.stringContaining('only once')]);
    }
  });

  it('gets 431 for headers without end', async () => {
    const answer = await sendRaw(app.url, `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`);
    expect(statusOf(answer)).toBe(431);
    expect(answer).toContain('HEADERS_TOO_LARGE');
  });

  it.each(['CONNECT example.com:443', 'TRACE /health', 'GET /health', 'QUERY /contacts', 'OPTIONS *'])(
    'harms nobody with %s and an upgrade or an odd expectation',
    async (line) => {
      await app.attack(async () => {
        for (const extra of [
          'Upgrade: websocket\r\nConnection: Upgrade',
          'Expect: the-unexpected',
          'Expect: 100-continue',
        ]) {
          await sendRaw(app.url, `${line} HTTP/1.1\r\nHost: a\r\n${extra}\r\n\r\n`);
        }
      });
    },
  );

  it('gets no 100 Continue for a body that nobody will read', async () => {
    const { socket, ended } = await openRaw(app.url);
    socket.write(
      'POST /v1/send HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n' +
        'Expect: 100-continue\r\n\r\n',
    );
    const answer = await ended;
    expect(answer).toContain('401 Unauthorized');
    expect(answer).not.toContain('100 Continue');
  });

  it('cannot send thousands of requests ahead on one connection', async () => {
    // Node parses all requests in the 64 kB that it has read; beyond the first few, only that parsing costs time.
    const requests = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20_000);
    await expectCheap(app, () => sendRaw(app.url, requests), 2 * TURN_MAX_MS);
  });

  it('harms nobody by disconnecting in any phase of a request', async () => {
    const phases = [
      '',
      'POST /contacts HT',
      'POST /contacts HTTP/1.1\r\nHost: a\r\n',
      'POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":',
      'GET /contacts HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /docs/search.json HTTP/1.1\r\nHost: a\r\n\r\n',
    ];
    await expectCheap(app, async () => {
      for (const phase of phases) {
        const { socket, ended } = await openRaw(app.url);
        socket.write(phase);
        await new Promise((resolve) => setImmediate(resolve));
        socket.resetAndDestroy();
        await ended;
      }
    });
  });

  it.concurrent.each([
    ['says nothing', ''],
    ['does not end its headers', 'GET /health HTTP/1.1\r\nHost: a\r\n'],
    [
      'does not end its body',
      'POST /contacts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
    ['is idle after an answer', 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'never sends the body it announced',
      'POST /v1/send HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n{',
    ],
  ])('that %s is disconnected within seconds', async (_what, data) => {
    const { socket, ended } = await openRaw(app.url);
    socket.write(data);
    const startedAt = performance.now();
    await ended;
    const durationMs = performance.now() - startedAt;
    expect(durationMs).toBeGreaterThan(1_000);
    expect(durationMs).toBeLessThan(40_000);
  });
});
