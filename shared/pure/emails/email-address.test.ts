import { domainToASCII, domainToUnicode } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { emailAddressSchema, formerSpelling, isEmailAddress, normalizeAddress } from './email-address.ts';

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
    ['a@xn--bcher-kva.example', 'a@bücher.example'],
    ['a@XN--Bcher-KVA.example', 'a@bücher.example'],
    ['a@BÜCHER.example', 'a@bücher.example'],
    ['ö@mail.xn--r8jz45g.xn--zckzah', 'ö@mail.例え.テスト'],
    ['a@xn--fa-hia.example', 'a@faß.example'],
    ['xn--a@example.com', 'xn--a@example.com'],
    ...['a@xn--i-7iq.ws', 'a@xn--ü.test', 'a@xn--zzzzzzzz99.test', 'a@１.２', 'a@ü/x', 'a@xn--', 'xn--'].map((text) => [
      text,
      text,
    ]),
  ])('has one spelling of its domain: %s is %s', (address, stored) => {
    expect(normalizeAddress(address)).toBe(stored);
    expect(normalizeAddress(stored)).toBe(stored);
  });

  it('has the spelling of its domain that Node gives it, whatever the letters are', () => {
    const letter = fc.constantFrom(...Array.from('abz019àüßøłżабвяαβωשםرن例え中한글힣ก์ं'), '\u{10428}', '-');
    const label = fc.array(letter, { minLength: 1, maxLength: 20 }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(fc.array(label, { minLength: 2, maxLength: 3 }), (labels) => {
        const ascii = domainToASCII(labels.join('.'));
        fc.pre(ascii !== '' && /[^\0-\x7f]/.test(domainToUnicode(ascii)));
        expect(normalizeAddress(`a@${ascii}`)).toBe(`a@${domainToUnicode(ascii)}`);
        expect(formerSpelling(normalizeAddress(`a@${labels.join('.')}`))).toBe(`a@${ascii}`);
      }),
    );
  });

  it.each([
    ['संपर्क@डाटामेल.भारत', true],
    [`${'ö'.repeat(32)}@example.com`, true],
    [`${'ö'.repeat(33)}@example.com`, false],
    ['jö rg@example.com', false],
    ['jö\u202erg@example.com', false],
  ])('%s: %s', (address, expected) => expect(isEmailAddress(address)).toBe(expected));
});
