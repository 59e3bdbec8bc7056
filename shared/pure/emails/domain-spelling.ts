// eslint-disable-next-line @typescript-eslint/no-restricted-imports -- it only converts names, and no workflow reaches it
import { domainToASCII, domainToUnicode } from 'node:url';

/** Letters, digits and hyphens: what could stand for another part of a URL is no domain. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;

/** A domain in A-labels (RFC 5891), in lower case; undefined for a text that has none. */
export function asciiDomainOf(domain: string): string | undefined {
  const ascii = DOMAIN.test(domain) ? domainToASCII(domain) : '';
  // Digits of another script make an IPv4 address of a name.
  return ascii !== '' && ascii.split('.').length === domain.split('.').length ? ascii : undefined;
}

/**
 * The one spelling of a domain: with the letters of its A-labels, because RFC 5890 section 2.3.2.4 calls both the same.
 * A label whose letters would not lead back to it stays, and so does a text that is no domain.
 * @param domain in lower case
 */
export function spelledDomain(domain: string): string {
  const ascii = asciiDomainOf(domain);
  if (ascii === undefined) return domain;
  const spelled = domainToUnicode(ascii).normalize();
  return asciiDomainOf(spelled) === ascii ? spelled : ascii;
}
