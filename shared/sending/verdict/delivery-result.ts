import { deferralDelayMs, HELD_MS_MAX, UNCERTAIN_ATTEMPTS_MAX } from '../../pure/emails/delivery-retry.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import type { AttemptLedger, DeliveryResult, OutcomeAssessment } from '../ports.ts';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import { judgeOutcome } from './judge-refusal.ts';

/** The verdicts of emails that are tried again. */
export const PUT_OFF: readonly DeliveryResult['verdict'][] = ['deferred', 'uncertain', 'held'];

/** Whether an email is tried again. */
export function isPutOff({ verdict }: DeliveryResult): boolean {
  return PUT_OFF.includes(verdict);
}

const MAY_HAVE_ARRIVED = 'the email may have arrived';

/**
 * The result of a delivery attempt. A permanent refusal (5xx) is a bounce only when the address is dead. A refusal of
 * the message itself is final only when it is repeated, because the server may refuse all messages just now. A refusal
 * that may pass, a temporary refusal (4xx) and a broken connection are deferrals. The number of deferrals is limited,
 * and more strictly so when each attempt may have delivered a copy.
 */
export function resultOf(
  email: AttemptLedger,
  outcome: SmtpOutcome,
  retrySeconds: readonly number[],
  assessment: OutcomeAssessment = {},
): DeliveryResult {
  const frame = { emailId: email.emailId, subject: email.subject };
  if (outcome.kind === 'accepted') return { ...frame, verdict: 'sent', error: null };
  const result = { ...frame, server: outcome.server ?? '' };
  const error = outcome.reply;
  if (assessment.hold) return heldResult(email, assessment.hold, error);
  let refusal: DeliveryResult['refusal'];
  if (outcome.kind === 'rejected') {
    const { kind, mayPass, rule } = assessment.verdict ?? judgeOutcome(outcome);
    refusal = { kind, rule, server: outcome.server };
    const isDoubted = kind === 'sender' && email.deferrals === 0;
    if (!mayPass && !isDoubted) return { ...result, verdict: kind === 'hard' ? 'bounced' : 'failed', error, refusal };
  }
  const isUncertain = outcome.kind === 'interrupted' && outcome.mayHaveBeenAccepted;
  const uncertainAttempts = email.uncertainAttempts + (isUncertain ? 1 : 0);
  const attempts = email.deferrals + 1;
  if (uncertainAttempts >= UNCERTAIN_ATTEMPTS_MAX) {
    const reason = `${MAY_HAVE_ARRIVED}: the connection broke after the content ${uncertainAttempts} times`;
    return { ...result, verdict: 'failed', error: `${reason}: ${error}` };
  }
  if (deferralDelayMs(retrySeconds, attempts) === undefined) {
    const note = uncertainAttempts > 0 ? ` (${MAY_HAVE_ARRIVED})` : '';
    return {
      ...result,
      verdict: 'failed',
      error: `given up after ${attempts} deferrals${note}: ${error}`,
      ...(refusal && { refusal }),
    };
  }
  return { ...result, verdict: isUncertain ? 'uncertain' : 'deferred', error };
}

/** The result of an email that is held without a counted delivery attempt: for 48 hours at most by a provider. */
export function heldResult(
  { emailId, subject, heldAt }: AttemptLedger,
  held: Hold,
  error = held.words ?? held.reason,
): DeliveryResult {
  if (held.reason !== 'provider paused' || heldAt === null || Date.now() - heldAt.getTime() < HELD_MS_MAX) {
    return { emailId, subject, verdict: 'held', error, held };
  }
  return { emailId, subject, verdict: 'failed', error: `given up after 48 hours: ${error}` };
}
