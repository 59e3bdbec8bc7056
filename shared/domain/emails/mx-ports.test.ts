import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestAuthority, createTestCertificate } from '../../../tests/support/certificate.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { createDnsServer, type DnsServer } from '../../../tests/support/dns-server.ts';
import { query } from '../../../tests/support/rows.ts';
import { sql } from '../../database/sql.ts';
import { createWebhookClient } from '../../platform/webhook/webhook-client.ts';
import { tlsaFor } from '../../../tests/support/mail-hosts.ts';
import { createLogger } from '../../platform/logger.ts';
import {
  countSessions,
  createDomainClients,
  createPolicyFetch,
  createPolicyStore,
  createTlsCounter,
  reportedPolicy,
} from './mx-ports.ts';

const { em } = useTestDatabase();
const authority = createTestAuthority();
let dns: DnsServer;
let answer: (response: ServerResponse) => void;
const server = createServer({}, (_request, response) => answer(response));
let port: number;

beforeAll(async () => {
  dns = await createDnsServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  dns.set('mta-sts.a.test', { A: ['127.0.0.1'] });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
});

const fetchWith = (allowedNetworks = ['127.0.0.0/8']) => {
  const options = { allowedNetworks, dnsServers: [dns.address], authorities: authority.cert, timeoutMs: 1_000 };
  return createPolicyFetch(createWebhookClient(options), port);
};
const good = () => server.setSecureContext(authority.issue('mta-sts.a.test'));

describe('the fetch of a policy', () => {
  it('reads plain text', async () => {
    good();
    answer = (response) => response.setHeader('content-type', 'text/plain; charset=utf-8').end('version: STSv1\n');
    expect(await fetchWith()('a.test')).toEqual({ text: 'version: STSv1\n' });
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['a redirect', (response) => response.writeHead(302, { location: '/other' }).end(), 'status 302'],
    ['another status', (response) => response.writeHead(404).end(), 'status 404'],
    ['another type', (response) => response.setHeader('content-type', 'text/html').end('x'), 'not text/plain'],
    ['too much', (response) => response.setHeader('content-type', 'text/plain').end('x'.repeat(70_000)), 'too long'],
    ['no end', (response) => void response.setHeader('content-type', 'text/plain').write('x'), 'no answer within'],
  ])('refuses %s', async (_name, respond, words) => {
    good();
    answer = respond;
    const fetched = await fetchWith()('a.test');
    expect(fetched).toMatchObject({ fault: 'sts-policy-fetch-error', reason: expect.stringContaining(words) });
  });

  it('refuses a certificate that the web does not trust, and a host that is not public', async () => {
    answer = (response) => response.setHeader('content-type', 'text/plain').end('x');
    for (const certificate of [
      createTestCertificate('mta-sts.a.test'),
      authority.issue('b.test'),
      authority.issue('mta-sts.a.test', [-9, -2]),
    ]) {
      server.setSecureContext(certificate);
      expect(await fetchWith()('a.test')).toMatchObject({ fault: 'sts-webpki-invalid' });
    }
    good();
    expect(await fetchWith([])('a.test')).toMatchObject({ fault: 'sts-policy-fetch-error' });
  });
});

it('reaches the networks that mx:// allows, for policies as for reports', async () => {
  const listener = createHttpServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  const config = { DNS_SERVERS: [dns.address], DNSSEC_SERVERS: [] };
  const ask = (allow: string) =>
    createDomainClients({ ...config, SMTP_URL: [`mx://?helo=mail.us.test${allow}`] }).client.send({
      url,
      method: 'GET',
      headers: {},
      body: null,
      id: '',
      secrets: [],
    });
  await expect(ask('')).rejects.toThrow('not on the public internet');
  expect(await ask('&allow=127.0.0.0/8')).toMatchObject({ body: 'here' });
  listener.close();
});

it('keeps the policies of domains until they expire', async () => {
  const store = createPolicyStore(em);
  const policy = (id: string, seconds: number) => ({
    id,
    mode: 'enforce' as const,
    mx: ['mx.a.test'],
    fetchedAt: new Date(),
    expiresAt: new Date(Date.now() + seconds * 1_000),
  });
  await store.save('a.test', policy('one', 60));
  const newer = policy('two', 60);
  await store.save('a.test', newer);
  await store.save('b.test', policy('old', -1));
  expect(await store.find('a.test')).toEqual(newer);
  expect(await store.find('b.test')).toBeUndefined();
});

it('adds up sessions by what they had in common', async () => {
  const detail = { policy: reportedPolicy({ domain: 'a.test' }), type: 'success' as const, host: 'mx.a.test' };
  const other = { ...detail, type: 'certificate-expired' as const };
  const row = (each: typeof detail | typeof other) => ({ day: '2026-11-25', domain: 'a.test', detail: each });
  await countSessions(em(), [row(detail), row(other), row(detail)]);
  await countSessions(em(), [row(detail)]);
  const rows = await query(
    em(),
    sql`select detail, sessions from tls_result where domain = 'a.test' order by sessions`,
  );
  expect(rows).toEqual([
    { detail: other, sessions: 1 },
    { detail, sessions: 3 },
  ]);
});

it('stores the latest sessions when the pool is closed', async () => {
  const { noteTls, flushTls } = createTlsCounter(em, createLogger({ level: 'silent', name: 'test' }));
  noteTls({ domain: 'closed.test' }, { type: 'success', host: 'mx.closed.test' }, '');
  await flushTls();
  expect(await query(em(), sql`select sessions from tls_result where domain = 'closed.test'`)).toEqual([
    { sessions: 1 },
  ]);
});

it('names the policy that held as a report does', () => {
  const dane = { name: 'mx.a.test', records: [tlsaFor(authority, 2, 0)] };
  expect(reportedPolicy({ domain: 'a.test', dane })).toMatchObject({ type: 'tlsa', hosts: ['mx.a.test'] });
  expect(reportedPolicy({ domain: 'a.test', dane }).strings[0]).toMatch(/^2 0 1 [0-9a-f]{64}$/);
  const [fetchedAt, expiresAt] = [new Date(0), new Date(60_000)];
  const sts = { id: 'x', mode: 'testing' as const, mx: ['*.a.test'], fetchedAt, expiresAt };
  expect(reportedPolicy({ domain: 'a.test', sts }).strings).toEqual([
    'version: STSv1',
    'mode: testing',
    'mx: *.a.test',
    'max_age: 60',
  ]);
});
