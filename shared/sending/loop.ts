import type { DeliveryMetrics } from './delivery-metrics.ts';
import type { Permit } from './permit/permit.ts';
import type { Grant, Question } from './permit/question.ts';
import type {
  AttemptLedger,
  DeliveryResult,
  BatchWaits,
  Emails,
  EmailToSend,
  PreparedEmail,
  SandboxPort,
} from './ports.ts';
import { Lanes } from './lanes.ts';
import { PatientEmails, type PatientOptions } from './patient-emails.ts';
import { traceSending, type SpanParent } from './send-span.ts';
import type { ResultBuffer } from './results/result-buffer.ts';
import type { SlotOfAttempt } from './sending-slots.ts';
import type { RawMessage } from './transport/data-content.ts';
import {
  MESSAGE_MS_MAX,
  NoOtherServerError,
  NoWayError,
  SmtpUnavailableError,
  StalePermitError,
  type SmtpOutcome,
  type SmtpPool,
  type SmtpUrgency,
} from './transport/smtp-pool.ts';
import { UnsendableEmailError, Utf8NotOfferedError } from './transport/wire-address.ts';
import { heldResult, resultOf } from './verdict/delivery-result.ts';

/**
 * The messages of an attempt that could not be composed. They do not delay others: at its end the attempt throws the
 * first cause and is repeated, and the last attempt marks these emails as failed.
 */
export interface UnmadeMessages {
  /** Whether no attempt follows this one because of the cause. */
  isLastAttempt: (cause: unknown) => boolean;
  causes: Error[];
}

/** What all attempts of a process share. */
export interface LoopParts {
  pool: SmtpPool;
  /** Holds emails that relays or providers refuse. */
  permit: Pick<Permit, 'ready' | 'ask' | 'settle' | 'abandon' | 'unreachable' | 'watch'>;
  sandbox: SandboxPort;
  metrics: DeliveryMetrics;
  /** The pauses after deferrals. */
  retrySeconds: readonly number[];
}

/** What the batches of an attempt share. */
export interface LoopOptions extends LoopParts, BatchWaits {
  unmade: UnmadeMessages;
  urgency: SmtpUrgency;
  /** The project that the emails belong to. */
  projectId: string;
  buffer: ResultBuffer;
  signal: AbortSignal;
  /** Whether no more email may be sent. */
  shouldStop: () => boolean;
  /** Awaited before each email of a throttled project. */
  pace?: (() => Promise<void>) | undefined;
  traceOf: (emailId: string) => SpanParent | undefined;
  /** How long the batch may wait at its end for emails that traffic rules keep back. */
  lingerMs: number;
  /** The slot of the attempt, which all of its batches share. */
  slot: SlotOfAttempt;
}

/** Why some relays cannot carry an email. */
type Unfit = Utf8NotOfferedError | NoWayError;

/**
 * How long sending may take without a result, in milliseconds: for a server that is slow at every command, and for
 * recording the results.
 */
export const SEND_STALL_MS = MESSAGE_MS_MAX + 5 * 60_000;

/**
 * If connections break under this many different emails in a row, the fault is that of the server, and the other emails
 * are not tried. With fewer, each email may be the cause.
 */
const INTERRUPTIONS_MAX = 5;

/** A reply of the server, such as 421. */
const REPLY_CODE = /^[45]\d\d\b/;

