import type { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { beginAttempt, endAttempt } from '../activities/failures.ts';
import type { Logger } from '../shared/platform/logger.ts';

/**
 * Creates the interceptor that turns every error of an activity into a failure that says what is wrong and what to do,
 * and that limits retries.
 */
export function createFailureInterceptor(logger: Logger): ActivityInterceptorsFactory {
  return (context: Context) => ({
    inbound: {
      async execute(input, next) {
        try {
          beginAttempt();
          return await next(input);
        } catch (error) {
          throw endAttempt(error, (unexpected) => {
            const { activityType, attempt, workflowExecution } = context.info;
            logger.error(
              { err: unexpected, activity: activityType, attempt, workflowId: workflowExecution?.workflowId },
              'an unexpected error in an activity',
            );
          });
        }
      },
    },
  });
}
