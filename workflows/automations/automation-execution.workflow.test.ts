import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { activityInfo, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { EXECUTION_RETRIED_SIGNAL, WORKFLOW_TYPES, executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { startTimeSkippingWorkflows, type TimeSkippingWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TimeSkippingWorkflows;
beforeAll(async () => {
  workflows = await startTimeSkippingWorkflows();
});
afterAll(() => workflows.stop());

type Steps = Pick<Activities, 'runSteps' | 'callWebhook' | 'isRetried'>;

/**
 * Runs an execution with activities of the test.
 * @returns how its row was closed, how the workflow ended, and the types of its events
 */
async function run(steps: Partial<Steps>) {
  const closed: string[] = [];
  const activities: Partial<Activities> = {
    isRetried: async () => false,
    ...steps,
    async failExecution({ reason }) {
      closed.push(`FAILED: ${reason}`);
    },
    async cancelExecution() {
      closed.push('CANCELLED');
    },
  };
  return workflows.withActivities(activities, async () => {
    const executionId = randomUUID();
    const handle = await workflows.client.workflow.start(WORKFLOW_TYPES.automationExecution, {
      workflowId: executionWorkflowId(executionId),
      taskQueue: TASK_QUEUES.executions,
      args: [{ executionId, next: 'first step' }],
    });
    const error: unknown = await handle.result().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const { events } = await handle.fetchHistory();
    const eventTypes = (events ?? []).map(({ eventType }) => eventType);
    return { closed, error, status: (await handle.describe()).status.name, eventTypes };
  });
}

const { EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, EVENT_TYPE_MARKER_RECORDED, EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT } =
  proto.temporal.api.enums.v1.EventType;
const COMPLETED = { kind: 'ended', status: 'COMPLETED', failure: null } as const;

function giveUp(): never {
  throw ApplicationFailure.nonRetryable('An unexpected error. Given up after 20 times.', 'TypeError');
}

describe('the workflow of an execution', () => {
  it('runs steps within its workflow task', async () => {
    const { status, eventTypes } = await run({ runSteps: async () => COMPLETED });
    expect(status).toBe('COMPLETED');
    expect(eventTypes).toHaveLength(6);
    expect(eventTypes).toContain(EVENT_TYPE_MARKER_RECORDED);
  });

  it('leaves steps that fail to an activity, whose repetitions operators see', async () => {
    const attempts: string[] = [];
    const { status, eventTypes } = await run({
      async runSteps() {
        const { isLocal, attempt } = activityInfo();
        attempts.push(`${isLocal ? 'in the task' : 'activity'} ${attempt}`);
        if (attempts.length < 3) throw ApplicationFailure.create({ message: 'Not now.', nextRetryDelay: 10 });
        return COMPLETED;
      },
    });
    expect(attempts).toEqual(['in the task 1', 'activity 1', 'activity 2']);
    expect(status).toBe('COMPLETED');
    expect(eventTypes).toContain(EVENT_TYPE_ACTIVITY_TASK_SCHEDULED);
  });

  it('leaves slow steps to an activity before the workflow task times out', async () => {
    const attempts: boolean[] = [];
    const { status, eventTypes } = await run({
      async runSteps() {
        const { isLocal } = activityInfo();
        attempts.push(isLocal);
        if (isLocal) await sleep(60_000);
        return COMPLETED;
      },
    });
    expect([attempts, status]).toEqual([[true, false], 'COMPLETED']);
    expect(eventTypes).not.toContain(EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT);
  }, 30_000);

  it('closes the execution as FAILED when its steps are given up', async () => {
    const { closed, status } = await run({ runSteps: async () => giveUp() });
    expect(closed).toEqual(['FAILED: An unexpected error. Given up after 20 times.']);
    expect(status).toBe('FAILED');
  });

  it('closes the execution as FAILED when the call of a webhook is given up', async () => {
    const { closed, status } = await run({
      runSteps: async () => ({ kind: 'webhook', next: 'Call' }),
      callWebhook: async () => giveUp(),
    });
    expect(closed).toEqual(['FAILED: An unexpected error. Given up after 20 times.']);
    expect(status).toBe('FAILED');
  });

  it('goes on when its execution is retried, also when the retry comes while the run closes', async () => {
    const asked: string[] = [];
    let signalMs = Infinity;
    const retriedWhileItCloses = () =>
      run({
        runSteps: async () => (asked.length < 2 ? giveUp() : COMPLETED),
        async isRetried({ executionId }) {
          const { workflowExecution, isLocal } = activityInfo();
          asked.push(isLocal ? 'in the task' : 'activity');
          if (asked.length > 1) return true;
          // The run would close with the answer no, but the signal of the retry has come before.
          signalMs = Infinity;
          const begin = performance.now();
          await workflows.client.workflow
            .getHandle(executionWorkflowId(executionId), workflowExecution?.runId)
            .signal(EXECUTION_RETRIED_SIGNAL);
          signalMs = performance.now() - begin;
          return false;
        },
      });
    let end = await retriedWhileItCloses();
    // The question ends after four seconds. On a busy machine, the signal may take longer and come after the close.
    while (signalMs > 3_000) {
      asked.length = 0;
      end = await retriedWhileItCloses();
    }
    expect(asked).toEqual(['in the task', 'in the task']);
    expect(end.closed).toEqual(['FAILED: An unexpected error. Given up after 20 times.']);
    expect(end.status).toBe('COMPLETED');
  });

  it('does not close an execution that its activity has closed', async () => {
    const { closed, status } = await run({
      runSteps: async () => ({ kind: 'ended', status: 'FAILED', failure: 'Step "Mail" failed' }),
    });
    expect([closed, status]).toEqual([[], 'FAILED']);
  });
});
