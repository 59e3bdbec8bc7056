import { toWireAddress, UnsendableAddressError } from './wire-address.ts';
import type { SmtpEnvelope, SmtpOutcome } from './message.ts';

function rejectedAddress(stage: 'mail' | 'rcpt', address: string): SmtpOutcome {
  const reply = `The address ${address.slice(0, 320)} cannot be used in an SMTP envelope`;
  return { kind: 'rejected', stage, replyCode: 553, enhancedCode: stage === 'rcpt' ? '5.1.3' : '5.1.7', reply };
}

/**
 * Converts the addresses of an envelope to ASCII.
 * @returns a rejection when an address has no ASCII form
 */
export function toWireEnvelope(envelope: SmtpEnvelope): SmtpEnvelope | SmtpOutcome {
  let stage: 'mail' | 'rcpt' = 'mail';
  try {
    const from = envelope.from === '' ? '' : toWireAddress(envelope.from);
    stage = 'rcpt';
    return { ...envelope, from, to: toWireAddress(envelope.to) };
  } catch (error) {
    if (error instanceof UnsendableAddressError) {
      return rejectedAddress(stage, stage === 'mail' ? envelope.from : envelope.to);
    }
    throw error;
  }
}
