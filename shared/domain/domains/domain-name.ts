import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';

/** RFC 1035 section 2.3.4, in its text form. */
const DOMAIN_LENGTH_MAX = 253;
/** With spaces around it and all forms of its letters; what is longer is not even looked at. */
const TEXT_LENGTH_MAX = 1_000;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The stored form of a domain name: lower-cased, without a final dot, international labels as `xn--` (RFC 5890).
 * @returns undefined when it is not the name of a domain with at least two labels
 */
export function toDomainName(text: string): string | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const name = domainToASCII(text.trim().replace(/\.$/, '').toLowerCase());
  const labels = name.split('.');
  const isName =
    name.length <= DOMAIN_LENGTH_MAX &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '');
  return isName ? name : undefined;
}

/** A domain name, in its stored form. */
export const domainNameSchema = z.string().transform((text, context) => {
  const name = toDomainName(text);
  if (name !== undefined) return name;
  context.addIssue({
    code: 'custom',
    message: 'Not a domain name such as mail.example.com',
    params: { code: 'invalid_string' },
    input: text,
  });
  return z.NEVER;
});

/** The forms that a stored domain name may have in an address: as it is, and with its international letters. */
export function spellingsOf(domain: string): string[] {
  return [...new Set([domain, domainToUnicode(domain)])];
}
