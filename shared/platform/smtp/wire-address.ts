import { domainToASCII } from 'node:url';

/** An address that cannot be written in a header or an envelope without SMTPUTF8, or not at all. */
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
 * The form of an address that may go on the wire: ASCII only, an internationalised domain in its A-label form
 * (RFC 5890), nothing that could end the address or the line it stands in.
 *
 * @throws UnsendableAddressError for anything else, a non-ASCII local part included (it would need RFC 6531)
 */
export function toWireAddress(address: string): string {
  if (address.length <= ADDRESS_LENGTH_MAX && PLAIN_ADDRESS.test(address)) {
    return address;
  }
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

/** Whether an address has the form that `toWireAddress` answers. */
export function isWireAddress(address: string): boolean {
  try {
    toWireAddress(address);
    return true;
  } catch {
    return false;
  }
}
