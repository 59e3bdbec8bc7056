import { sandboxBehaviour, sandboxDomains, type SandboxBehaviour } from '../../pure/emails/sandbox.ts';
import type { Config } from '../../platform/config.ts';
import { isDatabaseFault } from '../../database/database-errors.ts';
import type { Em } from '../../database/sql.ts';
import type { DeliveryResult, SandboxPort } from '../../sending/ports.ts';
import type { SmtpOutcome } from '../../sending/transport/smtp-pool.ts';
import { resultOf } from '../../sending/verdict/delivery-result.ts';
import { recordComplaint, recordDelivery, recordSoftBounce } from './feedback.ts';
import { unsubscribeByEmail } from './subscription-links.ts';

export interface SandboxDeps {
  config: Config;
  orm: { em: Em };
}

const HOST = 'sandbox';
const refusal = (kind: 'rejected' | 'deferred', replyCode: number, reply: string): SmtpOutcome => ({
  kind,
  stage: 'rcpt',
  replyCode,
  reply,
  server: HOST,
});
const UNKNOWN_USER = '550 5.1.1 User unknown in the sandbox';

/**
 * Creates the sandbox of a worker. It answers emails to sandbox addresses without a server, so that users can test every
 * outcome of an email, and simulates the later actions of recipients and their servers.
 */
export function createSandbox(deps: SandboxDeps): SandboxPort {
  const domains = sandboxDomains(deps.config.INBOUND_DOMAIN);
  const retrySeconds = deps.config.DELIVERY_RETRY_SECONDS;
  const behaviours = new WeakMap<DeliveryResult, SandboxBehaviour>();
  const due = new Map<string, SandboxBehaviour>();

  function outcomeOf(behaviour: SandboxBehaviour | 'unknown', deferrals: number): SmtpOutcome {
    if (behaviour === 'bounced' || behaviour === 'unknown') return refusal('rejected', 550, UNKNOWN_USER);
    const isFirst = behaviour === 'deferred' && deferrals === 0;
    if (isFirst) return refusal('deferred', 451, '451 4.3.2 Try again later, says the sandbox');
    return { kind: 'accepted', reply: '250 2.0.0 Taken by the sandbox' };
  }

  async function simulate(emailId: string, behaviour: SandboxBehaviour): Promise<void> {
    const em = () => deps.orm.em.fork();
    if (behaviour === 'soft-bounced') {
      const diagnostic = '452 4.2.2 The mailbox is full, says the sandbox';
      await recordSoftBounce(em(), emailId, { kind: 'temporary', rule: 'mailbox-full', diagnostic }, emailId);
      return;
    }
    await recordDelivery(em(), emailId);
    if (behaviour === 'complained') await recordComplaint(em(), emailId, { isCounted: false });
    if (behaviour === 'unsubscribed') await unsubscribeByEmail(em(), emailId);
  }

  return {
    answer(email, to) {
      const behaviour = sandboxBehaviour(to, domains);
      if (behaviour === undefined) return undefined;
      const { emailId, subject, deferrals } = email;
      if (behaviour === 'suppressed') {
        return { emailId, subject, verdict: 'suppressed', error: 'the sandbox suppresses this address' };
      }
      const result = resultOf(email, outcomeOf(behaviour, deferrals), retrySeconds);
      if (result.verdict === 'sent' && behaviour !== 'unknown') behaviours.set(result, behaviour);
      return result;
    },
    noteRecorded(results) {
      for (const result of results) {
        const behaviour = behaviours.get(result);
        if (behaviour !== undefined) due.set(result.emailId, behaviour);
      }
    },
    async followUp() {
      for (const [emailId, behaviour] of due) {
        due.delete(emailId);
        try {
          await simulate(emailId, behaviour);
        } catch (error) {
          if (isDatabaseFault(error)) due.set(emailId, behaviour);
          throw error;
        }
      }
    },
  };
}
