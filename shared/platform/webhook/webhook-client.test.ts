import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testConfig } from '../../../tests/support/config.ts';
import { createTestCertificate } from '../../../tests/support/certificate.ts';
import { createDnsServer, type DnsServer } from '../../../tests/support/dns-server.ts';
import { signatureHeaders } from './signature.ts';
import {
  createWebhookClient,
  webhookClientOptions,
  WebhookRefusedError,
  WebhookUnreachableError,
  type WebhookRequest,
} from './webhook-client.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;
let handler: Handler;
const seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    handler(request, response, body);
  });
});

let port: number;
let dns: DnsServer;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  dns = await createDnsServer();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
});
beforeEach(() => {
  seen.length = 0;
  handler = (_request, response) => response.end('ok');
});

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const request = (url: string, fields: Partial<WebhookRequest> = {}): WebhookRequest => ({
  url,
  method: 'POST',
  headers: { authorization: 'Bearer x', 'x-other': '1' },
  body: '{"a":1}',
  id: 'msg_1',
  secrets: [SECRET],
  ...fields,
});
const open = (timeoutMs = 1_500) =>
  createWebhookClient({ allowedNetworks: ['127.0.0.0/8', '::1'], dnsServers: [], timeoutMs });
const guarded = () => createWebhookClient({ allowedNetworks: [], dnsServers: [dns.address], timeoutMs: 1_500 });

