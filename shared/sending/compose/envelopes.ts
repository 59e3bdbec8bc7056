import type { Config } from '../../platform/config.ts';
import type { SmtpEnvelope } from '../transport/message.ts';
import { createVerp } from './verp.ts';

export interface EnvelopeSource {
  emailId: string;
  /** The address in the header From. */
  from: string;
  to: string;
  /** The host of the return path at the sender domain, if it has one (`SendingIdentity`). */
  returnPathHost: string | undefined;
}

/**
 * Creates envelopes of emails. With INBOUND_DOMAIN the envelope sender names the email, and a delivery receipt may be
 * requested. Without it the envelope sender is the address in the header From.
 */
export function createEnvelopes(
  config: Pick<Config, 'APP_SECRET' | 'INBOUND_DOMAIN' | 'DELIVERY_RECEIPTS'>,
): (source: EnvelopeSource) => SmtpEnvelope {
  const { APP_SECRET: appSecret, INBOUND_DOMAIN: domain, DELIVERY_RECEIPTS: areReceiptsWanted } = config;
  if (domain === undefined) return ({ from, to }) => ({ from, to });
  const verp = createVerp({ appSecret, domain });
  return ({ emailId, to, returnPathHost }) => ({
    from: verp.returnPath(emailId, returnPathHost),
    to,
    ...(areReceiptsWanted && { receiptId: emailId }),
  });
}
