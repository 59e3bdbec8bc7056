import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDeps } from '../activities/deps.ts';
import { createReconcileActivities } from '../activities/maintenance/reconcile-activities.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { reconcile, statusOf, untilHandedOver } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await stack.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
});
afterAll(() => stack.stop());

/** A scheduled campaign whose workflow waits. */
async function scheduleCampaign(): Promise<string> {
  const { body } = await stack.api('POST', '/campaigns', {
    body: { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com', audienceType: 'ALL' },
  });
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: { scheduledFor } });
  const campaignId = body.data.id as string;
  await eventually(async () => (await statusOf(stack, campaignWorkflowId(campaignId))) === 'RUNNING');
  await untilHandedOver(stack.em);
  return campaignId;
}

describe('reconciliation', () => {
  it('restarts a campaign whose workflow was terminated, and it is sent', async () => {
    const campaignId = await scheduleCampaign();
    const workflowId = campaignWorkflowId(campaignId);
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
    const before = await stack.temporal.client.workflow.getHandle(workflowId).describe();
    await query(stack.em(), sql`update campaign set updated_at = now() - interval '1 hour' where id = ${campaignId}`);
    await reconcile(stack);
    const after = await stack.temporal.client.workflow.getHandle(workflowId).describe();
    expect(after.runId).toBe(before.runId);
    expect(await query(stack.em(), sql`select id from outbox`)).toEqual([]);
  });

  it('finds a lost workflow whose row has been due for 20 seconds, without waiting for the late ones', async () => {
    const campaignId = await scheduleCampaign();
    const workflowId = campaignWorkflowId(campaignId);
    await stack.temporal.client.workflow.getHandle(workflowId).terminate('lost');
    await query(stack.em(), sql`update campaign set updated_at = now() - interval '25 s' where id = ${campaignId}`);
    expect((await reconcile(stack)).restarted).not.toContain(workflowId);
    expect((await reconcile(stack, { reach: 'soon' })).restarted).toContain(workflowId);
    await eventually(async () => (await statusOf(stack, workflowId)) === 'RUNNING');
  });

  it('goes on where a lost attempt has stopped, and keeps what that attempt remembered', async () => {
    const ids = [await scheduleCampaign(), await scheduleCampaign()];
    for (const id of ids) await stack.temporal.client.workflow.getHandle(campaignWorkflowId(id)).terminate('lost');
    await query(
      stack.em(),
      sql`update campaign set updated_at = now() - interval '1 h' where id = any(${ids}::uuid[])`,
    );
    const done = { checked: 7, restartedCount: 0, restarted: [], afterId: ids[0] };
    const attempt = new MockActivityEnvironment({
      heartbeatDetails: { memory: { faults: 3, reconciliation: done } },
      attempt: 4,
    });
    const beats: any[] = [];
    attempt.on('heartbeat', (details) => beats.push(details));
    const deps = {
      orm: stack.orm,
      temporal: stack.temporal.client,
      heartbeatMs: 500,
      logger: createLogger({ level: 'silent', name: 'test' }),
    };
    const activities = createReconcileActivities(deps as unknown as ActivityDeps);
    const report = await attempt.run(() => activities.reconcile());
    expect(report).toMatchObject({ checked: 8, restarted: [campaignWorkflowId(ids[1] ?? '')] });
    expect(beats[0]).toMatchObject({ memory: { faults: 3, reconciliation: { checked: 8, afterId: ids[1] } } });
    await eventually(async () => (await statusOf(stack, campaignWorkflowId(ids[1] ?? ''))) === 'RUNNING');
  });
});
