import type { Client, WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { quietTemporal } from './quiet-temporal.ts';
import { createTestNamespace } from './temporal.ts';
import { startTimeSkippingServer } from './time-skipping-server.ts';
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

export interface TimeSkippingWorkflows extends TestWorkflows {
  environment: TestWorkflowEnvironment;
}

/** Like `startWorkflowWorkers`, on a server of its own that skips the time of timers. */
export async function startTimeSkippingWorkflows(): Promise<TimeSkippingWorkflows> {
  quietTemporal();
  const environment = await startTimeSkippingServer();
  const { client, nativeConnection: connection, namespace = 'default' } = environment;
  const { withActivities, stop } = await startWorkflowWorkers({ connection, namespace });
  return {
    environment,
    client,
    withActivities,
    async stop() {
      await stop();
      await environment.teardown();
    },
  };
}

/** The duration of a workflow by its own clock. A server that skips time runs on after the end of a workflow. */
export async function durationOf(handle: WorkflowHandle): Promise<number> {
  const { startTime, closeTime } = await handle.describe();
  return Number(closeTime) - Number(startTime);
}
