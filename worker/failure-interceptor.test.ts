import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { activityInfo } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';
import { attemptMemory } from '../shared/durable/attempts/attempt.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { testEnvironment } from '../tests/support/environment.ts';
import { createTestNamespace, type TestNamespace } from '../tests/support/temporal.ts';
import { createFailureInterceptor } from './failure-interceptor.ts';

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(() => temporal.close());

describe('attempts of an activity', () => {
  it('get the memory of earlier attempts from Temporal, however soon these failed', async () => {
    const faultsSeen: unknown[] = [];
    const cleanUp = async (): Promise<void> => {
      faultsSeen.push(attemptMemory().faults ?? 0);
      if (activityInfo().attempt < 3) throw new TypeError('unexpected');
    };
    const common = { connection: temporal.connection, namespace: temporal.namespace };
    const workers = await Promise.all([
      Worker.create({
        ...common,
        taskQueue: TASK_QUEUES.orchestration,
        workflowBundle: { codePath: testEnvironment().workflowBundlePath },
      }),
      Worker.create({
        ...common,
        taskQueue: TASK_QUEUES.jobs,
        activities: { cleanUp },
        interceptors: { activity: [createFailureInterceptor(createLogger({ level: 'silent', name: 'test' }))] },
      }),
    ]);
    const running = workers.map((worker) => worker.run());
    await temporal.client.workflow.execute(WORKFLOW_TYPES.cleanUp, {
      workflowId: 'clean-up',
      taskQueue: TASK_QUEUES.orchestration,
    });
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
    expect(faultsSeen).toEqual([0, 2, 3]);
  });
});
