import { describe, expect, it } from '@jest/globals';
import type { DnsResolver } from '../../platform/dns/resolver.ts';
import { lookUpRecords, policyNames } from './dns-records.ts';

function resolverOf(zone: Record<string, string[]>): DnsResolver {
  const absent = { kind: 'absent', isNameUnknown: true } as const;
  return {
    async txt(name) {
      const records = zone[name];
      return records ? { kind: 'found', records } : absent;
    },
    mx: async () => absent,
    ns: async () => absent,
    names: async () => absent,
    addresses: async () => absent,
  };
}

async function dmarcOf(domain: string, zone: Record<string, string[]>) {
  const source = {
    domain,
    dkim: { selector: 's', publicKey: 'k' },
    inboundDomain: undefined,
    isReturnPathRequired: false,
  };
  return (await lookUpRecords(resolverOf(zone), source)).get('DMARC');
}

describe('the search for a DMARC policy', () => {
  it('looks up the domain and each name above it up to the top, eight names at most', () => {
    expect(policyNames('news.example.com')).toEqual(['news.example.com', 'example.com', 'com']);
    expect(policyNames('a.b.c.d.e.f.g.h.i.j.mail.example.com')).toEqual([
      'a.b.c.d.e.f.g.h.i.j.mail.example.com',
      'g.h.i.j.mail.example.com',
      'h.i.j.mail.example.com',
      'i.j.mail.example.com',
      'j.mail.example.com',
      'mail.example.com',
      'example.com',
      'com',
    ]);
  });

  it.each([
    ['the policy of the domain', { '_dmarc.a.b.example': ['v=DMARC1; p=none'] }, 'found'],
    ['the policy of a name above', { '_dmarc.b.example': ['v=DMARC1;p=reject'] }, 'found'],
    ['the policy of the top-level domain', { '_dmarc.example': ['v=DMARC1; p=reject; psd=y'] }, 'found'],
    ['no policy where one name has two', { '_dmarc.b.example': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }, 'missing'],
    ['no policy in other texts', { '_dmarc.b.example': ['v=DMARC12; p=none', 'hello'] }, 'missing'],
  ])('finds %s', async (_name, zone, state) => {
    expect(await dmarcOf('a.b.example', zone as unknown as Record<string, string[]>)).toBe(state);
  });
});

describe('the SPF record', () => {
  it.each([
    ['v=spf1 include:in.example ~all', 'found'],
    ['v=spf1 ip4:192.0.2.1 +Include:IN.example. -all', 'found'],
    ['v=spf1 include:in.example', 'found'],
    ['v=spf1 -all include:in.example', 'missing'],
    ['v=spf1 all include:in.example', 'missing'],
    ['v=spf1 ?include:in.example ~all', 'missing'],
    ['v=spf1 include:in.example.org ~all', 'missing'],
    ['v=spf10 include:in.example ~all', 'missing'],
  ])('%s is %s', async (record, state) => {
    const source = {
      domain: 'shop.example',
      dkim: { selector: 's', publicKey: 'k' },
      inboundDomain: 'in.example',
      isReturnPathRequired: true,
    };
    const states = await lookUpRecords(resolverOf({ 'bounce.shop.example': [record] }), source);
    expect(states.get('SPF')).toBe(state);
  });
});
