import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { jobWorkflowId } from '../shared/pure/workflow-contracts.ts';
import type { TestProject, TestReply } from './support/api.ts';
import { uploadContacts } from './support/csv-files.ts';
import { reconcile, statusOf, untilHandedOver } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function createContacts(owner: TestProject, count: number): Promise<string[]> {
  const rows = await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{}', now(), now()
      from generate_series(1, ${count}::int) i returning id`,
  );
  return rows.map((row) => row.id);
}

async function subscribedCount(owner: TestProject): Promise<number> {
  const rows = await query(
    stack.em(),
    sql`select id from contact where project_id = ${owner.project.id} and subscribed`,
  );
  return rows.length;
}

async function unsubscribe(owner: TestProject, contactIds: string[]): Promise<string> {
  const { body } = await owner.api('POST', '/contacts/bulk-unsubscribe', { body: { contactIds } });
  return body.jobId;
}

async function isAtWork(jobId: string): Promise<void> {
  await eventually(async () => (await statusOf(stack, jobWorkflowId(jobId))) === 'RUNNING');
  await untilHandedOver(stack.em);
}

/** Terminates the workflow of a job before a worker takes it. */
async function loseJob(jobId: string): Promise<void> {
  await isAtWork(jobId);
  await stack.temporal.client.workflow.getHandle(jobWorkflowId(jobId)).terminate('lost');
  await makeOld(jobId);
}

async function makeOld(jobId: string): Promise<void> {
  await query(stack.em(), sql`update job set updated_at = now() - interval '1 hour' where id = ${jobId}`);
}

function untilCompleted(owner: TestProject, kind: 'bulk' | 'import', jobId: string): Promise<TestReply['body']> {
  return eventually(async () => {
    const { body } = await owner.api('GET', `/contacts/${kind}/${jobId}`);
    return body.state === 'completed' && body;
  });
}

describe('reconciliation of jobs', () => {
  it('runs an import whose workflow was terminated before it began', async () => {
    const owner = await stack.createProject();
    await stack.stopWorkers();
    const jobId = await uploadContacts(owner, 'email\na@x.test\nb@x.test\n');
    await loseJob(jobId);
    await stack.startWorkers();

    expect(await reconcile(stack)).toMatchObject({ restarted: [jobWorkflowId(jobId)] });
    const job = await untilCompleted(owner, 'import', jobId);
    expect(job.result).toMatchObject({ totalRows: 2, createdCount: 2, updatedCount: 0 });
    await makeOld(jobId);
    expect(await reconcile(stack)).toMatchObject({ checked: 0 });
  });

  it('continues a bulk operation after its last committed chunk', async () => {
    const owner = await stack.createProject();
    const contactIds = await createContacts(owner, 600);
    await stack.stopWorkers();
    const jobId = await unsubscribe(owner, contactIds);
    await query(
      stack.em(),
      sql`
        update job set state = 'active', position = 500, counts = '{"successCount": 500, "unchangedCount": 0, "failureCount": 0}'
        where id = ${jobId}`,
    );
    await loseJob(jobId);
    await stack.startWorkers();

    await reconcile(stack);
    const job = await untilCompleted(owner, 'bulk', jobId);
    expect(job.result).toMatchObject({ totalRequested: 600, successCount: 600, failureCount: 0 });
    expect(await subscribedCount(owner)).toBe(500);
  });

  it('does not touch a running job, however long it takes', async () => {
    const owner = await stack.createProject();
    const contactIds = await createContacts(owner, 3);
    await stack.stopWorkers();
    const jobId = await unsubscribe(owner, contactIds);
    await isAtWork(jobId);
    await makeOld(jobId);
    const handle = stack.temporal.client.workflow.getHandle(jobWorkflowId(jobId));
    const before = await handle.describe();

    const holder = stack.em();
    await holder.begin();
    try {
      await query(holder, sql`select from job where id = ${jobId} for update`);
      await stack.startWorkers();
      expect(await reconcile(stack)).toMatchObject({ checked: 1, restarted: [] });
      expect(await query(stack.em(), sql`select id from outbox`)).toEqual([]);
    } finally {
      await holder.rollback();
    }
    await untilCompleted(owner, 'bulk', jobId);
    expect((await handle.describe()).runId).toBe(before.runId);
  });
});
