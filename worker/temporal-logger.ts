import { DefaultLogger, type Logger as TemporalLogger } from '@temporalio/worker';
import type { Logger } from '../shared/platform/logger.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Expected warnings: each worker serves one task queue with one kind of task. */
const EXPECTED = /^No (?:workflows|activities) registered/;

/** Makes the Temporal SDK log through our logger. Its INFO messages are about itself and become debug messages. */
export function temporalLogger(logger: Logger): TemporalLogger {
  return new DefaultLogger('DEBUG', ({ level, message, meta }) => {
    // `failure` says why a workflow task fails, for example that the code does not fit the history.
    const { workflowId, runId, activityType, attempt, failure, error } = meta ?? {};
    logger[EXPECTED.test(message) ? 'debug' : LEVELS[level]](
      { workflowId, runId, activityType, attempt, failure, ...(error !== undefined && { err: error as unknown }) },
      message,
    );
  });
}
