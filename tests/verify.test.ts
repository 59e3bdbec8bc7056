import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { startTestApi, type TestApi } from './support/api.ts';

let dns: DnsServer;
let app: TestApi;
beforeAll(async () => {
  dns = await createDnsServer();
  app = await startTestApi({ config: { DNS_SERVERS: [dns.address] } });
});
beforeEach(() => dns.clear());
afterAll(async () => {
  await app.stop();
  await dns.close();
});

const NS = ['ns1.provider.test'];

async function verify(email: string): Promise<any> {
  const { status, body } = await app.api('POST', '/v1/verify', { body: { email } });
  expect([status, body.success]).toEqual([200, true]);
  return body.data;
}

describe('POST /v1/verify', () => {
  it('answers with every field', async () => {
    dns.set('company.example', { NS, MX: [[10, 'mx.company.example']], A: ['192.0.2.1'] });
    expect(await verify(' Ada@Company.EXAMPLE ')).toEqual({
      email: 'ada@company.example',
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: true,
      reasons: ['The domain takes mail'],
    });
  });

  it('says that a domain does not exist', async () => {
    expect(await verify('a@nowhere.example')).toMatchObject({
      valid: false,
      domainExists: false,
      hasWebsite: false,
      hasMxRecords: false,
      isTypo: false,
      reasons: ['The domain does not exist'],
    });
  });

  it.each<[string, object, object, string]>([
    [
      'a null MX',
      { NS, MX: [[0, '']], A: ['192.0.2.1'] },
      { valid: false, hasMxRecords: false, hasWebsite: true },
      'null MX',
    ],
    [
      'no MX but an address',
      { NS, A: ['192.0.2.1'] },
      { valid: true, hasMxRecords: false, hasWebsite: true },
      'no MX record',
    ],
    [
      'no MX but an IPv6 address',
      { NS, AAAA: ['2001:db8::1'] },
      { valid: true, hasMxRecords: false, hasWebsite: true },
      'no MX record',
    ],
    [
      'neither',
      { NS },
      { valid: false, hasMxRecords: false, hasWebsite: false, domainExists: true },
      'neither MX nor address',
    ],
    [
      'MX only',
      { NS, MX: [[10, 'mx.provider.test']] },
      { valid: true, hasMxRecords: true, hasWebsite: false },
      'takes mail',
    ],
  ])('judges a domain by its records: %s', async (what, records, expected, reason) => {
    const domain = `${what.replace(/\W/g, '')}.example`;
    dns.set(domain, records);
    const data = await verify(`a@${domain}`);
    expect(data).toMatchObject({ domainExists: true, ...expected });
    expect(data.reasons).toEqual([expect.stringContaining(reason)]);
  });

  it('knows which names within a zone exist', async () => {
    dns.set('zone.example', { NS });
    dns.set('mail.zone.example', { MX: [[10, 'mx.zone.example']] });
    dns.set('empty.zone.example', { TXT: ['nothing for mail'] });
    expect(await verify('a@mail.zone.example')).toMatchObject({ valid: true, domainExists: true });
    expect(await verify('a@empty.zone.example')).toMatchObject({ valid: false, domainExists: true });
    expect(await verify('a@lost.zone.example')).toMatchObject({ valid: false, domainExists: false });
  });

  it('looks international domains up by their ASCII form', async () => {
    dns.set('xn--bcher-kva.example', { NS, MX: [[10, 'mx.provider.test']] });
    expect(await verify('leser@bücher.example')).toMatchObject({
      email: 'leser@bücher.example',
      valid: true,
      domainExists: true,
    });
    expect(await verify('leser@xn--bcher-kva.example')).toMatchObject({ valid: true });
  });

  it('suggests nothing for a top-level domain that has the name of a method', async () => {
    expect(await verify('ada@company.constructor')).not.toHaveProperty('suggestedEmail');
  });

  it.each([
    ['gmial.com', 'gmail.com'],
    ['gmail.con', 'gmail.com'],
    ['gnail.com', 'gmail.com'],
    ['hotmial.com', 'hotmail.com'],
    ['yaho.com', 'yahoo.com'],
    ['outlok.com', 'outlook.com'],
    ['company.con', 'company.com'],
    ['company.ogr', 'company.org'],
  ])('suggests a correction of %s: %s', async (domain, meant) => {
    expect(await verify(`ada+x@${domain}`)).toMatchObject({
      valid: false,
      isTypo: true,
      suggestedEmail: `ada+x@${meant}`,
      isPlusAddressed: true,
      // Some of these names are also on the list of disposable domains.
      reasons: expect.arrayContaining(['The domain does not exist', expect.stringContaining(meant)]),
    });
  });

  it('suggests the provider also when somebody has registered the misspelt name', async () => {
    dns.set('gmal.com', { NS, MX: [[10, 'mx.squatter.test']] });
    expect(await verify('a@gmal.com')).toMatchObject({ valid: true, isTypo: true, suggestedEmail: 'a@gmail.com' });
  });

  it.each([
    'hey.de',
    'abc.com',
    'company.nyc',
    'company.shop',
    'acme.io',
    'gmx.net',
    'yahoo.co.uk',
    'tuta.com',
    'mail.company.example',
  ])('does not correct %s, which accepts email', async (domain) => {
    dns.set(domain, { NS, MX: [[10, 'mx.provider.test']] });
    const data = await verify(`a@${domain}`);
    expect([data.valid, data.isTypo, data.suggestedEmail]).toEqual([true, false, undefined]);
  });

  it.each<[string, object]>([
    ['mailinator.com', { isDisposable: true, isAlias: false, isPersonalEmail: false }],
    ['sub.mailinator.com', { isDisposable: true }],
    ['privaterelay.appleid.com', { isAlias: true, isDisposable: false }],
    ['ada.anonaddy.com', { isAlias: true, isDisposable: false }],
    ['gmail.com', { isPersonalEmail: true, isDisposable: false, isAlias: false }],
    ['yahoo.co.uk', { isPersonalEmail: true }],
    ['hotmail.fr', { isPersonalEmail: true }],
    ['web.de', { isPersonalEmail: true }],
    ['notgmail.com', { isPersonalEmail: false }],
    ['company.example', { isDisposable: false, isAlias: false, isPersonalEmail: false }],
  ])('classifies %s', async (domain, expected) => {
    dns.set(domain, { NS, MX: [[10, 'mx.provider.test']] });
    expect(await verify(`a@${domain}`)).toMatchObject({ ...expected, valid: true });
  });

  it.each([{ drop: true }, { delayMs: 30_000 }])(
    'answers within seconds when name servers behave like %j',
    async (behaviour) => {
      const domain = `slow${Object.keys(behaviour).join()}.test`;
      dns.behave(domain, behaviour);
      const startedAt = performance.now();
      const data = await verify(`a@www.${domain}`);
      const durationMs = performance.now() - startedAt;
      expect(durationMs).toBeGreaterThan(1_000);
      expect(durationMs).toBeLessThan(20_000);
      expect(data).toMatchObject({ valid: false, isTypo: false, domainExists: false });
      expect(data.reasons).toEqual([expect.stringContaining('did not answer in time')]);
    },
  );

  it('caches answers for a while, but not a missing answer', async () => {
    dns.set('kept.example', { NS, MX: [[10, 'mx.provider.test']] });
    await Promise.all([verify('a@kept.example'), verify('b@kept.example')]);
    const asked = dns.queries().length;
    await verify('c@kept.example');
    expect(dns.queries().length).toBe(asked);
    expect(dns.queries().filter(({ type }) => type === 'MX')).toHaveLength(1);

    dns.behave('broken.example', { rcode: 'SERVFAIL' });
    expect(await verify('a@broken.example')).toMatchObject({
      valid: false,
      reasons: [expect.stringContaining('did not answer')],
    });
    dns.behave('broken.example', undefined);
    dns.set('broken.example', { NS, MX: [[10, 'mx.provider.test']] });
    expect(await verify('a@broken.example')).toMatchObject({ valid: true });
  });

  it('refuses a text that is not an address, as every endpoint does', async () => {
    for (const email of [
      undefined,
      null,
      7,
      {},
      '',
      'ada',
      'ada@',
      '@b.example',
      'a@b',
      'a b@c.example',
      'a@b@c.example',
      'a@[192.0.2.1]',
    ]) {
      const { status, body } = await app.api('POST', '/v1/verify', { body: { email } });
      expect([email, status, body.error.code, body.error.errors[0].field]).toEqual([
        email,
        422,
        'VALIDATION_ERROR',
        'email',
      ]);
    }
  });

  it.each(['a@192.0.2.1', `a@${'ü'.repeat(62)}.example`])('says that %s has a wrong format', async (email) => {
    expect(await verify(email)).toMatchObject({
      valid: false,
      domainExists: false,
      reasons: [expect.stringContaining('format')],
    });
  });

  it('accepts only the secret key', async () => {
    const { status } = await app.api('POST', '/v1/verify', { key: 'public', body: { email: 'a@company.example' } });
    expect(status).toBe(401);
  });
});
