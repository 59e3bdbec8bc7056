import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/domain/database/sql.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { reconcile, statusOf } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await stack.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
});
afterAll(() => stack.stop());

async function scheduleCampaign(): Promise<string> {
  const { body } = await stack.api('POST', '/campaigns', {
    body: { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com', audienceType: 'ALL' },
  });
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: { scheduledFor } });
  return body.data.id as string;
}

describe('reconciliation', () => {
  it('restarts a campaign whose workflow was terminated, and it is sent', async () => {
    const campaignId = await scheduleCampaign();
    const workflowId = campaignWorkflowId(campaignId);
    await eventually(async () => (await statusOf(stack, workflowId)) === 'RUNNING');
    await stack.temporal.client.workflow.getHandle(workflowId).terminate('lost');
    await query(stack.em(), sql`update campaign set updated_at = now() - interval '1 hour' where id = ${campaignId}`);

    await reconcile(stack);
    await eventually(async () => (await statusOf(stack, workflowId)) === 'RUNNING');

    await stack.api('POST', `/campaigns/${campaignId}/send`, { body: {} });
    await eventually(async () => {
      const { body } = await stack.api('GET', `/campaigns/${campaignId}`);
      return body.status === 'SENT';
    });
    expect(stack.sink.recipientCounts().get('reader@mail.test')).toBe(1);
  });

  it('does not touch campaigns with an open workflow', async () => {
    const campaignId = await scheduleCampaign();
    const workflowId = campaignWorkflowId(campaignId);
    await eventually(async () => (await statusOf(stack, workflowId)) === 'RUNNING');
    const before = await stack.temporal.client.workflow.getHandle(workflowId).describe();
    await query(stack.em(), sql`update campaign set updated_at = now() - interval '1 hour' where id = ${campaignId}`);
    await reconcile(stack);
    const after = await stack.temporal.client.workflow.getHandle(workflowId).describe();
    expect(after.runId).toBe(before.runId);
    expect(await query(stack.em(), sql`select id from outbox`)).toEqual([]);
  });
});
