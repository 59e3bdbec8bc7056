import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { quietTemporal } from '../../tests/support/quiet-temporal.ts';
import { startTimeSkippingServer } from '../../tests/support/time-skipping-server.ts';
import { startWorkflowWorkers, type WorkflowWorkers } from '../../tests/support/workflows.ts';

quietTemporal();

let environment: TestWorkflowEnvironment;
let workers: WorkflowWorkers;
beforeAll(async () => {
  environment = await startTimeSkippingServer();
  const { nativeConnection: connection, namespace = 'default' } = environment;
  workers = await startWorkflowWorkers({ connection, namespace });
});
afterAll(async () => {
  await workers.stop();
  await environment.teardown();
});

type Steps = Pick<Activities, 'runSteps' | 'callWebhook'>;

/** Runs an execution on activities of the test's own. @returns how its row was closed, and how the workflow ended */
async function run(steps: Partial<Steps>) {
  const closed: string[] = [];
  const activities: Partial<Activities> = {
    ...steps,
    async failExecution({ reason }) {
      closed.push(`FAILED: ${reason}`);
    },
    async cancelExecution() {
      closed.push('CANCELLED');
    },
  };
  return workers.withActivities(activities, async () => {
    const executionId = randomUUID();
    const handle = await environment.client.workflow.start(WORKFLOW_TYPES.automationExecution, {
      workflowId: executionWorkflowId(executionId),
      taskQueue: TASK_QUEUES.orchestration,
      args: [{ executionId, next: 'first step' }],
    });
    const error: unknown = await handle.result().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { closed, error, status: (await handle.describe()).status.name };
  });
}

function giveUp(): never {
  throw ApplicationFailure.nonRetryable('An unexpected error. Given up after 20 times.', 'TypeError');
}

describe('the workflow of an execution', () => {
  it('closes the execution as FAILED when its steps are given up', async () => {
    const { closed, status } = await run({ runSteps: async () => giveUp() });
    expect(closed).toEqual(['FAILED: An unexpected error. Given up after 20 times.']);
    expect(status).toBe('FAILED');
  });

  it('does so when the call of a webhook is given up', async () => {
    const { closed, status } = await run({
      runSteps: async () => ({ kind: 'webhook', next: 'Call' }),
      callWebhook: async () => giveUp(),
    });
    expect(closed).toEqual(['FAILED: An unexpected error. Given up after 20 times.']);
    expect(status).toBe('FAILED');
  });

  it('leaves to its activity what the activity has closed', async () => {
    const { closed, status } = await run({
      runSteps: async () => ({ kind: 'ended', status: 'FAILED', failure: 'Step "Mail" failed' }),
    });
    expect([closed, status]).toEqual([[], 'FAILED']);
  });
});
