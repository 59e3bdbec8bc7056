import type { Client } from '@temporalio/client';
import { createTestNamespace } from './temporal.ts';
import { startWorkflowWorkers, type WorkflowWorkers } from './workflows.ts';

export interface TestWorkflows extends WorkflowWorkers {
  client: Client;
}

/** Like `startWorkflowWorkers`, on the shared server, in a namespace for one test file. */
export async function startTestWorkflows(): Promise<TestWorkflows> {
  const temporal = await createTestNamespace();
  const { withActivities, stop } = await startWorkflowWorkers(temporal);
  return {
    client: temporal.client,
    withActivities,
    async stop() {
      await stop();
      await temporal.close();
    },
  };
}
