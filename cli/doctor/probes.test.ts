import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createOrm } from '../../shared/domain/schema/orm.ts';
import { createDnsResolver, type DnsResolver } from '../../shared/platform/dns/resolver.ts';
import { createTestDatabase } from '../../tests/support/database.ts';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { judgeClock, sessionFindings } from './database-probe.ts';
import { findingsAbout } from './finding.ts';
import { judgeSpf } from './inbound-probe.ts';
import { nameFinding } from './relay-probe.ts';
import { runProbes } from './run-probes.ts';

let dns: DnsServer;
let resolver: DnsResolver;
beforeAll(async () => {
  dns = await createDnsServer();
  resolver = createDnsResolver({ servers: [dns.address], timeoutMs: 400 });
});
afterAll(() => dns.close());

it('a public address fails without a name that leads back to it', async () => {
  dns.set('34.216.184.93.in-addr.arpa', { PTR: ['mail.example.net'] });
  dns.set('mail.example.net', { A: ['93.184.216.34'] });
  dns.set('35.216.184.93.in-addr.arpa', { PTR: ['mail.example.net'] });
  const levelOf = async (address: string) => (await nameFinding(resolver, 'relay', address)).level;
  expect(await levelOf('93.184.216.34')).toBe('ok');
  expect(await levelOf('93.184.216.35')).toBe('fail');
  expect(await levelOf('93.184.216.36')).toBe('fail');
  expect(await levelOf('10.0.0.1')).toBe('ok');
  dns.set('4.3.2.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.2.ip6.arpa', { PTR: ['six.example.net'] });
  dns.set('six.example.net', { AAAA: ['2600::1234'] });
  expect(await levelOf('2600::1234')).toBe('ok');
  dns.behave('37.216.184.93.in-addr.arpa', { rcode: 'SERVFAIL' });
  expect(await levelOf('93.184.216.37')).toBe('warn');
});

it.each<[string[], string]>([
  [['v=spf1 ip4:93.184.216.0/24 ~all'], 'ok'],
  [['v=spf1 include:relay.example -all', 'other'], 'ok'],
  [['v=spf1 mx redirect=relay.example'], 'ok'],
  [['v=spf1 ip4:93.184.216.34'], 'warn'],
  [['v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 ~all'], 'warn'],
  [['v=spf1 ip4:93.184.216.34 -all +all'], 'ok'],
  [['v=spf1 ip4:192.0.2.1 -all ip4:93.184.216.34'], 'warn'],
  [['v=spf1 -all ip4:93.184.216.34'], 'fail'],
  [['v=spf1 ip4:93.184.216.34 +all'], 'fail'],
  [['v=spf1 all'], 'fail'],
  [['v=spf1 -all'], 'fail'],
  [['v=spf1 mx -all', 'v=spf1 -all'], 'fail'],
  [['v=spf10 mx -all'], 'fail'],
  [[], 'fail'],
])('the SPF records %j are judged %s', (texts, level) => {
  expect(judgeSpf('in.example', texts, ['93.184.216.34']).level).toBe(level);
});

it('clocks that differ by one second are a warning, and by thirty seconds a failure', () => {
  expect([999, 1_000, 29_999, 30_000].map((offMs) => judgeClock(offMs).level)).toEqual(['ok', 'warn', 'warn', 'fail']);
});

it('a probe that throws or does not end is reported as failed, and the findings of the others are kept', async () => {
  let isAborted = false;
  const findings = await runProbes(
    [
      {
        area: 'endless',
        run: (signal) => new Promise(() => signal.addEventListener('abort', () => (isAborted = true), { once: true })),
      },
      { area: 'broken', run: () => Promise.reject(new Error('of ada@example.com')) },
      { area: 'well', run: async () => [findingsAbout('well').ok('all is well')] },
    ],
    50,
  );
  expect(findings.map(({ area, level }) => [area, level])).toEqual([
    ['endless', 'fail'],
    ['broken', 'fail'],
    ['well', 'ok'],
  ]);
  expect(findings[1]?.message).toBe('of [address]');
  expect(isAborted).toBe(true);
});

it('connections that share sessions are a warning', async () => {
  const database = await createTestDatabase();
  const connect = () => createOrm({ databaseUrl: database.url, poolSize: 1 });
  const [own, other] = [await connect(), await connect()];
  try {
    // The pool of the driver gives each statement any of its sessions, as transaction pooling does.
    const findings = await sessionFindings(database.orm.em.fork(), database.orm.em.fork());
    expect(findings).toMatchObject([{ level: 'warn', action: expect.stringContaining('pool_mode = session') }]);
    expect(await sessionFindings(own.em.fork(), other.em.fork())).toEqual([]);
  } finally {
    await Promise.all([own.close(), other.close()]);
    await database.drop();
  }
});
