import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { DeliveryMetrics } from '../../shared/platform/metrics/delivery-metrics.ts';
import {
  MESSAGE_MS_MAX,
  NoOtherServerError,
  SmtpUnavailableError,
  type SmtpEnvelope,
  type SmtpPool,
  type SmtpUrgency,
} from '../../shared/platform/smtp/smtp-pool.ts';
import type { RawMessage } from '../../shared/platform/smtp/data-content.ts';
import { UnsendableAddressError } from '../../shared/platform/smtp/wire-address.ts';
import { isLastAttempt, smtpUnavailableFailure } from '../failures.ts';
import { heldResult, resultOf, type AttemptLedger } from './outcome-result.ts';
import type { Admission, ProviderGuard } from './provider-guard.ts';
import type { ResultBuffer } from './result-buffer.ts';
import type { Sandbox } from './sandbox.ts';
import type { Pace } from './send-throttle.ts';
import type { SmtpTrace } from './smtp-trace.ts';

/** One email on its way: composed at the last moment, so that memory holds only messages on the wire. */
export interface PreparedEmail extends AttemptLedger {
  envelope: SmtpEnvelope;
  /** When somebody asked for it; missing for campaigns. */
  queuedAt?: Date;
  /** @throws UnsendableAddressError */
  compose: () => RawMessage | Promise<RawMessage>;
}

/** An email whose message cannot be made, because of an unexpected error. */
export interface UnpreparedEmail extends AttemptLedger {
  cause: unknown;
}

/** An email to be sent, or with its result already. */
export type EmailToSend = PreparedEmail | UnpreparedEmail | DeliveryResult;

/**
 * Messages of an attempt that could not be made. They do not delay others: the attempt throws the first cause at its
 * end and is repeated for them, and the last attempt marks them as failed.
 */
export interface UnmadeMessages {
  isLastAttempt: boolean;
  causes: unknown[];
}

/** Creates the list for the attempt that is under way. */
export function createUnmade(): UnmadeMessages {
  return { isLastAttempt: isLastAttempt(), causes: [] };
}

export interface SendLoopOptions {
  unmade: UnmadeMessages;
  pool: SmtpPool;
  /** Holds emails to providers that refuse ours. */
  guard: ProviderGuard;
  /** Answers emails to its addresses in place of a server. */
  sandbox: Pick<Sandbox, 'answer'>;
  urgency: SmtpUrgency;
  /** The project that the emails belong to. */
  projectId: string;
  metrics: DeliveryMetrics;
  buffer: ResultBuffer;
  /** Mails in flight at the same time. */
  concurrency: number;
  /** When deferred email is tried again, and for how long it waits when no server answers. */
  config: Pick<Config, 'DELIVERY_RETRY_SECONDS' | 'DELIVERY_PAUSE_SECONDS'>;
  /** Mails at most. */
  mailCount: number;
  signal: AbortSignal;
  /** Set when something says that no more mail may be sent. */
  shouldStop: () => boolean;
  /** Asked before each email of a throttled project. */
  pace?: Pace | undefined;
  /** Makes a span of the conversation with the server, if the email is traced. */
  trace: SmtpTrace;
}

/**
 * How long sending may go on without a result: a server may be slow at every step, and the results are to be recorded.
 */
export const SEND_STALL_MS = MESSAGE_MS_MAX + 5 * 60_000;

/**
 * If connections break under this many different emails in a row, the server is at fault, and the others are spared.
 * With fewer, each email may be at fault.
 */
const INTERRUPTIONS_MAX = 5;

const UNMADE = 'an unexpected error kept the message from being made';

const resultFrame = ({ emailId, subject }: AttemptLedger) => ({ emailId, subject });

/** Counts a result, and has it recorded. */
function settlerOf({ metrics, urgency, buffer }: SendLoopOptions) {
  return ({ envelope: { to }, queuedAt }: PreparedEmail, result: DeliveryResult): void => {
    metrics.note(result, { to, urgency, queuedAt });
    buffer.add(result);
  };
}