describe('a signature', () => {
  it('matches the example of the Standard Webhooks specification', () => {
    const headers = signatureHeaders([SECRET], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}');
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});

describe('a webhook', () => {
  it('returns the answer of the server', async () => {
    handler = (_request, response) =>
      response.writeHead(418, { 'content-type': 'text/x', 'retry-after': '7' }).end('té\0apot');
    const answer = await open().send(request(`http://localhost:${port}/a?b=1`));
    expect(answer).toEqual({
      statusCode: 418,
      url: `http://localhost:${port}/a?b=1`,
      contentType: 'text/x',
      body: 'téapot',
      isTruncated: false,
      retryAfterMs: 7_000,
    });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/a?b=1', body: '{"a":1}' });
    expect(seen[0]!.headers).toMatchObject({ host: `localhost:${port}`, 'webhook-id': 'msg_1', 'x-other': '1' });
  });

  it('keeps 64 KiB of the answer', async () => {
    handler = (_request, response) => response.end('x'.repeat(200_000));
    const answer = await open().send(request(`http://127.0.0.1:${port}`));
    expect([answer.body.length, answer.isTruncated]).toEqual([65_536, true]);
  });

  it('is given up when the answer does not come, or does not end, in time', async () => {
    for (const slow of [
      () => undefined,
      (_request: IncomingMessage, response: ServerResponse) => void response.write('begins'),
    ]) {
      handler = slow;
      const error = await open(200)
        .send(request(`http://127.0.0.1:${port}`))
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WebhookUnreachableError);
      expect((error as Error).message).toBe('no answer within 0.2 seconds');
    }
  });

  it('is given up when interim answers come without end', async () => {
    let interim = 10;
    handler = (_request, response) => {
      response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(interim));
      response.end('ok');
    };
    const url = `http://127.0.0.1:${port}/`;
    expect(await open().send(request(url))).toMatchObject({ statusCode: 200, body: 'ok' });
    interim = 1_000;
    await expect(open().send(request(url))).rejects.toThrow(WebhookUnreachableError);
  });

  it('fails as unreachable when no server answers', async () => {
    await expect(open().send(request('http://127.0.0.1:9'))).rejects.toThrow(WebhookUnreachableError);
    await expect(open().send(request('http://nowhere.invalid'))).rejects.toThrow(WebhookUnreachableError);
  });

  it('follows five redirects with the method that each asks for, and not a sixth', async () => {
    const to = (path: string, status: number) => ({ path, status });
    const chain = [to('/1', 307), to('/2', 308), to('/3', 302), to('/4', 301), to('/5', 303)];
    handler = (incoming, response) => {
      const next = chain[Number(incoming.url?.slice(1) || 0)];
      if (next) response.writeHead(next.status, { location: next.path }).end();
      else response.end('done');
    };
    expect((await open().send(request(`http://127.0.0.1:${port}/`))).body).toBe('done');
    expect(seen.map((call) => `${call.method} ${call.url} ${call.body.length}`)).toEqual([
      'POST / 7',
      'POST /1 7',
      'POST /2 7',
      'GET /3 0',
      'GET /4 0',
      'GET /5 0',
    ]);
    handler = (_request, response) => response.writeHead(302, { location: '/again' }).end();
    await expect(open().send(request(`http://127.0.0.1:${port}/`))).rejects.toThrow('more than 5 redirects');
  });

  it('sends neither headers nor body nor signature to another origin', async () => {
    handler = (incoming, response) =>
      incoming.url === '/' ? response.writeHead(302, { location: `http://localhost:${port}/b` }).end() : response.end();
    await open().send(request(`http://127.0.0.1:${port}/`));
    const [, call] = seen;
    expect([call!.method, call!.url, call!.body]).toEqual(['GET', '/b', '']);
    const headers = Object.keys(call!.headers).filter((name) => !['host', 'connection'].includes(name));
    expect(headers.sort()).toEqual(['accept', 'user-agent']);
  });

  it('sends neither headers nor signature after a redirect back from another origin', async () => {
    handler = (incoming, response) => {
      const next: Record<string, string> = { '/': `http://localhost:${port}/b`, '/b': `http://127.0.0.1:${port}/c` };
      const location = next[incoming.url ?? ''];
      if (location === undefined) response.end();
      else response.writeHead(302, { location }).end();
    };
    await open().send(request(`http://127.0.0.1:${port}/`));
    expect(seen.map((call) => 'x-other' in call.headers)).toEqual([true, false, false]);
    expect(seen.map((call) => 'webhook-signature' in call.headers)).toEqual([true, false, false]);
  });

  it.each([307, 308])('is not sent to another origin after a %i, which keeps method and body', async (status) => {
    handler = (_request, response) => response.writeHead(status, { location: `http://localhost:${port}/b` }).end();
    const sent = open().send(request(`http://127.0.0.1:${port}/`));
    await expect(sent).rejects.toThrow('redirects to another origin');
    expect(seen).toHaveLength(1);
  });

  it('does not follow a redirect from https to http', async () => {
    const certificate = createTestCertificate('localhost');
    const secure = createSecureServer(certificate, (_request, response) =>
      response.writeHead(302, { location: `http://localhost:${port}/b` }).end(),
    );
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const client = createWebhookClient({
      allowedNetworks: ['127.0.0.0/8', '::1'],
      dnsServers: [],
      timeoutMs: 1_500,
      authorities: certificate.cert,
    });
    const sent = client.send(request(`https://localhost:${(secure.address() as AddressInfo).port}/`));
    await expect(sent).rejects.toThrow('from https to http');
    expect(seen).toHaveLength(0);
    secure.close();
  });

  it('names the reason of a failure and no part of the URL', async () => {
    const failing = [
      'http://127.0.0.1:9/?email=ada@mail.test',
      'http://nowhere.invalid/ada@mail.test',
      'ada@mail.test',
      'ftp://ada@mail.test/',
      'http://ada%40mail.test:pw@localhost/',
    ];
    for (const url of failing) {
      const error = await open()
        .send(request(url))
        .catch((reason: unknown) => reason);
      expect((error as Error).message).not.toMatch(/ada|mail\.test|nowhere/);
      expect((error as Error).message).not.toBe('');
    }
  });
});

