import { z } from 'zod';
import { utf8Bytes } from '../json-bytes.ts';
import { asciiDomainOf, spelledDomain } from './domain-spelling.ts';

/** RFC 5321 section 4.5.3.1.3, and RFC 6531 section 3.2: a forward path of 256 octets less the angle brackets. */
const ADDRESS_BYTES_MAX = 254;
const LOCAL_PART_BYTES_MAX = 64;

/**
 * The stored and compared form of an address: trimmed, lower-cased, with composed letters (NFC, RFC 6532 section 3.1), and
 * with letters in place of the A-labels of its domain.
 */
export function normalizeAddress(address: string): string {
  const text = address.trim().toLowerCase().normalize();
  // Few addresses need more, and imports have millions.
  if (text.length > ADDRESS_BYTES_MAX || !/xn--|[^\0-\x7f]/.test(text)) return text;
  const at = text.lastIndexOf('@') + 1;
  return text.slice(0, at) + spelledDomain(text.slice(at));
}

/** The spelling of a normalised address with A-labels, in which it may be stored from before; undefined for most. */
export function formerSpelling(address: string): string | undefined {
  const at = address.lastIndexOf('@') + 1;
  const domain = /[^\0-\x7f]/.test(address.slice(at)) ? asciiDomainOf(address.slice(at)) : undefined;
  return domain === undefined ? undefined : address.slice(0, at) + domain;
}

/** The spellings of a normalised address that may be stored. */
export function spellingsOf(address: string): string[] {
  const former = formerSpelling(address);
  return former === undefined ? [address] : [address, former];
}

/** The texts to look for in stored addresses when somebody searches for a part of one, such as a domain; the first is as written. */
export function searchedSpellings(text: string): string[] {
  const others = text === text.trim() ? spellingsOf(normalizeAddress(text)) : [];
  return [...new Set([text.toLowerCase(), ...others])];
}

/** What follows the last `@` of an address, lower-cased. The form of the address is not checked. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/**
 * The domain of an address, or a domain alone, as DNS has it: in lower case, with A-labels (RFC 5890), without a final dot.
 */
export function dnsDomainOf(address: string): string {
  const domain = domainOf(address).replace(/\.$/, '');
  return /^[\w.-]*$/.test(domain) ? domain : (asciiDomainOf(domain) ?? domain);
}

const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * Whether a text is an address in dot-atom form (RFC 5322 section 3.4.1, with the letters of RFC 6531). Quoted local
 * parts and address literals are refused: no mailbox provider issues them, and they can smuggle syntax.
 */
export function isEmailAddress(address: string): boolean {
  if (address.length > ADDRESS_BYTES_MAX || utf8Bytes(address) > ADDRESS_BYTES_MAX) return false;
  const at = address.lastIndexOf('@');
  if (at < 1 || utf8Bytes(address.slice(0, at)) > LOCAL_PART_BYTES_MAX) return false;
  const labels = address.slice(at + 1).split('.');
  return (
    labels.length >= 2 && labels.every((label) => DOMAIN_LABEL.test(label)) && LOCAL_PART.test(address.slice(0, at))
  );
}

/** `Shop <hello@shop.example>`, as in a header. */
const WITH_NAME = /<[^<>]*@[^<>]*>\s*$/;
const ADDRESS_ALONE =
  'Must be an address alone; where a name may stand beside it, write { "name": "Shop", "email": "hello@shop.example" }';

/** `a@shop.example, b@shop.example`, as in a header. */
const SEVERAL = /@[^@]*[,;][^@]*@/;

/** The patterns above take time in proportion to the square of the length. */
const EXPLAINED_LENGTH_MAX = 1_000;

function addressFault(input: unknown): string {
  if (typeof input !== 'string' || input.length > EXPLAINED_LENGTH_MAX) return 'Invalid email address';
  if (SEVERAL.test(input)) return 'Must be one address; where several may stand, write a list';
  return WITH_NAME.test(input) ? ADDRESS_ALONE : 'Invalid email address';
}

/** An email address in a request, normalised. */
export const emailAddressSchema = z
  .string()
  .transform(normalizeAddress)
  .refine(isEmailAddress, {
    error: ({ input }) => addressFault(input),
    abort: true,
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['ada@example.com'] });
