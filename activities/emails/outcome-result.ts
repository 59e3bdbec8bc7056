import { deferralDelayMs, UNCERTAIN_ATTEMPTS_MAX } from '../../shared/pure/emails/delivery-retry.ts';
import { judgeRefusal } from '../../shared/pure/emails/delivery-verdict/judge-refusal.ts';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import type { SmtpOutcome } from '../../shared/platform/smtp/smtp-pool.ts';

/** The attempts that an email has behind it. */
export interface AttemptLedger {
  emailId: string;
  subject: string | null;
  deferrals: number;
  uncertainAttempts: number;
}

const MAY_HAVE_ARRIVED = 'the email may have arrived';

/**
 * What an attempt means for the email. A refusal for good (5xx) ends in a bounce only when the address is dead. One that
 * may pass is a deferral, as are a refusal for now (4xx) and a connection that broke. Deferrals have an end, and it comes
 * soon when each attempt may have been a copy for the recipient.
 */
export function resultOf(email: AttemptLedger, outcome: SmtpOutcome, retrySeconds: readonly number[]): DeliveryResult {
  const frame = { emailId: email.emailId, subject: email.subject };
  if (outcome.kind === 'accepted') return { ...frame, verdict: 'sent', error: null };
  const result = { ...frame, server: ('server' in outcome && outcome.server) || '' };
  const error = outcome.reply;
  let refusal: DeliveryResult['refusal'];
  if (outcome.kind === 'rejected') {
    const { kind, mayPass, rule } = judgeRefusal({ ...outcome, code: outcome.replyCode, text: outcome.reply });
    refusal = { kind, rule, server: outcome.server };
    if (!mayPass) return { ...result, verdict: kind === 'hard' ? 'bounced' : 'failed', error, refusal };
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