describe('the guard', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.1:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:PORT/',
  ])('refuses %s', async (url) => {
    const sent = guarded().send(request(url.replace('PORT', String(port))));
    await expect(sent).rejects.toThrow(WebhookRefusedError);
    expect(seen).toHaveLength(0);
  });

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'http://user:pw@example.com/', 'nonsense'])(
    'refuses %s',
    async (url) => {
      await expect(guarded().send(request(url))).rejects.toThrow(WebhookRefusedError);
    },
  );

  it('refuses a name when any of its addresses is not public', async () => {
    dns.set('mixed.test', { A: ['93.184.216.34', '10.0.0.1'] });
    dns.set('inner.test', { AAAA: ['fd00::1'] });
    for (const name of ['mixed.test', 'inner.test']) {
      await expect(guarded().send(request(`http://${name}:${port}/`))).rejects.toThrow(/not on the public internet/);
    }
  });

  it.each([
    'http://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/',
    'http://100.100.100.200/',
    'http://[fe80::1]/',
  ])('refuses %s, whatever networks are allowed', async (url) => {
    const client = createWebhookClient({ allowedNetworks: ['0.0.0.0/0', '::/0'], dnsServers: [], timeoutMs: 1_500 });
    await expect(client.send(request(url))).rejects.toThrow(WebhookRefusedError);
  });

  it('calls a network that is allowed, and no other one', async () => {
    const client = createWebhookClient({ allowedNetworks: ['127.0.0.1'], dnsServers: [], timeoutMs: 1_500 });
    await expect(client.send(request(`http://[::ffff:127.0.0.1]:${port}/`))).resolves.toMatchObject({
      statusCode: 200,
    });
    for (const url of ['http://127.0.0.2/', 'http://10.0.0.1/', 'http://[::1]/']) {
      await expect(client.send(request(url))).rejects.toThrow(/not on the public internet/);
    }
  });

  it('calls no loopback address when all private networks are allowed', async () => {
    const options = webhookClientOptions(testConfig({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: true }));
    const client = createWebhookClient(options);
    await expect(client.send(request(`http://127.0.0.1:${port}/`))).rejects.toThrow(/not on the public internet/);
    await expect(client.check('http://10.1.2.3/', true)).resolves.toBeUndefined();
  });

  it('takes events to the public internet by https only, unless the operator allows http', async () => {
    const client = guarded();
    for (const url of ['http://93.184.215.14/', 'http://unknown.test/']) {
      await expect(client.check(url, true)).rejects.toThrow('it must begin with https');
      await expect(client.check(url, false)).resolves.toBeUndefined();
    }
    await expect(client.check('https://93.184.215.14/', true)).resolves.toBeUndefined();
  });

  it('looks a name up again after a look-up that failed', async () => {
    const session = createWebhookClient({
      allowedNetworks: ['127.0.0.1'],
      dnsServers: [dns.address],
      timeoutMs: 1_500,
      lookUp: () => Promise.reject(new Error('ENOTFOUND')),
    }).open();
    await expect(session.send(request(`http://later.test:${port}/`))).rejects.toThrow(WebhookUnreachableError);
    dns.set('later.test', { A: ['127.0.0.1'] });
    await expect(session.send(request(`http://later.test:${port}/`))).resolves.toMatchObject({ statusCode: 200 });
    await session.close();
  });

  it('resolves a name once and connects to the address found', async () => {
    dns.set('pinned.test', { A: ['127.0.0.1'] });
    const client = createWebhookClient({
      allowedNetworks: ['127.0.0.0/8', '::1'],
      dnsServers: [dns.address],
      timeoutMs: 1_500,
    });
    await client.send(request(`http://pinned.test:${port}/`));
    expect(seen[0]!.headers.host).toBe(`pinned.test:${port}`);
    expect(dns.queries().filter((asked) => asked.name === 'pinned.test' && asked.type === 'A')).toHaveLength(1);
  });

  it('keeps one thread at most with names that the system looks for without end', async () => {
    dns.set('known.test', { A: ['127.0.0.1'] });
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const looked: string[] = [];
    const client = createWebhookClient({
      allowedNetworks: ['127.0.0.0/8', '::1'],
      dnsServers: [dns.address],
      timeoutMs: 1_500,
      async lookUp(host) {
        looked.push(host);
        await ended;
        return [];
      },
    });
    const names = Array.from({ length: 20 }, (_, index) => `http://unknown-${index}.test:${port}/`);
    const lost = Promise.allSettled(names.map((url) => client.send(request(url))));
    await expect(client.send(request(`http://known.test:${port}/`))).resolves.toMatchObject({ statusCode: 200 });
    await lost;
    end();
    await expect(client.send(request(`http://known:${port}/`))).rejects.toThrow(WebhookUnreachableError);
    expect(looked).toEqual([expect.stringMatching(/^unknown-/), 'known']);
  });
});
