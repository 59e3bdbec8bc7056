import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { DAY_MS } from '../../pure/days.ts';
import { AppError } from '../../pure/app-error.ts';
import { ERROR_CATALOGUE } from '../../pure/error-catalogue.ts';
import { redactText } from '../../pure/redact.ts';
import { databaseFaultReason, isCallersCost, isDatabaseFault } from '../../database/database-errors.ts';
import { SealError } from '../../platform/sealed-values.ts';
import { attemptMemory, remember } from './attempt.ts';

const DATABASE_PAUSE_MS = 2_000;
const TURN_PAUSE_MS = 100;
/** After this time, an attempt leaves its slot to other work that waits for one. */
const TURN_MS = 5_000;
/**
 * The number of attempts that end in an unexpected error. With pauses of 1, 2, 4 … up to 300 seconds they take about an
 * hour, in which a faulty release can be rolled back.
 */
const FAULTS_MAX = 20;
const FAULT_PAUSE_MS_MAX = 300_000;
/** A longer time between two attempts does not count as an outage: no worker was running, or the work had to wait. */
const SILENCE_MS_MAX = 15 * 60_000;
/** A pause is the waiting time divided by this: after an hour of waiting, three minutes. */
const PAUSE_DIVISOR = 20;
const PAUSE_MS_MAX = 300_000;

/**
 * The pause before the next attempt. It grows with the waiting time of the activity, because much other work may be
 * waiting, too.
 */
export function growingPauseMs(pauseSeconds: number): number {
  const waitedMs = Date.now() - Context.current().info.scheduledTimestampMs;
  return Math.max(pauseSeconds * 1_000, Math.min(waitedMs / PAUSE_DIVISOR, PAUSE_MS_MAX));
}

/** The work waits for something. That is nobody's fault, and it is tried again after `pauseMs` without an end. */
export function waitFailure(type: string, message: string, pauseMs: number): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nextRetryDelay: pauseMs, category: 'BENIGN' });
}

/** Marks a failure because of an outage. Its second detail is the fault. */
const OUTAGE = 'outage';

interface Outage {
  pauseMs: number;
  /** For the reason when the work is given up: "<fault> for 2 days." */
  fault: string;
}

/** The work waits for what only an operator or a server can mend. It is given up when the outage lasts for too long. */
export function outageFailure(type: string, message: string, { pauseMs, fault }: Outage): ApplicationFailure {
  const details = [OUTAGE, fault];
  return ApplicationFailure.create({ type, message, nextRetryDelay: pauseMs, category: 'BENIGN', details });
}

const SECRET_PAUSE_SECONDS = 15;

/**
 * A stored secret cannot be opened. The work waits for the right APP_SECRET, because email must not be sent unsigned.
 */
function secretUnreadableFailure(error: SealError): ApplicationFailure {
  return outageFailure(
    'SecretUnreadable',
    `${error.message}. The work waits and is tried again; correct the settings of the worker.`,
    { pauseMs: growingPauseMs(SECRET_PAUSE_SECONDS), fault: 'A stored secret could not be read' },
  );
}

const TURN_OVER = 'TurnOver';

/** The attempt has had its slot for long enough. The next one goes on, after other work that waits for a slot. */
export function turnOverFailure(): ApplicationFailure {
  return waitFailure(TURN_OVER, 'Other work has its turn. This work continues afterwards.', TURN_PAUSE_MS);
}

/**
 * Begins the turn of an attempt whose work has many parts, so that the work of one project does not occupy all slots.
 * The attempt checks the signal after a part, not before the first one, so that it makes progress.
 * @returns a signal that is aborted when the turn is over, with the failure to throw as its reason
 */
export function beginTurn(turnMs = TURN_MS): AbortSignal {
  const turn = new AbortController();
  setTimeout(() => turn.abort(turnOverFailure()), turnMs).unref();
  return turn.signal;
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
  return waitFailure(
    DATABASE_UNAVAILABLE,
    `PostgreSQL cannot serve: ${reason}. The work waits and is tried again; check DATABASE_URL and the server.`,
    DATABASE_PAUSE_MS,
  );
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

/** What the end of an attempt needs of the product. */
export interface AttemptEnd {
  /** Gets unexpected errors with their full text. */
  report: (error: unknown) => void;
  /** How long an outage may last before activities of a type are given up, in milliseconds. */
  outageMsMax: (activityType: string) => number;
}

/** Turns the error that ended an attempt into a failure for Temporal. */
export function endAttempt(error: unknown, { report, outageMsMax }: AttemptEnd): unknown {
  const { faults = 0 } = attemptMemory();
  if (isInterrupted(error)) {
    if (faults > 0) remember({ faults: faults - 1 });
    return error;
  }
  const failure = toFailure(error);
  if (!isUnexpected(failure)) {
    if (faults > 0) remember({ faults: 0 });
    return failure.details?.[0] === OUTAGE ? afterOutage(failure, outageMsMax) : failure;
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
function afterOutage(failure: ApplicationFailure, outageMsMax: AttemptEnd['outageMsMax']): ApplicationFailure {
  const now = Date.now();
  const { outage } = attemptMemory();
  const sinceMs = outage ? now - outage.seenAtMs : 0;
  const totalMs = (outage?.totalMs ?? 0) + (sinceMs <= Number(failure.nextRetryDelay) + SILENCE_MS_MAX ? sinceMs : 0);
  const longestMs = outageMsMax(Context.current().info.activityType);
  if (totalMs > longestMs) {
    const words = `${String(failure.details?.[1])} for ${longestMs / DAY_MS} days.`;
    return ApplicationFailure.nonRetryable(words, failure.type);
  }
  remember({ outage: { totalMs, seenAtMs: now } });
  return failure;
}

function givenUp(failure: ApplicationFailure): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${failure.message} Given up after ${FAULTS_MAX} times.`, failure.type);
}
