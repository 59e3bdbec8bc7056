import { needsUtf8, toRecipientAddress, UnsendableAddressError, utf8Octets } from './wire-address.ts';
import type { SmtpEnvelope, SmtpOutcome } from './message.ts';

function rejectedAddress(stage: 'mail' | 'rcpt', address: string): SmtpOutcome {
  const reply = `The address ${address.slice(0, 320)} cannot be used in an SMTP envelope`;
  const enhancedCode = stage === 'rcpt' ? '5.1.3' : '5.1.7';
  return { kind: 'rejected', stage, replyCode: 553, enhancedCode, reply, isOurs: true };
}

/**
 * Converts the addresses of an envelope to their octets: domains are ASCII, and an address with a non-ASCII local part
 * makes the message one for servers with SMTPUTF8.
 * @returns a rejection when an address has no such form
 */
export function toWireEnvelope(envelope: SmtpEnvelope): SmtpEnvelope | SmtpOutcome {
  const isUtf8 = envelope.isUtf8 === true || needsUtf8(envelope.from) || needsUtf8(envelope.to);
  let stage: 'mail' | 'rcpt' = 'mail';
  try {
    const from = envelope.from === '' ? '' : utf8Octets(toRecipientAddress(envelope.from));
    stage = 'rcpt';
    return { ...envelope, from, to: utf8Octets(toRecipientAddress(envelope.to)), ...(isUtf8 && { isUtf8 }) };
  } catch (error) {
    if (error instanceof UnsendableAddressError) {
      return rejectedAddress(stage, stage === 'mail' ? envelope.from : envelope.to);
    }
    throw error;
  }
}
