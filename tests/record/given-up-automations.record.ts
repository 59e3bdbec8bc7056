import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { storeHistory } from '../support/histories.ts';
import { startWorkflowWorkers } from '../support/workflows.ts';

const TIMEOUT_MS = 60_000;

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(() => temporal.close());

it(
  'records an execution whose steps are given up',
  async () => {
    const executionId = randomUUID();
    const workflowId = executionWorkflowId(executionId);
    const activities = {
      // The end of twenty attempts after an unexpected error, which would take an hour.
      async runSteps(): Promise<never> {
        throw ApplicationFailure.nonRetryable('An unexpected error. Given up after 20 times.', 'TypeError');
      },
      failExecution: async () => undefined,
    };
    const workers = await startWorkflowWorkers(temporal);
    await workers.withActivities(activities, async () => {
      const handle = await temporal.client.workflow.start(WORKFLOW_TYPES.automationExecution, {
        workflowId,
        taskQueue: TASK_QUEUES.executions,
        args: [{ executionId, next: 'first step' }],
      });
      await handle.result().catch(() => undefined);
    });
    await workers.stop();
    await storeHistory(temporal.client, workflowId, 'automationExecution.given-up');
  },
  TIMEOUT_MS,
);
