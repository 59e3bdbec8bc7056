import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../shared/pure/app-error.ts';
import { ERROR_CATALOGUE } from '../shared/pure/error-catalogue.ts';
import { redactText } from '../shared/pure/redact.ts';
import { databaseFaultReason, isCallersCost, isDatabaseFault } from '../shared/database/database-errors.ts';
import { SealError } from '../shared/platform/sealed-values.ts';
import { MemoryBusyError } from '../shared/sending/large-messages.ts';
import { SmtpUnavailableError } from '../shared/sending/transport/smtp-pool.ts';
import { attemptMemory, remember } from './attempt.ts';

const DATABASE_PAUSE = '2 seconds';
const MEMORY_PAUSE = '2 seconds';
const TURN_PAUSE = '100 milliseconds';
/**
 * The number of attempts that end in an unexpected error. With pauses of 1, 2, 4 … up to 300 seconds they take about an
 * hour, in which a faulty release can be rolled back.
 */
const FAULTS_MAX = 20;
const FAULT_PAUSE_MS_MAX = 300_000;
const DAY_MS = 24 * 60 * 60_000;
/**
 * How long emails may wait for an SMTP server, or for the secret that their DKIM key was sealed under. A password reset
 * of two days ago is of no use.
 */
const OUTAGE_MS_MAX = { transactional: 2 * DAY_MS, campaign: 7 * DAY_MS } as const;
/**
 * A longer time between two attempts does not count as an outage: no worker was running, or the project was disabled.
 */
const SILENCE_MS_MAX = 15 * 60_000;
/** A pause is the waiting time divided by this: after an hour of waiting, three minutes. */
const PAUSE_DIVISOR = 20;
const PAUSE_MS_MAX = 300_000;

/**
 * The pause before the next attempt. It grows with the waiting time of the activity, because much other work may be
 * waiting, too.
 */
function pauseMs(pauseSeconds: number): number {
  const waitedMs = Date.now() - Context.current().info.scheduledTimestampMs;
  return Math.max(pauseSeconds * 1_000, Math.min(waitedMs / PAUSE_DIVISOR, PAUSE_MS_MAX));
}

/** The project is disabled. Its email waits until it is enabled again. */
export function projectDisabledFailure(projectId: string, pauseSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ProjectDisabled',
    message: `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`,
    nextRetryDelay: pauseMs(pauseSeconds),
    category: 'BENIGN',
  });
}

/**
 * Recipients report emails of the project as spam. The campaign holds until the rate falls or somebody continues it.
 */
export function complaintHoldFailure(campaignId: string, pauseMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ComplaintHold',
    message:
      `Campaign ${campaignId} holds: too many recipients report emails of its project as spam. ` +
      'Its field "waiting" says more.',
    nextRetryDelay: pauseMs,
    category: 'BENIGN',
  });
}

const SMTP_UNAVAILABLE = 'SmtpUnavailable';

/** Turns an error of the sending engine into a failure, after which the email waits; keeps others. */
export function sendingFailure(error: unknown, pauseSeconds: number): unknown {
  if (error instanceof MemoryBusyError) return memoryBusyFailure();
  if (!(error instanceof SmtpUnavailableError)) return error;
  return ApplicationFailure.create({
    type: SMTP_UNAVAILABLE,
    message:
      `No SMTP server takes email: ${redactText(error.message)}. ` +
      'The email waits and is tried again; check SMTP_URL and the server.',
    nextRetryDelay: pauseMs(pauseSeconds),
    category: 'BENIGN',
  });
}

const SECRET_UNREADABLE = 'SecretUnreadable';
const SECRET_PAUSE_SECONDS = 15;

/**
 * A stored secret cannot be opened. The work waits for the right APP_SECRET, because email must not be sent unsigned.
 */
function secretUnreadableFailure(error: SealError): ApplicationFailure {
  return ApplicationFailure.create({
    type: SECRET_UNREADABLE,
    message: `${error.message}. The work waits and is tried again; correct the settings of the worker.`,
    nextRetryDelay: pauseMs(SECRET_PAUSE_SECONDS),
  });
}

/** The messages after outages that lasted too long. Only an operator or a server can end such an outage. */
const OUTAGES: Record<string, (days: number) => string> = {
  [SMTP_UNAVAILABLE]: (days) => `No SMTP server took mail for ${days} days.`,
  [SECRET_UNREADABLE]: (days) => `A stored secret could not be read for ${days} days.`,
};

