import { utf8Bytes } from '../json-bytes.ts';
import { LIMITS } from '../limits.ts';

/**
 * Header names, in lower case, that belong to Everpost or to the servers a message passes: the structure of the
 * message, its identity and its trace. A caller's custom header may not carry one of these names.
 */
export const PROTECTED_HEADERS: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-description',
  'content-language',
  'content-location',
  'content-md5',
  'return-path',
  'received',
  'received-spf',
  'delivered-to',
  'dkim-signature',
  'domainkey-signature',
  'authentication-results',
]);

const PROTECTED_PREFIXES = ['content-', 'resent-', 'arc-'];

/** True for a name in {@link PROTECTED_HEADERS} or in a protected family (Content-*, Resent-*, ARC-*), in any case. */
export function isProtectedHeader(name: string): boolean {
  const lowerName = name.toLowerCase();
  return PROTECTED_HEADERS.has(lowerName) || PROTECTED_PREFIXES.some((prefix) => lowerName.startsWith(prefix));
}

const HEADER_NAME = /^[!-9;-~]{1,76}$/;

/** True for a field name of RFC 5322 §2.2 (printable ASCII without a colon) of at most 76 characters. */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

export const HEADERS_TOO_LARGE = `All headers together may have at most ${LIMITS.customHeadersBytes} bytes`;

/** The octets of header fields, names and values. */
export function headersBytes(headers: readonly (readonly [name: string, value: string])[]): number {
  return headers.reduce((sum, [name, value]) => sum + utf8Bytes(name) + utf8Bytes(value), 0);
}
