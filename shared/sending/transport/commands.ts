import type { SmtpCapabilities } from './connect.ts';
import type { SmtpMessage } from './message.ts';

export const DATA = 'DATA\r\n';
export const RESET = 'RSET\r\n';

/**
 * MAIL FROM with the size (RFC 1870), whether the content has octets beyond ASCII (RFC 6152), also in its header (RFC 6531)
 * and, when a receipt is requested, its id (RFC 3461).
 */
export function mailCommand(
  { envelope, raw }: SmtpMessage,
  { hasSize, hasDsn, hasEightBit }: SmtpCapabilities,
): string {
  const size = hasSize ? ` SIZE=${raw.length}` : '';
  const eightBit = hasEightBit && envelope.isEightBit ? ' BODY=8BITMIME' : '';
  const body = envelope.isUtf8 ? ' SMTPUTF8 BODY=8BITMIME' : eightBit;
  const receipt = hasDsn && envelope.receiptId !== undefined ? ` RET=HDRS ENVID=${envelope.receiptId}` : '';
  return `MAIL FROM:<${envelope.from}>${size}${body}${receipt}\r\n`;
}

/** RCPT TO, with a request for a receipt if the envelope has one. */
export function rcptCommand({ envelope }: SmtpMessage, { hasDsn }: SmtpCapabilities): string {
  const notify = hasDsn && envelope.receiptId !== undefined ? ' NOTIFY=SUCCESS,FAILURE,DELAY' : '';
  return `RCPT TO:<${envelope.to}>${notify}\r\n`;
}
