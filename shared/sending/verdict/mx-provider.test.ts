import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import type { DnsAnswer, MxRecord } from '../../platform/dns/resolver.ts';
import { createProviderFinder, providerOfServer } from './mx-provider.ts';

const clock = useFakeClock();

const found = (...exchanges: string[]): DnsAnswer<MxRecord> => ({
  kind: 'found',
  records: exchanges.map((exchange, index) => ({ exchange, priority: 10 * (exchanges.length - index) })),
});
const FAILED: DnsAnswer<never> = { kind: 'failed', reason: 'ETIMEOUT' };
const ABSENT: DnsAnswer<never> = { kind: 'absent', isNameUnknown: false };

/** A finder whose look-ups get the answers of a test; without one, no answer comes. */
function createTest(answers: Record<string, DnsAnswer<MxRecord>>, named: string[] = []) {
  const asked: string[] = [];
  const find = createProviderFinder(
    {
      mx: (domain) => {
        asked.push(domain);
        const answer = answers[domain];
        return answer ? Promise.resolve(answer) : new Promise(() => undefined);
      },
    },
    (domain) => named.includes(domain),
  );
  return { find, asked };
}

describe('the provider behind a mail server', () => {
  it.each([
    ['ASPMX.L.Google.com.', 'gmail.com'],
    ['acme-com.mail.protection.outlook.com', 'onmicrosoft.com'],
    ['outlook-com.olc.protection.outlook.com', 'outlook.com'],
    ['mx1.mail.icloud.com', 'icloud.com'],
    ['eu-smtp-inbound-1.mimecast.com', 'mimecast.com'],
    ['mx.notgoogle.com', 'notgoogle.com'],
    ['mx1.mail.example.com', 'example.com'],
    ['mx1.example.co.uk', 'example.co.uk'],
    ['mx1.mail.example.de', 'example.de'],
    ['mx2.abc.de', 'abc.de'],
    ['mx.wp.pl', 'wp.pl'],
    ['mx1.example.ne.jp', 'example.ne.jp'],
    ['localhost', 'localhost'],
  ])('of %s is %s', (server, provider) => {
    expect(providerOfServer(server)).toBe(provider);
  });
});

describe('the provider of an address', () => {
  it('is that of the preferred mail server, found once for all its addresses', async () => {
    const { find, asked } = createTest({ 'acme.test': found('backup.example.net', 'aspmx.l.google.com') });
    const [one, two] = await Promise.all([find('ada@acme.test'), find('ben@acme.test')]);
    expect([one, two, await find('cy@acme.test')]).toEqual(['gmail.com', 'gmail.com', 'gmail.com']);
    expect(asked).toEqual(['acme.test']);
  });

  it('is known without a look-up for large providers, and for domains that a rule names', async () => {
    const { find, asked } = createTest({}, ['own.test']);
    expect(await find('ada@googlemail.com')).toBe('gmail.com');
    expect(await find('ada@own.test')).toBe('own.test');
    expect(asked).toEqual([]);
  });

  it('is the same for each spelling of a domain', async () => {
    const { find, asked } = createTest({ 'xn--bcher-kva.test': found('mx.example.com') });
    for (const domain of ['bücher.test', 'BÜCHER.test', 'xn--bcher-kva.test', 'xn--bcher-kva.test.']) {
      expect(await find(`ada@${domain}`)).toBe('example.com');
    }
    expect(asked).toEqual(['xn--bcher-kva.test']);
  });

  it('is the domain when it has no mail server, or takes no mail', async () => {
    const { find } = createTest({ 'none.test': ABSENT, 'null.test': found('') });
    expect(await find('ada@none.test')).toBe('none.test');
    expect(await find('ada@null.test')).toBe('null.test');
  });

  it('is the domain when the look-up takes over a second', async () => {
    const { find } = createTest({});
    const answer = find('ada@slow.test');
    await clock.pass(1_000);
    expect(await answer).toBe('slow.test');
  });

  it('is not waited for while DNS fails, and is found when it answers again', async () => {
    const answers: Record<string, DnsAnswer<MxRecord>> = { 'a.test': FAILED, 'b.test': FAILED, 'c.test': FAILED };
    const { find } = createTest(answers);
    for (const domain of ['a.test', 'b.test', 'c.test']) expect(await find(`ada@${domain}`)).toBe(domain);
    // No answer comes for this one, and no time passes.
    expect(await find('ada@d.test')).toBe('d.test');
    answers['e.test'] = found('aspmx.l.google.com');
    expect(await find('ada@e.test')).toBe('e.test');
    expect(await find('ada@e.test')).toBe('gmail.com');
  });
});