/** Counts that no server could be talked to. @returns the failure that says so */
function unavailable({ metrics, config }: SendLoopOptions, error: SmtpUnavailableError): Error {
  metrics.relayUnavailable();
  return smtpUnavailableFailure(error, config.DELIVERY_PAUSE_SECONDS);
}

/** Notes that there is no message of an email: a later attempt may make it, after the last one it is FAILED. */
function leave({ buffer, unmade }: SendLoopOptions, email: AttemptLedger, cause: unknown): void {
  if (unmade.isLastAttempt) buffer.add({ ...resultFrame(email), verdict: 'failed', error: UNMADE });
  else unmade.causes.push(cause);
}

/** @returns undefined when the message could not be made */
async function messageOf(options: SendLoopOptions, email: PreparedEmail): Promise<RawMessage | undefined> {
  try {
    return await email.compose();
  } catch (error) {
    if (error instanceof UnsendableAddressError) throw error;
    leave(options, email, error);
    return undefined;
  }
}

/** Puts the results of emails to the sandbox in their place. */
function* answerSandbox(emails: Iterable<EmailToSend>, sandbox: SendLoopOptions['sandbox']): Generator<EmailToSend> {
  for (const email of emails) yield ('envelope' in email && sandbox.answer(email, email.envelope.to)) || email;
}

/**
 * Sends emails over the pool, a bounded number at a time, and puts each result into the buffer. Takes them one by one
 * from the iterable, so that only emails that will be sent are prepared.
 * @throws when no server can be connected to, or connections broke under several emails in a row; what was on the wire
 *   has been decided by then
 */
export async function sendEmails(emails: Iterable<EmailToSend>, options: SendLoopOptions): Promise<void> {
  const { buffer, pool, guard, signal, config, urgency } = options;
  const settle = settlerOf(options);
  await guard.ready();
  const iterator = answerSandbox(emails, options.sandbox);
  let broken: Error | undefined;
  let interruptionsInARow = 0;
  const isStopped = (): boolean =>
    broken !== undefined || signal.aborted || options.shouldStop() || buffer.failure() !== undefined;

  async function send(email: PreparedEmail, admission: Admission): Promise<void> {
    let isSettled = false;
    try {
      const message = await messageOf(options, email);
      if (!message) return;
      const isAlone = email.deferrals > 0;
      const outcome = await options.trace(email.emailId, () =>
        pool.send(email.envelope, message, { signal, urgency, isAlone, avoid: admission.avoid }),
      );
      const assessment = guard.settle(email.envelope, admission, outcome);
      isSettled = true;
      interruptionsInARow = outcome.kind === 'interrupted' ? interruptionsInARow + 1 : 0;
      if (interruptionsInARow >= INTERRUPTIONS_MAX) {
        broken ??= new SmtpUnavailableError(`connections broke under ${interruptionsInARow} messages in a row`);
      }
      settle(email, resultOf(email, outcome, config.DELIVERY_RETRY_SECONDS, assessment));
    } catch (error) {
      if (error instanceof NoOtherServerError) settle(email, heldResult(email, guard.unreachable(admission)));
      else if (error instanceof UnsendableAddressError) {
        settle(email, { ...resultFrame(email), verdict: 'failed', error: error.message });
      } else throw error;
    } finally {
      if (!isSettled) guard.abandon(admission);
    }
  }

  /** One of these runs per email in flight. */
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
        if ('cause' in next.value) {
          leave(options, next.value, next.value.cause);
          continue;
        }
        const admission = await guard.admit(next.value.envelope, options.projectId, signal);
        if ('wait' in admission) {
          settle(next.value, heldResult(next.value, admission));
          continue;
        }
        if (options.pace) await options.pace();
        if (isStopped()) {
          guard.abandon(admission);
          return;
        }
        await send(next.value, admission);
      }
    } catch (error) {
      if (!signal.aborted) broken ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  await Promise.all(Array.from({ length: Math.min(options.concurrency, options.mailCount) }, lane));
  if (broken instanceof SmtpUnavailableError) throw unavailable(options, broken);
  if (broken !== undefined) throw broken;
}
