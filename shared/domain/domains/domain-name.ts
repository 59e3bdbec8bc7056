import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** The text form of the limit of RFC 1035 section 2.3.4. */
const DOMAIN_LENGTH_MAX = 253;
/** A longer text is refused before it is converted. It has room for spaces and for letters that become shorter. */
const TEXT_LENGTH_MAX = 1_000;
/** What ends a host in a URL, is removed from it, or is decoded: `domainToASCII` would make another name of the text. */
const URL_SYNTAX = /[\s/\\?#%]/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The stored form of a domain name: lower-cased, without a final dot, international labels as `xn--` (RFC 5890).
 * @returns undefined for a text that is not a domain name of at least two labels
 */
export function toDomainName(text: string): string | undefined {
  const trimmed = text.trim();
  if (text.length > TEXT_LENGTH_MAX || URL_SYNTAX.test(trimmed)) return undefined;
  const name = domainToASCII(trimmed.toLowerCase()).replace(/\.$/, '');
  const labels = name.split('.');
  const isName =
    name.length <= DOMAIN_LENGTH_MAX &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '');
  return isName ? name : undefined;
}

/** A domain name in a request, converted into its stored form. */
export const domainNameSchema = z.string().transform((text, context) => {
  const name = toDomainName(text);
  if (name !== undefined) return name;
  context.addIssue({
    code: 'custom',
    message: 'Must be a domain name such as mail.example.com',
    params: { code: 'invalid_string' },
    input: text,
  });
  return z.NEVER;
});
