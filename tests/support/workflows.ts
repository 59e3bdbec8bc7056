import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { testEnvironment } from './environment.ts';
import { withoutThreads } from './quiet-temporal.ts';

export interface WorkflowServer {
  connection: NativeConnection;
  namespace: string;
}

export interface WorkflowWorkers {
  /** Runs `run` while workflows use these activities. */
  withActivities: <T>(activities: Partial<Activities>, run: () => Promise<T>) => Promise<T>;
  stop: () => Promise<void>;
}

type AnyActivity = (...args: unknown[]) => Promise<unknown>;

/**
 * Starts workers for all tests of a file; each test sets its own activities. Workers for each test would leave polls
 * behind. The server could give a task of the next test to such a poll, and that test would wait for a time-out.
 */
export async function startWorkflowWorkers({ connection, namespace }: WorkflowServer): Promise<WorkflowWorkers> {
  let current: Partial<Activities> = {};
  const activities = {
    default(...args: unknown[]): Promise<unknown> {
      const { activityType } = activityInfo();
      const activity = (current as Record<string, AnyActivity | undefined>)[activityType];
      if (!activity) throw ApplicationFailure.nonRetryable(`The test has no activity ${activityType}`);
      return activity(...args);
    },
  };
  const { orchestration, executions, ...others } = TASK_QUEUES;
  const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
  const workers = await withoutThreads(() =>
    Promise.all([
      ...[orchestration, executions].map((taskQueue) =>
        Worker.create({ connection, namespace, taskQueue, workflowBundle, activities }),
      ),
      ...Object.values(others).map((taskQueue) =>
        Worker.create({ connection, namespace, taskQueue, activities, maxHeartbeatThrottleInterval: '100ms' }),
      ),
    ]),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    async withActivities(own, run) {
      current = own;
      return run();
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await running;
    },
  };
}
