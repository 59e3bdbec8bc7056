import { domainToASCII } from 'node:url';

/** An email that cannot be sent as it is, whatever server takes it. */
export class UnsendableEmailError extends Error {
  override name = 'UnsendableEmailError';
}

/** An address that has no form for a header or an envelope. */
export class UnsendableAddressError extends UnsendableEmailError {
  constructor(address: string) {
    super(`The address ${JSON.stringify(address.slice(0, 320))} cannot be used in an email`);
    this.name = 'UnsendableAddressError';
  }
}

/** A message that needs SMTPUTF8 (RFC 6531), while none of the servers that were asked offers it. */
export class Utf8NotOfferedError extends UnsendableEmailError {
  /** The labels of these servers. */
  readonly relays: readonly string[];
  /** The name of the server that was asked last. */
  readonly server: string;

  constructor(relays: readonly string[], server: string) {
    super(
      `5.6.7 The email needs SMTPUTF8 (RFC 6531), for an address with letters outside ASCII before the @ or a header in UTF-8, and it is not offered by ${server}`,
    );
    this.name = 'Utf8NotOfferedError';
    this.relays = relays;
    this.server = server;
  }
}

const ADDRESS_LENGTH_MAX = 320;
const PLAIN_ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9._-]+$/;
const LOCAL_PART = /^(?:[\w.!#$%&'*+/=?^`{|}~-]+|"(?:[ !#-[\]-~]|\\[ -~])*")$/;
const UTF8_LOCAL_PART = /^[\w\p{L}\p{M}\p{N}.!#$%&'*+/=?^`{|}~-]+$/u;
const DOMAIN = /^(?:[A-Za-z0-9._-]+|\[[A-Za-z0-9.:]+\])$/;

function formOf(address: string, localParts: readonly RegExp[]): string {
  if (address.length <= ADDRESS_LENGTH_MAX && PLAIN_ADDRESS.test(address)) return address;
  const trimmed = address.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, at);
  const domain = trimmed.slice(at + 1);
  const asciiDomain = DOMAIN.test(domain) ? domain : domainToASCII(domain);
  const isKnownForm = at > 0 && localParts.some((form) => form.test(local)) && DOMAIN.test(asciiDomain);
  if (!isKnownForm || trimmed.length > ADDRESS_LENGTH_MAX) throw new UnsendableAddressError(address);
  return `${local}@${asciiDomain}`;
}

/**
 * The form of an address that every server takes: ASCII only, with an internationalised domain as A-labels (RFC
 * 5890), and no character that could end the address or its line.
 *
 * @throws UnsendableAddressError for any other address, also one with a non-ASCII local part
 */
export const toWireAddress = (address: string): string => formOf(address, [LOCAL_PART]);

/**
 * The form of the address of a recipient. One with a non-ASCII local part keeps it, for servers with SMTPUTF8 (RFC 6531);
 * its domain has A-labels too.
 *
 * @throws UnsendableAddressError for any other address
 */
export const toRecipientAddress = (address: string): string => formOf(address, [LOCAL_PART, UTF8_LOCAL_PART]);

/** Whether an address needs SMTPUTF8. Its domain never does. */
export function needsUtf8(address: string): boolean {
  return /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf('@')));
}

/** A text as the octets of its UTF-8, one per character. */
export function utf8Octets(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** What to tell whoever gives an address that `toRecipientAddress` refuses. */
export const NOT_MAILABLE = 'Must have a domain name after the @, or no email can be sent to it';

/** What to tell whoever gives a From or Reply-To address that `toWireAddress` refuses. */
export const NO_SENDER =
  'Must have only ASCII characters before the @ and a domain name after it: only servers with SMTPUTF8 (RFC 6531) would take mail from another one';

function isAccepted(address: string, toForm: (address: string) => string): boolean {
  try {
    toForm(address);
    return true;
  } catch {
    return false;
  }
}

/** Whether an email can be sent to an address, that is, whether `toRecipientAddress` accepts it. */
export const isRecipientAddress = (address: string): boolean => isAccepted(address, toRecipientAddress);

/** Whether an email can be sent from an address, that is, whether `toWireAddress` accepts it. */
export const isWireAddress = (address: string): boolean => isAccepted(address, toWireAddress);
