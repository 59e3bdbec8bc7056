import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectCheap, startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { openRaw, exchangeRaw, statusOf } from './support/raw-http.ts';

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi();
});
afterAll(() => app.stop());

interface Sent {
  status: number;
  length: number;
  body: string;
}

async function post(path: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<Sent> {
  const { secretKey, publicKey } = app.attacker.keys;
  const key = path === '/v1/track' ? publicKey : secretKey;
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });
  const text = await response.text();
  return { status: response.status, length: text.length, body: text };
}

const megabyte = 1024 * 1024;

/** A condition of 50 levels, each with 20 groups whose filter has no field. */
function faultyCondition(): object {
  let condition: object | undefined;
  for (let level = 0; level < 50; level++) {
    const groups: object[] = Array.from({ length: 19 }, () => ({ filters: [{}] }));
    condition = { logic: 'X', groups: [...groups, { filters: [{}], conditions: condition }] };
  }
  return condition ?? {};
}

const bomb = `[${'[],'.repeat(19_700_000)}0]`;

describe('a caller with a key', () => {
  it.each<[string, string, () => Buffer | string, Record<string, string>, number[]]>([
    ['59 MB of arrays', '/v1/send', () => bomb, {}, [422]],
    ['59 MB of arrays as gzip', '/v1/send', () => gzipSync(bomb), { 'content-encoding': 'gzip' }, [413, 422]],
    [
      '59 MB of one letter as brotli',
      '/v1/send',
      () =>
        brotliCompressSync(`{"body":"${'a'.repeat(58 * megabyte)}"}`, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
        }),
      { 'content-encoding': 'br' },
      [413],
    ],
    [
      'half a gzip',
      '/contacts',
      () => gzipSync('{"email":"a@example.com"}').subarray(0, 20),
      { 'content-encoding': 'gzip' },
      [400],
    ],
    [
      'a gzip with other octets after its end',
      '/contacts',
      () => Buffer.concat([gzipSync('{}'), randomBytes(1_000)]),
      { 'content-encoding': 'gzip' },
      [400],
    ],
    [
      'half a brotli',
      '/contacts',
      () => brotliCompressSync('{"email":"a@example.com"}').subarray(0, 10),
      { 'content-encoding': 'br' },
      [400],
    ],
    [
      '7,000 objects with a key of their own each',
      '/contacts',
      () => `{"email":"a@example.com","data":{"a":[${Array.from({ length: 7_000 }, (_, n) => `{"k${n}":0}`).join()}]}}`,
      {},
      [422],
    ],
    [
      '14,000 keys of custom data',
      '/contacts',
      () => `{"email":"a@example.com","data":{${Array.from({ length: 14_000 }, (_, n) => `"k${n}":0`).join()}}}`,
      {},
      [422],
    ],
    [
      '20,000 recipients',
      '/v1/send',
      () => JSON.stringify({ to: Array(20_000).fill(7), subject: 's', body: 'b', from: 'a@example.com' }),
      {},
      [422],
    ],
    [
      '20,000 addresses that are none',
      '/segments/01890000-0000-7000-8000-000000000000/members',
      () => JSON.stringify({ emails: Array(20_000).fill('x') }),
      {},
      [422],
    ],
    [
      '20,000 ids that are none',
      '/contacts/bulk-delete',
      () => JSON.stringify({ contactIds: Array(20_000).fill('x') }),
      {},
      [422],
    ],
    ['an address of 4 MB', '/contacts', () => JSON.stringify({ email: 'a.'.repeat(2 * megabyte) }), {}, [422]],
    [
      'an event name of 60 kB',
      '/v1/track',
      () => JSON.stringify({ email: 'a@example.com', event: ' '.repeat(60_000) }),
      {},
      [422],
    ],
    [
      'a date of 4 MB',
      '/campaigns/01890000-0000-7000-8000-000000000000/send',
      () => JSON.stringify({ scheduledFor: '1'.repeat(4 * megabyte) }),
      {},
      [400, 404],
    ],
    [
      'a date of 4 MB that is none',
      '/campaigns/01890000-0000-7000-8000-000000000000/send',
      () => JSON.stringify({ scheduledFor: 'a@'.repeat(2 * megabyte) }),
      {},
      [400],
    ],
    [
      'a thousand faults in 50 levels of a condition',
      '/segments',
      () => JSON.stringify({ name: 'S', condition: faultyCondition() }),
      {},
      [422],
    ],
    [
      '4.5 MB of keys',
      '/contacts/bulk-delete',
      () => `{${Array.from({ length: 14_000 }, (_, n) => `"${n}${'k'.repeat(300)}":"v"`).join()}}`,
      {},
      [413],
    ],
    [
      'more than 64 kB with the public key',
      '/v1/track',
      () => JSON.stringify({ email: 'a@example.com', event: 'e', data: { a: 'x'.repeat(64 * 1024) } }),
      {},
      [413],
    ],
  ])('with %s is refused without effort', async (_what, path, body, headers, statuses) => {
    const data = body();
    await expectCheap(app, async () => {
      const reply = await post(path, data, headers);
      expect(statuses).toContain(reply.status);
      expect(reply.length).toBeLessThan(64 * 1024);
    });
  });

  it('can send 10 MB of attachments without delaying others', async () => {
    const attachment = (n: number) => ({
      filename: `${n}.bin`,
      contentType: 'application/octet-stream',
      content: randomBytes(megabyte - 1).toString('base64'),
    });
    const body = {
      to: 'ada@example.com',
      subject: 'Files',
      body: '<p>Files</p>',
      from: 'shop@example.com',
      attachments: Array.from({ length: 10 }, (_, n) => attachment(n)),
    };
    await post('/v1/send', JSON.stringify({ ...body, attachments: [] }));
    await expectCheap(app, async () => {
      expect((await post('/v1/send', JSON.stringify(body))).status).toBe(200);
    });
  });

  it.each([
    ['--x', '39 octets of a form'],
    ['--x\r\n\r\n\r\n--x\r\n\r\n\r\n--x\r\n', 'parts without headers'],
    ['--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nemail\r\n', 'a file without an end'],
    [
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nbad\r\n\r\n\r\n--x\r\nbad\r\n\r\n--x--',
      'bad headers',
    ],
    ['--x\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\na\r\n', 'another file without an end'],
    ['--y\r\n', 'another boundary'],
    [`--x\r\n${'a: b\r\n'.repeat(50_000)}`, 'headers without end'],
  ])('with a broken form is refused without effort: %j', async (form) => {
    await expectCheap(app, async () => {
      const reply = await post('/contacts/import', form, { 'content-type': 'multipart/form-data; boundary=x' });
      expect([400, 413, 422]).toContain(reply.status);
    });
  });

  it('that disconnects in the middle of a form or a compressed body harms nobody', async () => {
    const head = (type: string, extra = '') =>
      `POST /contacts/import HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.attacker.keys.secretKey}\r\n` +
      `Content-Type: ${type}\r\nContent-Length: 1000\r\n${extra}\r\n`;
    const form = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nemail\r\n';
    await expectCheap(app, async () => {
      for (const request of [
        head('multipart/form-data; boundary=x') + form,
        head('multipart/form-data; boundary=x'),
        head('multipart/form-data; boundary=x', 'Content-Encoding: gzip\r\n') + form,
      ]) {
        const { socket, ended } = await openRaw(app.url);
        socket.write(request);
        await app.neighbour.api('GET', '/contacts?limit=1');
        socket.resetAndDestroy();
        await ended;
      }
    });
  });

  it('gets an error of less than 4 kB, however long its values are', async () => {
    const long = 'x'.repeat(30_000);
    const requests: [string, unknown][] = [
      ['/contacts', { email: 'a@example.com', data: { [long]: { [long]: '\0' } } }],
      [
        '/segments',
        {
          name: 'S',
          type: 'DYNAMIC',
          condition: { logic: 'AND', groups: [{ filters: [{ field: long, operator: long }] }] },
        },
      ],
      [
        '/templates',
        { name: long, subject: `{{#if ${long}}}`, body: `{{#each ${long}}}`, from: `${long}@example.com`, type: long },
      ],
      [
        '/v1/send',
        { to: long, subject: `${long}\n`, body: `{{#if ${long}}}`, headers: { [long]: long }, template: long },
      ],
      ['/workflows', { name: 'W', eventName: long, triggerConfig: { eventName: long } }],
      ['/domains', { domain: `${long}.example.com` }],
    ];
    for (const [path, body] of requests) {
      const reply = await post(path, JSON.stringify(body));
      expect([path, reply.status]).toEqual([path, reply.status >= 400 && reply.status < 500 ? reply.status : 'a 4xx']);
      expect(reply.length).toBeLessThan(4_096);
    }
  });

  it('gets a clear answer to unusual parameters', async () => {
    const { secretKey } = app.attacker.keys;
    const queries = [
      'limit=1&limit=2',
      'limit[]=1',
      'cursor=a&cursor=b',
      'search=%00',
      'search=%ff',
      'sort=a&sort=b',
      'dir[x]=1',
      '__proto__=1',
      'constructor=1',
      'limit=1e9',
      'limit=-1',
      'limit=NaN',
      'page=99999999999999999999',
      'pageSize=0x10',
      `cursor=${'x'.repeat(4_000)}`,
      `search=${'%F0%9F%98%80'.repeat(500)}`,
      'search=%ED%A0%80',
      'limit=%',
      'subscribed=maybe',
      `${'a=1&'.repeat(1_500)}b=2`,
    ];
    for (const path of [
      '/contacts',
      '/templates',
      '/campaigns',
      '/events',
      '/activity',
      '/workflows',
      '/events/stats',
    ]) {
      for (const query of queries) {
        const answer = await exchangeRaw(
          app.url,
          `GET ${path}?${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secretKey}\r\nConnection: close\r\n\r\n`,
        );
        expect([path, query, [200, 400, 422].includes(statusOf(answer) ?? 0)]).toEqual([path, query, true]);
      }
    }
  });
});