/** Creates the count of connections that broke in a row. It tells whether the server is at fault. */
function createInterruptionCount() {
  let providers: string[] = [];
  let hasReplies = true;
  return (outcome: SmtpOutcome, provider: string): boolean => {
    if (outcome.kind !== 'interrupted') {
      providers = [];
      hasReplies = true;
      return false;
    }
    providers.push(provider);
    hasReplies &&= REPLY_CODE.test(outcome.reply);
    // Replies such as 421 to emails for a single provider may be that provider's; several mail hosts have each their own.
    const isOfProvider = new Set(providers).size === 1 ? hasReplies : outcome.server !== undefined;
    return providers.length >= INTERRUPTIONS_MAX && !isOfProvider;
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const UNMADE = 'the message could not be composed because of an unexpected error';

const resultFrame = ({ emailId, subject }: AttemptLedger) => ({ emailId, subject });

/** The result of an email that no server can take. */
const unsendable = (email: AttemptLedger, { message: error }: UnsendableEmailError): DeliveryResult => ({
  ...resultFrame(email),
  verdict: 'failed',
  error,
});

/** Creates the function that counts a result and passes it to the buffer. */
function settlerOf({ metrics, urgency, buffer }: LoopOptions) {
  return ({ envelope: { to }, queuedAt }: PreparedEmail, result: DeliveryResult, recorded?: () => void): void => {
    metrics.note(result, { to, urgency, queuedAt });
    buffer.add(result, recorded);
  };
}

/**
 * Notes that the message of an email could not be composed: a later attempt tries again; after the last one the email
 * is FAILED.
 */
function noteUnmade({ buffer, unmade }: LoopOptions, email: AttemptLedger, cause: unknown): void {
  if (unmade.isLastAttempt(cause)) buffer.add({ ...resultFrame(email), verdict: 'failed', error: UNMADE });
  else unmade.causes.push(asError(cause));
}

/**
 * Composes the message of an email.
 * @returns undefined when that failed
 * @throws UnsendableEmailError
 */
async function messageOf(options: LoopOptions, email: PreparedEmail): Promise<RawMessage | undefined> {
  try {
    return await email.compose();
  } catch (error) {
    if (error instanceof UnsendableEmailError) throw error;
    noteUnmade(options, email, error);
    return undefined;
  }
}

/** Whose the emails of an attempt are, for the turns of those that traffic rules keep back. */
const ownerOf = ({ projectId, urgency }: Pick<LoopOptions, 'projectId' | 'urgency'>): string =>
  `${projectId} ${urgency}`;

/** What the permit is asked about an email. */
function questionOf(
  { envelope, queuedAt, heldAt, answered, isMarketing }: PreparedEmail,
  { projectId, signal, urgency }: LoopOptions,
): Question {
  const stream = (isMarketing ?? urgency === 'campaign') ? 'marketing' : 'transactional';
  // Emails of a campaign wait for each other; they are due when they are first taken.
  const due = queuedAt?.getTime() ?? answered?.firstMs ?? heldAt?.getTime();
  const owner = ownerOf({ projectId, urgency });
  return { projectId, owner, recipient: envelope.to, stream, signal, email: { dueMs: due ?? Date.now(), answered } };
}

/** Notes what is known of an email already. @returns the email, if a server must take it */
function forServer(options: LoopOptions, taken: EmailToSend): PreparedEmail | undefined {
  const email = ('envelope' in taken && options.sandbox.answer(taken, taken.envelope.to)) || taken;
  if ('verdict' in email) options.buffer.add(email);
  else if ('cause' in email) noteUnmade(options, email, email.cause);
  else return email;
  return undefined;
}

/**
 * Sends emails through the pool, up to `concurrency` at a time, and adds each result to the buffer. It takes them one by
 * one from the iterable, so that only emails about to be sent are prepared.
 * @throws SmtpUnavailableError when no server can be connected to, or connections broke under several emails in a row;
 *   emails in flight have been decided by then
 */
export async function sendEmails(emails: Emails, concurrency: number, options: LoopOptions): Promise<void> {
  const { buffer, pool, permit, signal, retrySeconds, urgency, traceOf } = options;
  const settle = settlerOf(options);
  await permit.ready();
  let broken: Error | undefined;
  const isServerAtFault = createInterruptionCount();
  const isStopped = (): boolean =>
    broken !== undefined || signal.aborted || options.shouldStop() || buffer.failure() !== undefined;
  let atWork = 0;
  const hold: PatientOptions['hold'] = (email, why, recorded) => settle(email, heldResult(email, why), recorded);
  const patient = new PatientEmails({ ...options, emails, isStopped, isSending: () => atWork > 0, hold });

  /** @returns why the email needs another permit, if it does */
  async function send(email: PreparedEmail, grant: Grant, onSilence: () => void): Promise<Unfit | 'stale' | undefined> {
    let isSettled = false;
    try {
      const message = await messageOf(options, email);
      if (!message) return undefined;
      const how = { signal, urgency, isAlone: email.deferrals > 0, avoid: grant.avoid, limits: grant.rules, onSilence };
      const outcome = await traceSending(email.emailId, traceOf(email.emailId), () =>
        pool.send(email.envelope, message, how),
      );
      const assessment = permit.settle(grant, outcome);
      isSettled = true;
      if (isServerAtFault(outcome, grant.provider)) {
        broken ??= new SmtpUnavailableError(`connections broke under ${INTERRUPTIONS_MAX} messages in a row`);
      }
      settle(email, { ...resultOf(email, outcome, retrySeconds, assessment), ...assessment.kept });
    } catch (error) {
      if (error instanceof NoOtherServerError) patient.hold(email, permit.unreachable(grant));
      else if (error instanceof Utf8NotOfferedError || error instanceof NoWayError) return error;
      else if (error instanceof StalePermitError) return 'stale';
      else if (error instanceof UnsendableEmailError) settle(email, unsendable(email, error));
      else throw error;
    } finally {
      if (!isSettled) permit.abandon(grant);
    }
    return undefined;
  }

  /** Sends an email if it may go now. @param unfit relays that cannot carry it, so that it goes to another one */
  async function offer(email: PreparedEmail, onSilence: () => void, unfit: readonly Unfit[] = []): Promise<void> {
    const missed = unfit.flatMap(({ relays }) => relays);
    const answer = await permit.ask(questionOf(email, options), missed);
    if (!answer) {
      const last = unfit.at(-1);
      if (last instanceof NoWayError) settle(email, resultOf(email, last.outcome, retrySeconds));
      else if (last) settle(email, unsendable(email, last));
    } else if ('hold' in answer || 'until' in answer) patient.putOff(email, answer);
    else {
      if (options.pace) await options.pace();
      if (isStopped()) {
        permit.abandon(answer);
        return;
      }
      const lacking = await send(email, answer, onSilence);
      if (lacking) await offer(email, onSilence, lacking === 'stale' ? unfit : [...unfit, lacking]);
    }
  }

  /** Sends one email after another. One lane runs for each email in flight. */
  async function lane(): Promise<void> {
    try {
      for (;;) {
        await buffer.ready();
        if (isStopped()) return;
        const taken = await patient.next();
        // The next email may have been loaded meanwhile.
        if (isStopped() || !taken) return;
        const email = forServer(options, taken);
        if (!email) continue;
        atWork += 1;
        const goesOn = await lanes.work((onSilence) => offer(email, onSilence)).finally(() => (atWork -= 1));
        if (!goesOn) return;
      }
    } catch (error) {
      if (!signal.aborted) broken ??= asError(error);
    } finally {
      if (isStopped()) patient.wake();
    }
  }

  const lanes = new Lanes(lane, options.slot);
  const unwatch = permit.watch(ownerOf(options), (key) => patient.free(key));
  await lanes.run(concurrency).finally(unwatch);
  if (broken instanceof SmtpUnavailableError) options.metrics.relayUnavailable();
  if (broken !== undefined) throw broken;
}
