import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from '@jest/globals';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, erasureWorkflowId, jobWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { uploadContacts } from '../support/csv-files.ts';
import { storeHistory } from '../support/histories.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';

const ROWS = 2_500;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

it('records a job', async () => {
  const rows = Array.from({ length: ROWS }, (_, index) => `row${index}@mail.test,${index}`);
  const jobId = await uploadContacts(stack, `email,number\n${rows.join('\n')}\n`);
  const handle = stack.temporal.client.workflow.getHandle(jobWorkflowId(jobId));
  await eventually(async () => (await handle.describe()).closeTime !== undefined);
  await storeHistory(stack.temporal.client, handle.workflowId, 'job.import');
}, 60_000);

it('records an erasure', async () => {
  const { body } = await stack.api('GET', '/contacts?limit=1');
  await stack.api('DELETE', `/contacts/${body.data[0].id}`);
  const handle = stack.temporal.client.workflow.getHandle(erasureWorkflowId(stack.project.id));
  await eventually(async () => (await handle.describe()).closeTime !== undefined);
  await storeHistory(stack.temporal.client, handle.workflowId, 'erasure.second-look');
}, 60_000);

it('records a refresh of the segments', async () => {
  const only = (field: string) => ({
    logic: 'AND',
    groups: [{ filters: [{ field, operator: 'exists' }] }],
  });
  for (const trackMembership of [true, false]) {
    await stack.api('POST', '/segments', {
      body: { name: `Tracked ${trackMembership}`, condition: only('data.number'), trackMembership },
    });
  }
  const workflowId = `segments-${randomUUID()}`;
  await stack.temporal.client.workflow.execute(WORKFLOW_TYPES.segmentRefresh, {
    workflowId,
    taskQueue: TASK_QUEUES.orchestration,
    args: [{}],
  });
  await storeHistory(stack.temporal.client, workflowId, 'segmentRefresh.two-segments');
}, 60_000);
