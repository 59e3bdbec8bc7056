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

/** By these, relays take orders for the account of whoever runs this installation. */
const RELAY_HEADERS: ReadonlySet<string> = new Set([
  'x-apiheader',
  'x-authuser',
  'x-auth-user',
  'x-binding',
  'x-envid',
  'x-job',
  'x-vmta',
  'istransactional',
  'poolname',
  'sender.ip',
]);

/** Families of such headers, by the providers and servers that read them. */
const RELAY_PREFIXES = [
  'x-smtpapi',
  'x-sg-',
  'x-sendgrid',
  'x-mc-',
  'x-mandrill',
  'x-mailchimp',
  'x-ses-',
  'x-amz-',
  'x-mailgun-',
  'x-pm-',
  'x-postmark',
  'x-mj-',
  'x-mailjet',
  'x-msys-',
  'x-sparkpost',
  'x-elastic',
  'x-sib-',
  'x-mailin-',
  'x-sendinblue',
  'x-brevo',
  'x-smtp2go',
  'x-smtpcom',
  'x-turbo',
  'x-acs-',
  'x-ms-acs',
  'x-ms-exchange-',
  'x-oci-',
  'x-oracle-',
  'x-scw-',
  'x-mailersend',
  'resend-',
  'x-resend',
  'x-mt-',
  'x-mailtrap',
  'x-pepipost',
  'x-netcore',
  'x-xs',
  'x-socketlabs',
  'x-mailchannels',
  'x-zeptomail',
  'x-tipimail',
  'x-critsend',
  'x-maileroo',
  'x-infobip',
  'x-pmta',
  'x-virtual-mta',
  'x-greenarrow',
  'x-kumo',
  'x-halon',
  'x-postal-',
];

/**
 * True for a name, in any case, by which a relay may take orders, such as further recipients, another sub-account or no
 * suppression list.
 * @param allowed names that are taken all the same, in lower case; with `*` at the end, a family
 */
export function isRelayHeader(name: string, allowed: readonly string[] = []): boolean {
  const lowerName = name.toLowerCase();
  if (!RELAY_HEADERS.has(lowerName) && !RELAY_PREFIXES.some((prefix) => lowerName.startsWith(prefix))) return false;
  return !allowed.some((each) => (each.endsWith('*') ? lowerName.startsWith(each.slice(0, -1)) : lowerName === each));
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
