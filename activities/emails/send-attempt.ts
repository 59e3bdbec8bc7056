import { ApplicationFailure } from '@temporalio/common';
import type { EmailClaim } from '../../shared/domain/campaigns/result-sink.ts';
import { SEND_STALL_MS } from '../../shared/sending/loop.ts';
import type { Permit } from '../../shared/sending/permit/permit.ts';
import type { ProjectPolicy } from '../../shared/sending/ports.ts';
import type { Attempt, Sender } from '../../shared/sending/sender.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import { lastAttempt } from '../../shared/durable/attempts/failures.ts';
import { withHeartbeat, type HeartbeatOptions } from '../../shared/durable/attempts/heartbeat.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure, sendingFailure } from '../failures.ts';
import { SmtpUnavailableError } from '../../shared/sending/transport/smtp-pool.ts';
import { attemptSize, bookNextAttempt, takeTurns, type Throttle } from './booked-attempt.ts';

/** Emails that servers accepted, by claim, that could not be recorded before the attempt ended. */
const keptResults = keptValue<NonNullable<ReturnType<Attempt['carried']['get']>>>('unrecorded');

export interface SendingDeps extends ActivityDeps {
  send: Sender<EmailClaim>;
  permit: Permit;
}

/**
 * Whether and how fast a project may send; undefined when the project is gone.
 * @throws ApplicationFailure while the project is disabled
 */
export async function policyOf({ permit, config }: SendingDeps, projectId: string): Promise<ProjectPolicy | undefined> {
  const policy = await permit.policyOf(projectId);
  if (policy?.hold) throw projectDisabledFailure(policy.hold, config.DELIVERY_PAUSE_SECONDS);
  return policy;
}

/**
 * Runs work that sends email, with heartbeats until the results are recorded, which may have to wait for PostgreSQL.
 * @throws ApplicationFailure when no server takes email now, or when there is no memory for large messages
 */
export async function withSending<T>(
  deps: SendingDeps,
  stream: Omit<Throttle, 'permit' | 'signal'>,
  work: (attempt: Attempt) => Promise<T>,
  progress?: HeartbeatOptions['progress'],
): Promise<T> {
  const isLastAttempt = lastAttempt();
  const sending = (signal: AbortSignal, advance: () => void, wait: (error: unknown) => void): Promise<T> => {
    const throttle = { ...stream, permit: deps.permit, signal };
    return work({
      signal,
      advance,
      wait,
      isLastAttempt,
      carried: keptResults,
      speed:
        stream.ratePerSecond === 0
          ? undefined
          : {
              size: () => attemptSize(throttle),
              take: (count, waits) => takeTurns(throttle, count, waits),
              next: (count) => bookNextAttempt(throttle, count),
            },
    });
  };
  return withHeartbeat(deps, sending, { ...(progress && { progress }), stallMs: SEND_STALL_MS }).catch(
    async (error: unknown) => {
      const failure = sendingFailure(error, deps.config.DELIVERY_PAUSE_SECONDS);
      if (error instanceof SmtpUnavailableError) {
        const pauseMs = failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : 0;
        await deps.permit.note(stream.projectId, stream.stream, deps.permit.noRelay(pauseMs));
      }
      throw failure;
    },
  );
}
