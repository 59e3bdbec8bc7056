import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { mxProbe } from './mx-probe.ts';

let dns: DnsServer;
beforeAll(async () => {
  dns = await createDnsServer();
});
afterEach(() => dns.clear());
afterAll(() => dns.close());

async function find(
  url: string | string[],
  {
    lists = [] as string[],
    validating = [] as string[],
    portHost,
  }: { lists?: string[]; validating?: string[]; portHost?: string } = {},
) {
  const resolver = createDnsResolver({ servers: [dns.address] });
  const findings = await mxProbe(
    [url].flat(),
    resolver,
    { DNS_BLOCKLISTS: lists, DNSSEC_SERVERS: validating },
    portHost,
  ).run(new AbortController().signal);
  return findings.map(({ level, area, message }) => `${level} ${area}: ${message}`);
}

describe('the sources of mx://', () => {
  it('are named when two entries have the same', async () => {
    const [one, other] = ['mx://?helo=a.us.test&source=127.0.0.1', 'mx://?helo=b.us.test&source=127.0.0.1'];
    expect(await find([one, other])).toEqual(['fail source: SMTP_URL names the source 127.0.0.1 twice']);
  });

  it('are right when their names lead forward and back', async () => {
    dns.set('mail.us.test', { A: ['127.0.0.1'] });
    expect(await find('mx://?helo=mail.us.test&source=127.0.0.1')).toEqual([
      'ok HELO: 127.0.0.1: mail.us.test leads to it',
      'ok PTR: 127.0.0.1: not a public address, so nothing to look up',
    ]);
  });

  it('are wrong with an address of another machine, a name that leads elsewhere, no PTR, or in a blocklist', async () => {
    dns.set('mail.us.test', { A: ['198.18.0.9'] });
    dns.set('1.113.0.203.bl.test', { A: ['127.0.0.2'] });
    dns.set('1.113.0.203.other.test', { A: ['127.255.255.254'] });
    const findings = await find('mx://?helo=mail.us.test&source=203.0.113.1', {
      lists: ['bl.test', 'other.test', 'free.test'],
    });
    expect(findings.filter((each) => !each.startsWith('ok'))).toEqual(
      expect.arrayContaining([
        'fail source: 203.0.113.1 is no address of this machine',
        'fail HELO: 203.0.113.1: mail.us.test does not lead to it',
      ]),
    );
    const address = 'mx://?helo=mail.us.test&source=9.9.9.9';
    dns.set('9.9.9.9.bl.test', { A: ['127.0.0.2'] });
    dns.set('9.9.9.9.other.test', { A: ['127.255.255.254'] });
    expect(await find(address, { lists: ['bl.test', 'other.test', 'free.test'] })).toEqual(
      expect.arrayContaining([
        'fail PTR: 9.9.9.9: 9.9.9.9 has no PTR record',
        'fail blocklist: 9.9.9.9 is in bl.test (127.0.0.2)',
        'warn blocklist: other.test does not tell about 9.9.9.9',
        'ok blocklist: 9.9.9.9 is not in free.test',
      ]),
    );
  });

  it.each([
    ['validates', { isAuthentic: true }, (server: string) => `ok DNSSEC: ${server} validates`],
    ['does not', {}, (server: string) => `fail DNSSEC: ${server} does not validate, so DANE protects nothing`],
    ['fails', { rcode: 'SERVFAIL' as const }, (server: string) => `warn DNSSEC: ${server} does not answer (SERVFAIL)`],
  ])('need a resolver that validates where DANE is wanted: one that %s', async (_name, behaviour, finding) => {
    dns.set('mail.us.test', { A: ['127.0.0.1'] });
    dns.behave('arpa', behaviour);
    const findings = await find('mx://?helo=mail.us.test&source=127.0.0.1', { validating: [dns.address] });
    expect(findings.at(-1)).toBe(finding(dns.address));
  });

  it('knock at port 25 only when asked, and name what is wrong in the entry', async () => {
    dns.set('mail.us.test', { A: ['127.0.0.1'] });
    const findings = await find('mx://?helo=mail.us.test&source=127.0.0.1', { portHost: '127.0.0.77' });
    expect(findings.at(-1)).toMatch(/^fail port 25: 127\.0\.0\.1: SMTP server 127\.0\.0\.77: /);
    expect(await find('mx://?source=127.0.0.1')).toEqual([
      'fail source: helo in an MX URL must be the full host name of this machine',
    ]);
  });
});
