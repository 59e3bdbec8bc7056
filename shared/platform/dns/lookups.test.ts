import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from '../../../tests/support/dns-server.ts';
import { createDnsLookups } from './lookups.ts';

let server: DnsServer;
beforeAll(async () => {
  server = await createDnsServer();
});
beforeEach(() => server.clear());
afterAll(() => server.close());

const lookups = (...servers: string[]) =>
  createDnsLookups({ servers: servers.length > 0 ? servers : [server.address] });

describe('lookups', () => {
  it('tell found, absent and failed apart, follow aliases, and tell whether the answer was validated', async () => {
    const lookUp = lookups();
    server.set('a.test', { A: ['192.0.2.1'], MX: [[10, 'MX.a.test']], TXT: ['one', 'x'.repeat(600)] });
    server.set('alias.test', { CNAME: 'a.test' });
    server.behave('secure.test', { isAuthentic: true });
    server.set('secure.test', { A: ['192.0.2.2'] });
    server.behave('broken.test', { rcode: 'SERVFAIL' });
    expect(await lookUp('MX', 'a.test')).toMatchObject({
      records: [{ preference: 10, exchange: 'mx.a.test' }],
      isAuthentic: false,
    });
    expect(await lookUp('TXT', 'a.test')).toMatchObject({ records: ['one', 'x'.repeat(600)] });
    expect(await lookUp('A', 'ALIAS.test')).toMatchObject({ kind: 'found', records: ['192.0.2.1'], name: 'a.test' });
    expect(await lookUp('A', 'secure.test')).toMatchObject({ kind: 'found', isAuthentic: true });
    expect(await lookUp('AAAA', 'a.test')).toMatchObject({ kind: 'absent', isNameUnknown: false });
    expect(await lookUp('A', 'gone.test')).toMatchObject({ kind: 'absent', isNameUnknown: true });
    expect(await lookUp('A', 'broken.test')).toMatchObject({ kind: 'failed', reason: 'SERVFAIL' });
  });

  it('ask once for what is asked at the same time or was answered just now', async () => {
    const lookUp = lookups();
    server.set('a.test', { A: ['192.0.2.1'] });
    await Promise.all(Array.from({ length: 20 }, () => lookUp('A', 'a.test')));
    await lookUp('A', 'A.TEST');
    expect(server.queries()).toHaveLength(1);
  });

  it('go to the next server when one is silent or broken, and read by TCP what does not fit', async () => {
    const other = await createDnsServer();
    try {
      server.behave('a.test', { rcode: 'REFUSED' });
      other.set('a.test', { A: ['192.0.2.1'] });
      other.behave('a.test', { truncate: true });
      expect(await lookups(server.address, other.address)('A', 'a.test')).toMatchObject({ kind: 'found' });
      expect(other.queries().map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
    } finally {
      await other.close();
    }
  });

  it('ask nothing about what is no name', async () => {
    const lookUp = lookups();
    for (const name of ['', '.', 'a..b', `${'x'.repeat(64)}.test`, 'a b.test', `${'abc.'.repeat(80)}test`]) {
      expect(await lookUp('A', name)).toMatchObject({ kind: 'absent', isNameUnknown: true });
    }
    expect(server.queries()).toHaveLength(0);
  });
});
