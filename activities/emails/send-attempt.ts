import type { EmailClaim } from '../../shared/domain/campaigns/result-sink.ts';
import { readSendPolicy, type SendPolicy } from '../../shared/domain/emails/send-budget.ts';
import { SEND_STALL_MS } from '../../shared/sending/loop.ts';
import type { Attempt, Sender } from '../../shared/sending/sender.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import { lastAttempt } from '../../shared/durable/attempts/failures.ts';
import { withHeartbeat, type HeartbeatOptions } from '../../shared/durable/attempts/heartbeat.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure, sendingFailure } from '../failures.ts';
import { reserveNextAttempt, sliceSize, takeReservation, type Throttle } from './send-throttle.ts';

/** Emails that servers accepted, by claim, that could not be recorded before the attempt ended. */
const keptResults = keptValue<NonNullable<ReturnType<Attempt['carried']['get']>>>('unrecorded');

export interface SendingDeps extends ActivityDeps {
  send: Sender<EmailClaim>;
}

/**
 * Whether and how fast a project may send; undefined when the project is gone.
 * @throws ApplicationFailure while the project is disabled
 */
export async function policyOf({ orm, config }: ActivityDeps, projectId: string): Promise<SendPolicy | undefined> {
  const policy = await readSendPolicy(orm.em.fork(), projectId, config.EMAIL_RATE_PER_SECOND);
  if (policy?.isDisabled) throw projectDisabledFailure(projectId, config.DELIVERY_PAUSE_SECONDS);
  return policy;
}

/**
 * Runs work that sends email, with heartbeats until the results are recorded, which may have to wait for PostgreSQL.
 * @throws ApplicationFailure when no server takes email now, or when there is no memory for large messages
 */
export async function withSending<T>(
  deps: ActivityDeps,
  { projectId, ratePerSecond, isUrgent }: Pick<Throttle, 'projectId' | 'ratePerSecond' | 'isUrgent'>,
  work: (attempt: Attempt) => Promise<T>,
  progress?: HeartbeatOptions['progress'],
): Promise<T> {
  const isLastAttempt = lastAttempt();
  const sending = (signal: AbortSignal, advance: () => void, wait: (error: unknown) => void): Promise<T> => {
    const throttle = { em: () => deps.orm.em.fork(), projectId, ratePerSecond, isUrgent, signal };
    return work({
      ...{ signal, advance, wait, isLastAttempt },
      carried: keptResults,
      speed:
        ratePerSecond === 0
          ? undefined
          : {
              size: () => sliceSize(ratePerSecond),
              take: (count) => takeReservation(throttle, count),
              next: (count) => reserveNextAttempt(throttle, count),
            },
    });
  };
  return withHeartbeat(deps, sending, { ...(progress && { progress }), stallMs: SEND_STALL_MS }).catch(
    (error: unknown) => {
      throw sendingFailure(error, deps.config.DELIVERY_PAUSE_SECONDS);
    },
  );
}
