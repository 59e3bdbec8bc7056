import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, jobWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { untilCancelled } from '../../tests/support/fake-campaign.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

type RunJob = Activities['runJob'];

/**
 * Runs a job.
 * @returns the reason why it was ended from outside, if it was
 */
async function run(
  runJob: RunJob,
  act: (handle: WorkflowHandle) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const reasons: string[] = [];
  const failJob: Activities['failJob'] = async ({ reason }) => {
    reasons.push(reason);
  };
  await workflows.withActivities({ runJob, failJob }, async () => {
    const jobId = randomUUID();
    const handle = await workflows.client.workflow.start(WORKFLOW_TYPES.job, {
      workflowId: jobWorkflowId(jobId),
      taskQueue: TASK_QUEUES.orchestration,
      args: [{ jobId }],
    });
    await act(handle);
    await handle.result();
  });
  return reasons;
}

describe('the job workflow', () => {
  it('ends with its job, and repeats an attempt after a temporary failure', async () => {
    let attempts = 0;
    const reasons = await run(async () => {
      attempts++;
      if (attempts === 1) throw ApplicationFailure.create({ type: 'DatabaseUnavailable', nextRetryDelay: 10 });
      return { state: 'completed' };
    });
    expect([attempts, reasons]).toEqual([2, []]);
  });

  it('ends the job as failed, with a reason, when its work is given up', async () => {
    const reasons = await run(() => Promise.reject(ApplicationFailure.nonRetryable('Given up.', 'TypeError')));
    expect(reasons).toEqual(['The job cannot be finished because of an unexpected error']);
  });

  it('ends the job as failed after its current chunk when an operator cancels it', async () => {
    let isStarted = false;
    const reasons = await run(
      () => {
        isStarted = true;
        return untilCancelled();
      },
      async (handle) => {
        await eventually(async () => isStarted);
        await handle.cancel();
      },
    );
    expect(reasons).toEqual(['The job was cancelled by an operator']);
  });
});
