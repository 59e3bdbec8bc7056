import type { NativeConnection } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { testEnvironment } from '../../shared/testing/environment.ts';

export interface WorkflowServer {
  connection: NativeConnection;
  namespace: string;
}

/** Runs the workflows of today on activities of the test's own while `run` does. */
export async function withWorkers<T>(
  { connection, namespace }: WorkflowServer,
  activities: Partial<Activities>,
  run: () => Promise<T>,
): Promise<T> {
  const { orchestration, ...others } = TASK_QUEUES;
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      taskQueue: orchestration,
      workflowBundle: { codePath: testEnvironment().workflowBundlePath },
      activities,
    }),
    ...Object.values(others).map((taskQueue) =>
      Worker.create({ connection, namespace, taskQueue, activities, maxHeartbeatThrottleInterval: '100ms' }),
    ),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  try {
    return await run();
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
  }
}
