import { TestWorkflowEnvironment } from '@temporalio/testing';
import { testEnvironment } from './environment.ts';

/** The SDK waits five seconds for the server to start, which is sometimes too short on a busy machine. */
const START_ATTEMPTS = 10;

/** Starts Temporal's test server, which skips the time of timers. */
export async function startTimeSkippingServer(attempt = 1): Promise<TestWorkflowEnvironment> {
  const executable = { type: 'existing-path', path: testEnvironment().timeSkippingServerPath } as const;
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  } catch (error) {
    if (attempt === START_ATTEMPTS) throw error;
    return startTimeSkippingServer(attempt + 1);
  }
}
