import { describe, expect, it } from '@jest/globals';
import { Shaping } from '../permit/shaping.ts';
import { parseMxUrl } from './mx-url.ts';

const URL_WITH = (query: string) => `mx://?helo=mail.example.com&source=192.0.2.1&source=2001:db8::1${query}`;
const PLAN = { name: 'slow', perDay: [20, 40], provider: '*', source: '*' };

/** What a worker with the sources of a URL tells the others about them. */
function warmUpsOf(url: string) {
  const relays = parseMxUrl(url).map((source) => ({ label: source.name, source }));
  const resolver = { mx: async () => ({ kind: 'absent', isNameUnknown: false }) as const };
  const file = { defaults: 'none', rules: [], plans: [PLAN] } as const;
  const shaping = new Shaping({ file: file as never, relays, resolver, workerId: 'w', now: () => 0 });
  return shaping.sources.map(({ name, firstWarmUp }) => [name, firstWarmUp]);
}

describe('warmup in an entry mx://', () => {
  it('lets each of its sources begin with the plan that it names, or the usual one', () => {
    const slow = { plan: 'slow', step: 0, perDay: { '*': PLAN.perDay } };
    expect(warmUpsOf(URL_WITH('&warmup=slow'))).toEqual([
      ['192.0.2.1', slow],
      ['2001:db8::1', slow],
    ]);
    for (const query of ['&warmup', '&warmup=']) {
      const usual = { plan: 'default', step: 0, perDay: { '*': expect.any(Array) } };
      expect(warmUpsOf(URL_WITH(query))[0]).toEqual(['192.0.2.1', expect.objectContaining(usual)]);
    }
  });

  it('is nothing without it, and no plan that the file lacks', () => {
    expect(warmUpsOf(URL_WITH(''))).toEqual([
      ['192.0.2.1', undefined],
      ['2001:db8::1', undefined],
    ]);
    expect(() => warmUpsOf(URL_WITH('&warmup=fast'))).toThrow('names the warm-up plan fast');
    expect(() => parseMxUrl(URL_WITH('&warm=1'))).toThrow('warm in an MX URL is unknown');
  });
});

it('an address is no name for EHLO', () => {
  expect(() => parseMxUrl('mx://?helo=192.0.2.1')).toThrow('helo in an MX URL must be the full host name');
});
