import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../shared/pure/app-error.ts';
import { ERROR_CATALOGUE } from '../shared/pure/error-catalogue.ts';
import { redactText } from '../shared/pure/redact.ts';
import { isDatabaseUnavailable, isTooSlow } from '../shared/domain/database/database-errors.ts';
import { SealError } from '../shared/platform/sealed-values.ts';
import type { SmtpUnavailableError } from '../shared/platform/smtp/smtp-pool.ts';
import { attemptMemory, remember } from './attempt.ts';

const DATABASE_PAUSE = '2 seconds';
const MEMORY_PAUSE = '2 seconds';
/**
 * How often an unexpected error is tried again, after pauses of 1, 2, 4 … up to 300 seconds: for about an hour, in
 * which a faulty release can be rolled back.
 */
const FAULTS_MAX = 20;
const FAULT_PAUSE_MS_MAX = 300_000;
const DAY_MS = 24 * 60 * 60_000;
/**
 * How long emails of an activity may wait for an SMTP server, or for the secret that their DKIM key was sealed under.
 * Nobody wants a password reset of the day before yesterday.
 */
const OUTAGE_MS_MAX = { transactional: 2 * DAY_MS, campaign: 7 * DAY_MS } as const;
/** A longer silence between two attempts is no outage of a server: no worker was there, or the project was disabled. */
const SILENCE_MS_MAX = 15 * 60_000;
/** Work that has waited for an hour is tried every three minutes. */
const PAUSE_SHARE = 20;
const PAUSE_MS_MAX = 300_000;

/** Grows with the time that the activity has been waiting, because much other work may be waiting, too. */
function pauseMs(pauseSeconds: number): number {
  const waitedMs = Date.now() - Context.current().info.scheduledTimestampMs;
  return Math.max(pauseSeconds * 1_000, Math.min(waitedMs / PAUSE_SHARE, PAUSE_MS_MAX));
}

/** The project may not send just now; the work waits and goes on when it is enabled again. */
export function projectDisabledFailure(projectId: string, pauseSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ProjectDisabled',
    message: `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`,
    nextRetryDelay: pauseMs(pauseSeconds),
    category: 'BENIGN',
  });
}

/** Recipients report emails of the project as spam; the campaign holds until the rate falls or somebody resumes it. */
export function complaintHoldFailure(campaignId: string, pauseMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ComplaintHold',
    message: `Campaign ${campaignId} holds, because too many readers call emails of its project spam. Its field waiting says more.`,
    nextRetryDelay: pauseMs,
    category: 'BENIGN',
  });
}

const SMTP_UNAVAILABLE = 'SmtpUnavailable';

/** No server takes mail just now; the work waits and goes on when one does. */
export function smtpUnavailableFailure(error: SmtpUnavailableError, pauseSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: SMTP_UNAVAILABLE,
    message: `No SMTP server takes mail: ${redactText(error.message)}. The email waits and is tried again; check SMTP_URL and the server.`,
    nextRetryDelay: pauseMs(pauseSeconds),
    category: 'BENIGN',
  });
}

/** Whether an attempt ended because no SMTP server could be talked to. */
export function isSmtpUnavailable(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === SMTP_UNAVAILABLE;
}

const SECRET_UNREADABLE = 'SecretUnreadable';
const SECRET_PAUSE_SECONDS = 15;

/** A stored secret waits for the APP_SECRET that opens it: mail must not go out unsigned meanwhile. */
function secretUnreadableFailure(error: SealError): ApplicationFailure {
  return ApplicationFailure.create({
    type: SECRET_UNREADABLE,
    message: `${error.message}. The work waits and is tried again; correct the settings of the worker.`,
    nextRetryDelay: pauseMs(SECRET_PAUSE_SECONDS),
  });
}

/** A fault that an operator or a server has to end. Waiting for that is bounded. */
const OUTAGES: Record<string, (days: number) => string> = {
  [SMTP_UNAVAILABLE]: (days) => `No SMTP server took mail for ${days} days.`,
  [SECRET_UNREADABLE]: (days) => `A stored secret could not be read for ${days} days.`,
};

/** The project and all its data are gone, so its email is not needed. */
export function projectGoneFailure(projectId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Project ${projectId} has been deleted.`, 'ProjectGone');
}

/** The memory that large messages share is in use. */
export function memoryBusyFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'MemoryBusy',
    message: 'Other large messages are being sent. This one waits for its turn.',
    nextRetryDelay: MEMORY_PAUSE,
    category: 'BENIGN',
  });
}

/** An attempt that is alive but makes no progress. */
export function stalledFailure(stallMs: number): ApplicationFailure {
  return unforeseen('Stalled', `The work made no progress for ${Math.round(stallMs / 60_000)} minutes.`);
}

function databaseUnavailableFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'DatabaseUnavailable',
    message: 'PostgreSQL cannot be reached. The work waits and is tried again; check DATABASE_URL and the server.',
    nextRetryDelay: DATABASE_PAUSE,
    category: 'BENIGN',
  });
}

/** Marks a failure whose repetitions are counted. */
const UNFORESEEN = 'unforeseen';

function unforeseen(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, details: [UNFORESEEN] });
}

function isUnforeseen(failure: ApplicationFailure): boolean {
  return failure.details?.[0] === UNFORESEEN;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UnknownError';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

/**
 * The text for operators in the Temporal UI: what is wrong, what happens now, what to do. It holds no texts of errors,
 * because they may hold addresses and content. An application error would be refused again, so it is final.
 */
export function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isTooSlow(error)) return unforeseen('StatementTooSlow', 'PostgreSQL ended a statement that took too long.');
  if (isDatabaseUnavailable(error)) return databaseUnavailableFailure();
  if (error instanceof SealError) return secretUnreadableFailure(error);
  if (error instanceof AppError && error.statusCode < 500) {
    return ApplicationFailure.nonRetryable(`${ERROR_CATALOGUE[error.code].message}.`, error.code);
  }
  return unforeseen(
    error instanceof Error ? error.name : 'UnknownError',
    `An unexpected error (${nameOf(error)}); the log of the worker has it.`,
  );
}

/** Cancellation has its own error, which Temporal must see as it is. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && (error.name === 'CancelledFailure' || error.name === 'AbortError');
}

/**
 * Call at the beginning of an attempt. A repetition counts as a fault until it ends in an expected error or makes
 * progress, because the work may be what kills its worker.
 * @throws ApplicationFailure, not to be repeated, when there have been too many
 */
export function beginAttempt(): void {
  const { attempt } = Context.current().info;
  if (attempt === 1) return;
  const faults = attemptMemory().faults ?? 0;
  if (faults >= FAULTS_MAX) throw givenUp(unforeseen('WorkerLost', 'The worker was lost each time.'));
  remember({ faults: faults + 1 });
}

/** Whether an unexpected error would have the activity given up. */
export function isLastAttempt(): boolean {
  return (attemptMemory().faults ?? 0) >= FAULTS_MAX;
}

/**
 * Turns the error that ended an attempt into a failure for Temporal.
 * @param report gets unexpected errors with their full text
 */
export function endAttempt(error: unknown, report: (error: unknown) => void): unknown {
  const { faults = 0 } = attemptMemory();
  if (isAborted(error)) {
    if (faults > 0) remember({ faults: faults - 1 });
    return error;
  }
  const failure = toFailure(error);
  if (!isUnforeseen(failure)) {
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

/** Adds up how long an outage has lasted, and gives up in the end. */
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
