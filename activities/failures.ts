import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../shared/pure/app-error.ts';
import { isDatabaseUnavailable } from '../shared/domain/database-errors.ts';
import { SmtpUnavailableError } from '../shared/platform/mail/smtp-pool.ts';

const SMTP_PAUSE = '15 seconds';
const DATABASE_PAUSE = '2 seconds';
const DISABLED_PAUSE = '1 minute';

/** The project may not send just now; the work waits and goes on when it is enabled again. */
export function projectDisabledFailure(projectId: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ProjectDisabled',
    message: `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`,
    nextRetryDelay: DISABLED_PAUSE,
    category: 'BENIGN',
  });
}

/**
 * What an operator reads in the Temporal UI: what is wrong, what happens now, what to do. Messages of unknown errors
 * are kept, their causes are not: they may hold content of mail.
 */
export function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof SmtpUnavailableError) {
    return ApplicationFailure.create({
      type: 'SmtpUnavailable',
      message: `No SMTP server takes mail: ${error.message}. The mail waits and is tried again; check SMTP_URL and the server.`,
      nextRetryDelay: SMTP_PAUSE,
      category: 'BENIGN',
    });
  }
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
