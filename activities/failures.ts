import { ApplicationFailure } from '@temporalio/common';
import { DAY_MS } from '../shared/pure/days.ts';
import { growingPauseMs, outageFailure, waitFailure } from '../shared/durable/attempts/failures.ts';
import type { Hold } from '../shared/pure/emails/hold.ts';
import { redactText } from '../shared/pure/redact.ts';
import { MemoryBusyError } from '../shared/sending/large-messages.ts';
import { SmtpUnavailableError } from '../shared/sending/transport/smtp-pool.ts';

const MEMORY_PAUSE_MS = 2_000;

/**
 * How long the emails of an activity may wait for an SMTP server, or for the secret that their DKIM key was sealed
 * under, in milliseconds. A password reset of two days ago is of no use.
 */
export function outageMsMax(activityType: string): number {
  return (activityType === 'sendRecipientPage' ? 7 : 2) * DAY_MS;
}

/** The project is disabled. Its email waits until it is enabled again. */
export function projectDisabledFailure({ words }: Hold, pauseSeconds: number): ApplicationFailure {
  return waitFailure('ProjectDisabled', words ?? 'The project is disabled.', growingPauseMs(pauseSeconds));
}

/**
 * Recipients report emails of the project as spam. The campaign holds until the rate falls or somebody continues it.
 */
export function complaintHoldFailure(campaignId: string, pauseMs: number): ApplicationFailure {
  const words =
    `Campaign ${campaignId} holds: too many recipients report emails of its project as spam. ` +
    'Its field "waiting" says more.';
  return waitFailure('ComplaintHold', words, pauseMs);
}

/** Turns an error of the sending engine into a failure, after which the email waits; keeps others. */
export function sendingFailure(error: unknown, pauseSeconds: number): unknown {
  if (error instanceof MemoryBusyError) return memoryBusyFailure();
  if (!(error instanceof SmtpUnavailableError)) return error;
  const words =
    `No SMTP server takes email: ${redactText(error.message)}. ` +
    'The email waits and is tried again; check SMTP_URL and the server.';
  return outageFailure('SmtpUnavailable', words, {
    pauseMs: growingPauseMs(pauseSeconds),
    fault: 'No SMTP server took mail',
  });
}

/** The project was deleted with all its data, so its email is not sent. */
export function projectGoneFailure(projectId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Project ${projectId} has been deleted.`, 'ProjectGone');
}

/** Other large messages use all the memory that large messages share. */
function memoryBusyFailure(): ApplicationFailure {
  return waitFailure(
    'MemoryBusy',
    'Other large messages are being sent. This one waits for its turn.',
    MEMORY_PAUSE_MS,
  );
}
