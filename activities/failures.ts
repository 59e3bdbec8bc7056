import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../shared/pure/app-error.ts';
import { isDatabaseUnavailable } from '../shared/domain/database-errors.ts';
import type { SmtpUnavailableError } from '../shared/platform/mail/smtp-pool.ts';

const DATABASE_PAUSE = '2 seconds';

/** The project may not send just now; the work waits and goes on when it is enabled again. */
export function projectDisabledFailure(projectId: string, pauseSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ProjectDisabled',
    message: `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`,
    nextRetryDelay: pauseSeconds * 1_000,
    category: 'BENIGN',
  });
}

/** No server takes mail just now; the work waits and goes on when one does. */
export function smtpUnavailableFailure(error: SmtpUnavailableError, pauseSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'SmtpUnavailable',
    message: `No SMTP server takes mail: ${error.message}. The mail waits and is tried again; check SMTP_URL and the server.`,
    nextRetryDelay: pauseSeconds * 1_000,
    category: 'BENIGN',
  });
}

/**
 * What an operator reads in the Temporal UI: what is wrong, what happens now, what to do. Messages of unknown errors
 * are kept, their causes are not: they may hold content of mail.
 */
export function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isDatabaseUnavailable(error)) {
    return ApplicationFailure.create({
      type: 'DatabaseUnavailable',
      message: 'PostgreSQL cannot be reached. The work waits and is tried again; check DATABASE_URL and the server.',
      nextRetryDelay: DATABASE_PAUSE,
      category: 'BENIGN',
    });
  }
  if (error instanceof AppError) {
    return ApplicationFailure.create({ type: error.code, message: error.message });
  }
  return ApplicationFailure.create({
    type: error instanceof Error ? error.name : 'UnknownError',
    message: error instanceof Error ? error.message : String(error),
  });
}
