import type { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { outageMsMax } from '../activities/failures.ts';
import { beat } from '../shared/durable/attempts/attempt.ts';
import { beginAttempt, databaseWaitReason, endAttempt, outliveAttempt } from '../shared/durable/attempts/failures.ts';
import type { Logger } from '../shared/platform/logger.ts';

const HEARTBEAT_MS = 2_000;
/** How long before the end of its time an attempt says that it is alive; longer than heartbeats are held back. */
const OUTLIVE_MS = 8_000;
/** A fault of the database is written to the log this often, because all activities meet it. */
const DATABASE_LOG_MS = 30_000;

/**
 * Sends heartbeats until the attempt ends, so that a statement that waits is not taken for a lost worker.
 * @returns ends the heartbeats
 */
function keepAlive({ isLocal, heartbeatTimeoutMs, startToCloseTimeoutMs }: Context['info']): () => void {
  if (isLocal) return () => undefined;
  const beating = heartbeatTimeoutMs ? setInterval(beat, HEARTBEAT_MS) : undefined;
  const outliving = setTimeout(outliveAttempt, Math.max(0, startToCloseTimeoutMs - OUTLIVE_MS));
  return () => {
    clearInterval(beating);
    clearTimeout(outliving);
  };
}

/**
 * Creates the interceptor that keeps attempts alive, turns every error of an activity into a failure that says what is
 * wrong and what to do, and limits retries.
 */
export function createFailureInterceptor(logger: Logger): ActivityInterceptorsFactory {
  let loggedAt = -Infinity;

  function logDatabaseWait(failure: unknown, activity: string): void {
    const reason = databaseWaitReason(failure);
    if (reason === undefined || performance.now() - loggedAt < DATABASE_LOG_MS) return;
    loggedAt = performance.now();
    logger.warn({ activity }, reason);
  }

  return (context: Context) => ({
    inbound: {
      async execute(input, next) {
        const { activityType, attempt, workflowExecution } = context.info;
        let rest = (): void => undefined;
        try {
          beginAttempt();
          rest = keepAlive(context.info);
          return await next(input);
        } catch (error) {
          const report = (unexpected: unknown): void => {
            logger.error(
              { err: unexpected, activity: activityType, attempt, workflowId: workflowExecution?.workflowId },
              'an unexpected error in an activity',
            );
          };
          const failure = endAttempt(error, { report, outageMsMax });
          logDatabaseWait(failure, activityType);
          throw failure;
        } finally {
          rest();
        }
      },
    },
  });
}