/** The project was deleted with all its data, so its email is not sent. */
export function projectGoneFailure(projectId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Project ${projectId} has been deleted.`, 'ProjectGone');
}

/** Other large messages use all the memory that large messages share. */
function memoryBusyFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'MemoryBusy',
    message: 'Other large messages are being sent. This one waits for its turn.',
    nextRetryDelay: MEMORY_PAUSE,
    category: 'BENIGN',
  });
}

const TURN_OVER = 'TurnOver';

/** The attempt has had its slot for long enough. The next one goes on, after other work that waits for a slot. */
export function turnOverFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: TURN_OVER,
    message: 'Other work has its turn. This work continues afterwards.',
    nextRetryDelay: TURN_PAUSE,
    category: 'BENIGN',
  });
}

/** The attempt is alive but makes no progress. */
export function stalledFailure(stallMs: number): ApplicationFailure {
  return unexpectedFailure('Stalled', `The work made no progress for ${Math.round(stallMs / 60_000)} minutes.`);
}

const DATABASE_UNAVAILABLE = 'DatabaseUnavailable';

/**
 * PostgreSQL is away, locked, slow, full or read-only, or refuses its own tables. That is never the fault of the work,
 * which waits without an end.
 */
function databaseUnavailableFailure(error: unknown): ApplicationFailure {
  const reason = redactText(databaseFaultReason(error));
  return ApplicationFailure.create({
    type: DATABASE_UNAVAILABLE,
    message: `PostgreSQL cannot serve: ${reason}. The work waits and is tried again; check DATABASE_URL and the server.`,
    nextRetryDelay: DATABASE_PAUSE,
    category: 'BENIGN',
  });
}

/** Marks a failure after an unexpected error; its repetitions are counted. */
const UNEXPECTED = 'unexpected';

function unexpectedFailure(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, details: [UNEXPECTED] });
}

function isUnexpected(failure: ApplicationFailure): boolean {
  return failure.details?.[0] === UNEXPECTED;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UnknownError';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

/**
 * Turns an error into a failure whose message tells operators in the Temporal UI what is wrong, what happens now, and
 * what to do. It does not contain the message of the error, which may contain addresses and content. An application
 * error (4xx) would come again, so it is final.
 */
function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isCallersCost(error)) {
    return unexpectedFailure('StatementTooSlow', 'PostgreSQL ended a statement whose condition took too long.');
  }
  if (isDatabaseFault(error)) return databaseUnavailableFailure(error);
  if (error instanceof SealError) return secretUnreadableFailure(error);
  if (error instanceof AppError && error.statusCode < 500) {
    return ApplicationFailure.nonRetryable(`${ERROR_CATALOGUE[error.code].message}.`, error.code);
  }
  return unexpectedFailure(
    error instanceof Error ? error.name : 'UnknownError',
    `An unexpected error (${nameOf(error)}); the log of the worker has it.`,
  );
}

/** Whether an attempt was ended from outside: by a cancellation, or at the end of its turn. Temporal gets the error. */
function isInterrupted(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return error.type === TURN_OVER;
  return error instanceof Error && (error.name === 'CancelledFailure' || error.name === 'AbortError');
}

/**
 * Call this at the beginning of an attempt. A repetition counts as a fault until it ends in an expected error or makes
 * progress, because the work itself may have ended its worker.
 * @throws ApplicationFailure, which is not retried, after too many faults
 */
export function beginAttempt(): void {
  const { attempt } = Context.current().info;
  if (attempt === 1) return;
  const faults = attemptMemory().faults ?? 0;
  if (faults >= FAULTS_MAX) throw givenUp(unexpectedFailure('WorkerLost', 'The worker was lost each time.'));
  remember({ faults: faults + 1 });
}

/**
 * Notes shortly before the end of its time that the attempt is alive, so that its time-out does not count as a lost
 * worker: somebody made it wait.
 */
export function outliveAttempt(): void {
  const { faults = 0 } = attemptMemory();
  if (faults > 0) remember({ faults: faults - 1 });
}

/**
 * Call this at the beginning of an attempt, because progress makes earlier faults forgotten.
 * @returns a function that tells whether the activity is given up if the attempt ends in an error. Errors of the
 *   database and secrets to come never end it.
 */
export function lastAttempt(): (error: unknown) => boolean {
  const isLast = (attemptMemory().faults ?? 0) >= FAULTS_MAX;
  return (error) => isLast && isUnexpected(toFailure(error));
}

/** Why an attempt waits for PostgreSQL; undefined when it ended for another reason. */
export function databaseWaitReason(failure: unknown): string | undefined {
  const isWait = failure instanceof ApplicationFailure && failure.type === DATABASE_UNAVAILABLE;
  return isWait ? failure.message : undefined;
}

/**
 * Turns the error that ended an attempt into a failure for Temporal.
 * @param report gets unexpected errors with their full text
 */
export function endAttempt(error: unknown, report: (error: unknown) => void): unknown {
  const { faults = 0 } = attemptMemory();
  if (isInterrupted(error)) {
    if (faults > 0) remember({ faults: faults - 1 });
    return error;
  }
  const failure = toFailure(error);
  if (!isUnexpected(failure)) {
    if (faults > 0) remember({ faults: 0 });
    const gaveUp = failure.type ? OUTAGES[failure.type] : undefined;
    return gaveUp ? afterOutage(failure, gaveUp) : failure;
  }
  report(error);
  const count = Math.max(faults, 1);
  if (count >= FAULTS_MAX) return givenUp(failure);
  remember({ faults: count });
  return ApplicationFailure.create({
    ...(failure.type && { type: failure.type }),
    message: `${failure.message} It is tried again (${count} of ${FAULTS_MAX}).`,
    nextRetryDelay: Math.min(2 ** (count - 1) * 1_000, FAULT_PAUSE_MS_MAX),
  });
}

/**
 * Adds up the duration of an outage.
 * @returns the failure, which is final after the longest duration
 */
function afterOutage(failure: ApplicationFailure, gaveUp: (days: number) => string): ApplicationFailure {
  const now = Date.now();
  const { outage } = attemptMemory();
  const sinceMs = outage ? now - outage.seenAtMs : 0;
  const totalMs = (outage?.totalMs ?? 0) + (sinceMs <= Number(failure.nextRetryDelay) + SILENCE_MS_MAX ? sinceMs : 0);
  const { activityType } = Context.current().info;
  const longestMs = OUTAGE_MS_MAX[activityType === 'sendRecipientPage' ? 'campaign' : 'transactional'];
  if (totalMs > longestMs) {
    return ApplicationFailure.nonRetryable(gaveUp(longestMs / DAY_MS), failure.type);
  }
  remember({ outage: { totalMs, seenAtMs: now } });
  return failure;
}

function givenUp(failure: ApplicationFailure): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${failure.message} Given up after ${FAULTS_MAX} times.`, failure.type);
}
