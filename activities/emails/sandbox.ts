import { isDatabaseFault } from '../../shared/database/database-errors.ts';
import { recordComplaint, recordDelivery, recordSoftBounce } from '../../shared/domain/emails/feedback.ts';
import { unsubscribeByEmail } from '../../shared/domain/emails/subscription-links.ts';
import type { SmtpOutcome } from '../../shared/sending/transport/smtp-pool.ts';
import { sandboxBehaviour, sandboxDomains, type SandboxBehaviour } from '../../shared/pure/emails/sandbox.ts';
import type { ActivityDeps } from '../deps.ts';
import type { AttemptLedger, DeliveryResult } from '../../shared/sending/ports.ts';
import { resultOf } from '../../shared/sending/verdict/delivery-result.ts';

/** Answers emails to sandbox addresses without a server, so that users can test every outcome of an email. */
export interface Sandbox {
  /** The result of an email to the sandbox; undefined for an email that a server must take. */
  answer: (email: AttemptLedger, to: string) => DeliveryResult | undefined;
  /** Notes that results are recorded, so that later actions may follow. */
  noteRecorded: (results: readonly DeliveryResult[]) => void;
  /**
   * Simulates the later actions of recipients and their servers. What fails is done by the next call.
   * @throws the error of PostgreSQL
   */
  followUp: () => Promise<void>;
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

/** Creates the sandbox of a worker. */
export function createSandbox(deps: Pick<ActivityDeps, 'config' | 'orm'>): Sandbox {
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
