import { setTimeout as delay } from 'node:timers/promises';
import { deferralDelayMs, verdictOfRejection } from '../../shared/pure/delivery-retry.ts';
import { reservationSize, reserveSendBudget } from '../../shared/domain/emails/send-budget.ts';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import type { Em } from '../../shared/domain/orm.ts';
import type { Config } from '../../shared/platform/config.ts';
import {
  SmtpUnavailableError,
  type SmtpEnvelope,
  type SmtpOutcome,
  type SmtpPool,
} from '../../shared/platform/mail/smtp-pool.ts';
import { UnsendableAddressError } from '../../shared/platform/mail/wire-address.ts';
import { smtpUnavailableFailure } from '../failures.ts';
import type { ResultBuffer } from './result-buffer.ts';

/** One mail on its way: composed at the last moment, so that memory holds only what is on the wire. */
export interface PreparedMail {
  emailId: string;
  subject: string | null;
  deferrals: number;
  envelope: SmtpEnvelope;
  /** @throws UnsendableAddressError */
  compose: () => Buffer | Promise<Buffer>;
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
  throttle?: { em: () => Em; projectId: string; ratePerSecond: number };
}

function resultOf(mail: PreparedMail, outcome: SmtpOutcome, retrySeconds: readonly number[]): DeliveryResult {
  const result = { emailId: mail.emailId, subject: mail.subject };
  if (outcome.kind === 'accepted') return { ...result, verdict: 'sent', error: null };
  const error = outcome.reply;
  if (outcome.kind === 'rejected') return { ...result, verdict: verdictOfRejection(outcome), error };
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
  const inFlight = new Set<Promise<void>>();
  let broken: Error | undefined;
  let reserved = 0;
  let budgeted = 0;
  const isStopped = (): boolean =>
    broken !== undefined || options.signal.aborted || options.shouldStop() || options.buffer.failure() !== undefined;

  async function send(mail: PreparedMail): Promise<void> {
    try {
      const message = await mail.compose();
      const outcome = await options.pool.send(mail.envelope, message, { signal: options.signal });
      options.buffer.add(resultOf(mail, outcome, options.config.DELIVERY_RETRY_SECONDS));
    } catch (error) {
      if (error instanceof UnsendableAddressError) {
        options.buffer.add({ emailId: mail.emailId, subject: mail.subject, verdict: 'failed', error: error.message });
      } else if (!options.signal.aborted) {
        broken ??= error instanceof Error ? error : new Error(String(error));
      }
    }
  }

  async function takeBudget(throttle: NonNullable<SendLoopOptions['throttle']>): Promise<void> {
    if (reserved > 0) {
      reserved--;
      return;
    }
    const count = Math.max(1, Math.min(reservationSize(throttle.ratePerSecond), options.mailCount - budgeted));
    budgeted += count;
    const waitMs = await reserveSendBudget(throttle.em(), throttle.projectId, count, throttle.ratePerSecond);
    await delay(waitMs, undefined, { signal: options.signal }).catch(() => undefined);
    reserved = count - 1;
  }

  for (const mail of mails) {
    await options.buffer.room();
    if (isStopped()) break;
    if ('verdict' in mail) {
      options.buffer.add(mail);
      continue;
    }
    if (options.throttle) await takeBudget(options.throttle);
    if (inFlight.size >= options.concurrency) await Promise.race(inFlight);
    if (isStopped()) break;
    const sending = send(mail).finally(() => inFlight.delete(sending));
    inFlight.add(sending);
  }
  await Promise.all(inFlight);
  if (broken instanceof SmtpUnavailableError) {
    throw smtpUnavailableFailure(broken, options.config.DELIVERY_PAUSE_SECONDS);
  }
  if (broken !== undefined) throw broken;
}
