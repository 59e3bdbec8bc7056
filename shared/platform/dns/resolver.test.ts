import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from '../../../tests/support/dns-server.ts';
import { createDnsResolver, type DnsResolver } from './resolver.ts';

const TIMEOUT_MS = 400;

let server: DnsServer;
let resolver: DnsResolver;
beforeAll(async () => {
  server = await createDnsServer();
  resolver = createDnsResolver({ servers: [server.address], timeoutMs: TIMEOUT_MS });
});
beforeEach(() => server.clear());
afterAll(() => server.close());

describe('a DNS resolver', () => {
  it('joins the strings of a TXT record that is longer than one string holds', async () => {
    const key = `v=DKIM1; p=${'A'.repeat(392)}`;
    server.set('s._domainkey.example.com', { TXT: [key, 'other'] });
    expect(await resolver.txt('s._domainkey.example.com')).toEqual({ kind: 'found', records: [key, 'other'] });
  });

  it('follows CNAME, and asks over TCP when an answer does not fit', async () => {
    server.set('alias.example.com', { CNAME: 'target.example.net' });
    server.set('target.example.net', { TXT: ['x'.repeat(2_000)] });
    server.behave('alias.example.com', { truncate: true });
    expect(await resolver.txt('alias.example.com')).toEqual({ kind: 'found', records: ['x'.repeat(2_000)] });
    expect(server.queries().map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
  });

  it('distinguishes a name that does not exist from a name without such a record', async () => {
    server.set('example.com', { NS: ['ns.example.net'] });
    expect(await resolver.mx('nowhere.example')).toEqual({ kind: 'absent', isNameUnknown: true });
    expect(await resolver.mx('example.com')).toEqual({ kind: 'absent', isNameUnknown: false });
    expect(await resolver.ns('example.com')).toEqual({ kind: 'found', records: ['ns.example.net'] });
  });

  it('finds addresses of either kind, and an empty exchange in a null MX', async () => {
    server.set('six.example', { AAAA: ['2001:db8::1'] });
    server.set('four.example', { A: ['192.0.2.1'], MX: [[0, '']] });
    expect(await resolver.addresses('six.example')).toEqual({ kind: 'found', records: ['2001:db8::1'] });
    expect(await resolver.addresses('four.example')).toEqual({ kind: 'found', records: ['192.0.2.1'] });
    expect(await resolver.mx('four.example')).toMatchObject({ records: [{ priority: 0, exchange: '' }] });
  });

  it.each([['SERVFAIL'], ['REFUSED']] as const)('treats %s as no answer', async (rcode) => {
    server.behave('broken.example', { rcode });
    expect(await resolver.txt('broken.example')).toMatchObject({ kind: 'failed' });
  });

  it('gives up in time when a server is silent, and answers for other names meanwhile', async () => {
    server.behave('silent.example', { drop: true });
    server.set('quick.example', { MX: [[10, 'mx.quick.example']] });
    const startedAt = performance.now();
    let isSilentDecided = false;
    const silent = resolver.mx('silent.example').finally(() => (isSilentDecided = true));
    expect(await resolver.mx('quick.example')).toMatchObject({ kind: 'found' });
    expect(isSilentDecided).toBe(false);
    expect(await silent).toEqual({ kind: 'failed', reason: 'ETIMEOUT' });
    const durationMs = performance.now() - startedAt;
    expect(durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 10);
    expect(durationMs).toBeLessThan(10_000);
  });

  it('keeps no answers: a changed record is seen at once', async () => {
    server.set('changing.example', { TXT: ['old'] });
    await resolver.txt('changing.example');
    server.set('changing.example', { TXT: ['new'] });
    expect(await resolver.txt('changing.example')).toEqual({ kind: 'found', records: ['new'] });
  });

  it('does not throw for a name that no packet can carry', async () => {
    expect((await resolver.txt(`${'a'.repeat(70)}.example`)).kind).not.toBe('found');
    expect((await resolver.txt('')).kind).not.toBe('found');
  });

  it('answers `failed` when no server listens', async () => {
    const lost = createDnsResolver({ servers: ['127.0.0.1:1'], timeoutMs: 300 });
    expect(await lost.mx('example.com')).toMatchObject({ kind: 'failed' });
  });
});
