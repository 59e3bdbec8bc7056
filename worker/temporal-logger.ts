import { DefaultLogger, type Logger as TemporalLogger } from '@temporalio/worker';
import type { Logger } from '../shared/platform/logger.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Each of our workers serves one queue with one kind of task, on purpose. */
const EXPECTED = /^No (?:workflows|activities) registered/;

/** Lets Temporal's SDK log through ours. Its INFO is about itself and is logged as debug. */
export function temporalLogger(logger: Logger): TemporalLogger {
  return new DefaultLogger('DEBUG', ({ level, message, meta }) => {
    const { workflowId, runId, activityType, attempt, error } = meta ?? {};
    logger[EXPECTED.test(message) ? 'debug' : LEVELS[level]](
      { workflowId, runId, activityType, attempt, err: error as unknown },
      message,
    );
  });
}
