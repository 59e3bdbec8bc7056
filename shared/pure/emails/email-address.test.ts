import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { emailAddressSchema, isEmailAddress, normalizeAddress } from './email-address.ts';

const faultOf = (input: unknown): string | undefined => emailAddressSchema.safeParse(input).error?.issues[0]?.message;

describe('emailAddressSchema', () => {
  it.each([
    ['Ada <ada@shop.example>', 'Must be an address alone'],
    ['ada@shop.example, bo@shop.example', 'Must be one address'],
    ['Ada <ada@shop.example>; Bo <bo@shop.example>', 'Must be one address'],
    ['ada@shop,example', 'Invalid email address'],
    ['ada', 'Invalid email address'],
  ])('says what is wrong with %j', (input, expected) => expect(faultOf(input)).toContain(expected));

  it.each(['<' + '@'.repeat(2_000_000), '@' + ','.repeat(2_000_000)])(
    'refuses a text of megabytes in little CPU time',
    async (input) => {
      const cpuMs = await cpuMsOf(() => expect(faultOf(input)).toBe('Invalid email address'));
      expect(cpuMs).toBeLessThan(1_000);
    },
  );
});

describe('an address with letters outside ASCII', () => {
  it('has one stored form, whatever the letters were composed of', () => {
    expect(normalizeAddress(' JO\u0308RG@Example.com ')).toBe('j\u00f6rg@example.com');
  });

  it.each([
    ['संपर्क@डाटामेल.भारत', true],
    [`${'ö'.repeat(32)}@example.com`, true],
    [`${'ö'.repeat(33)}@example.com`, false],
    ['jö rg@example.com', false],
    ['jö\u202erg@example.com', false],
  ])('%s: %s', (address, expected) => expect(isEmailAddress(address)).toBe(expected));
});
