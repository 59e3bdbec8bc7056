import { domainToASCII } from 'node:url';

/** An address that has no form for a header or an envelope without SMTPUTF8. */
export class UnsendableAddressError extends Error {
  constructor(address: string) {
    super(`The address ${JSON.stringify(address.slice(0, 320))} cannot be used in an email`);
    this.name = 'UnsendableAddressError';
  }
}

const ADDRESS_LENGTH_MAX = 320;
const PLAIN_ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9._-]+$/;
const LOCAL_PART = /^(?:[\w.!#$%&'*+/=?^`{|}~-]+|"(?:[ !#-[\]-~]|\\[ -~])*")$/;
const DOMAIN = /^(?:[A-Za-z0-9._-]+|\[[A-Za-z0-9.:]+\])$/;

/**
 * The form of an address for headers and envelopes: ASCII only, with an internationalised domain as A-labels (RFC
 * 5890), and no character that could end the address or its line.
 *
 * @throws UnsendableAddressError for any other address, also one with a non-ASCII local part (it would need RFC 6531)
 */
export function toWireAddress(address: string): string {
  if (address.length <= ADDRESS_LENGTH_MAX && PLAIN_ADDRESS.test(address)) return address;
  const trimmed = address.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, at);
  const domain = trimmed.slice(at + 1);
  const asciiDomain = DOMAIN.test(domain) ? domain : domainToASCII(domain);
  if (at < 1 || trimmed.length > ADDRESS_LENGTH_MAX || !LOCAL_PART.test(local) || !DOMAIN.test(asciiDomain)) {
    throw new UnsendableAddressError(address);
  }
  return `${local}@${asciiDomain}`;
}

/** What to tell whoever gives an address that `toWireAddress` refuses. */
export const NOT_MAILABLE =
  'Must have only ASCII characters before the @ and a domain name after it, or no email can be sent to it';

/** Whether an email can be sent to an address, that is, whether `toWireAddress` accepts it. */
export function isWireAddress(address: string): boolean {
  try {
    toWireAddress(address);
    return true;
  } catch {
    return false;
  }
}
