import { deferralDelayMs } from '../../shared/pure/delivery-retry.ts';
import { judgeRefusal } from '../../shared/pure/delivery-verdict/judge-refusal.ts';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import type { Config } from '../../shared/platform/config.ts';
import {
  SmtpUnavailableError,
  type SmtpEnvelope,
  type SmtpOutcome,
  type SmtpPool,
} from '../../shared/platform/mail/smtp-pool.ts';
import type { RawMessage } from '../../shared/platform/mail/data-content.ts';
import { UnsendableAddressError } from '../../shared/platform/mail/wire-address.ts';
import { smtpUnavailableFailure } from '../failures.ts';
import type { ResultBuffer } from './result-buffer.ts';
import { createSendThrottle, type Throttle } from './send-throttle.ts';

/** One mail on its way: composed at the last moment, so that memory holds only what is on the wire. */
export interface PreparedMail {
  emailId: string;
  subject: string | null;
  deferrals: number;
  envelope: SmtpEnvelope;
  /** @throws UnsendableAddressError */
  compose: () => RawMessage | Promise<RawMessage>;
}

export interface SendLoopOptions {
  pool: SmtpPool;
  buffer: ResultBuffer;
  /** Mails in flight at the same time. */
  concurrency: number;
  /** When deferred mail is tried again, and for how long it waits when no server answers. */
  config: Pick<Config, 'DELIVERY_RETRY_SECONDS' | 'DELIVERY_PAUSE_SECONDS'>;
  /** Mails at most, so that none of a slow project's budget is reserved for mail that does not exist. */
  mailCount: number;
  signal: AbortSignal;
  /** Set when something says that no more mail may be sent. */
  shouldStop: () => boolean;
  throttle?: Throttle;
}

/**
 * A refusal for good (5xx) ends in a bounce only when the address is dead. One that may pass is a deferral, as a refusal
 * for now (4xx) is.
 */
function resultOf(mail: PreparedMail, outcome: SmtpOutcome, retrySeconds: readonly number[]): DeliveryResult {
  const result = { emailId: mail.emailId, subject: mail.subject };
  if (outcome.kind === 'accepted') return { ...result, verdict: 'sent', error: null };
  const error = outcome.reply;
  if (outcome.kind === 'rejected') {
    const { kind, mayPass } = judgeRefusal({ ...outcome, code: outcome.replyCode, text: outcome.reply });
    if (!mayPass) return { ...result, verdict: kind === 'hard' ? 'bounced' : 'failed', error };
  }
  return deferralDelayMs(retrySeconds, mail.deferrals + 1) === undefined
    ? { ...result, verdict: 'failed', error: `given up after ${mail.deferrals + 1} deferrals: ${error}` }
    : { ...result, verdict: 'deferred', error };
}

/**
 * Sends mails over the pool, a bounded number at a time, and puts each result into the buffer. Takes the mails one by
 * one from the iterable, so that nothing is prepared that will not be sent.
 * @throws the first connection-level failure, after what was on the wire has been decided
 */
export async function sendMails(
  mails: Iterable<PreparedMail | DeliveryResult>,
  options: SendLoopOptions,
): Promise<void> {
  const { buffer, pool, signal, config } = options;
  const iterator = mails[Symbol.iterator]();
  let broken: Error | undefined;
  const isStopped = (): boolean =>
    broken !== undefined || signal.aborted || options.shouldStop() || buffer.failure() !== undefined;
  const takeBudget = createSendThrottle({ ...options, isStopped });

  async function send(mail: PreparedMail): Promise<void> {
    try {
      const message = await mail.compose();
      const outcome = await pool.send(mail.envelope, message, { signal });
      buffer.add(resultOf(mail, outcome, config.DELIVERY_RETRY_SECONDS));
    } catch (error) {
      if (!(error instanceof UnsendableAddressError)) throw error;
      buffer.add({ emailId: mail.emailId, subject: mail.subject, verdict: 'failed', error: error.message });
    }
  }

  /** As many of these run side by side as mails may be in flight. */
  async function lane(): Promise<void> {
    try {
      for (;;) {
        await buffer.room();
        if (isStopped()) return;
        const next = iterator.next();
        if (next.done) return;
        if ('verdict' in next.value) {
          buffer.add(next.value);
          continue;
        }
        if (takeBudget) await takeBudget();
        if (isStopped()) return;
        await send(next.value);
      }
    } catch (error) {
      if (!signal.aborted) broken ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  await Promise.all(Array.from({ length: Math.min(options.concurrency, options.mailCount) }, lane));
  if (broken instanceof SmtpUnavailableError) {
    throw smtpUnavailableFailure(broken, config.DELIVERY_PAUSE_SECONDS);
  }
  if (broken !== undefined) throw broken;
}
