import { TestWorkflowEnvironment } from '@temporalio/testing';
import { testEnvironment } from './environment.ts';

/** The SDK waits five seconds for the server, which a machine at its limit does not always start in. */
const START_ATTEMPTS = 5;

/** Starts Temporal's test server, where waiting takes no time. */
export async function startTimeSkippingServer(attempt = 1): Promise<TestWorkflowEnvironment> {
  const executable = { type: 'existing-path', path: testEnvironment().timeSkippingServerPath } as const;
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  } catch (error) {
    if (attempt === START_ATTEMPTS) throw error;
    return startTimeSkippingServer(attempt + 1);
  }
}
