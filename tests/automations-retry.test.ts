import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import {
  createAutomation,
  createTemplate,
  executionOf,
  executionThatIs,
  executionsOf,
  stepsOf,
  track,
  type TestStep,
} from './support/automations.ts';
import { resetToLastTask } from './support/reset.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

let stack: TestStack;
let hook: WebhookReceiver;
let templateId: string;
beforeAll(async () => {
  stack = await startTestStack({
    config: { API_RATE_LIMIT_PER_MINUTE: 100_000, WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
  });
  hook = await startWebhookReceiver();
  templateId = await createTemplate(stack);
});
afterAll(async () => {
  await hook.close();
  await stack.stop();
});

interface Failing {
  id: string;
  callId: string;
  retryPath: (executionId: string) => string;
}

/** Creates an automation that sends an email, calls a webhook that refuses, and then leaves. */
async function createFailing(event: string, allowReentry = false): Promise<Failing> {
  const steps: Record<string, TestStep> = {
    Reminder: { type: 'SEND_EMAIL', templateId, next: 'Call' },
    Call: { type: 'WEBHOOK', config: { url: `${hook.url}/refused` }, next: 'Out' },
    Out: { type: 'EXIT', config: { reason: 'told' } },
  };
  const id = await createAutomation(stack, event, steps, { allowReentry });
  const { body } = await stack.api('GET', `/workflows/${id}`);
  const callId = body.steps.find((step: any) => step.name === 'Call').id;
  return { id, callId, retryPath: (executionId) => `/workflows/${id}/executions/${executionId}/retry` };
}

async function repair({ id, callId }: Failing): Promise<void> {
  const { status } = await stack.api('PATCH', `/workflows/${id}/steps/${callId}`, {
    body: { config: { url: hook.url } },
  });
  expect(status).toBe(200);
}

const mailsTo = (email: string) => stack.sink.recipientCounts().get(email) ?? 0;
/** Waits for the one email to an address: its delivery may end after the execution that queued it. */
const untilMailed = (email: string) => eventually(() => Promise.resolve(mailsTo(email) === 1));
const totalOf = async (id: string, status: string) =>
  (await stack.api('GET', `/workflows/${id}/executions?status=${status}`)).body.total;

/** Waits until the workflow of an execution has closed. @returns how, and the id of its run */
function closed(executionId: string): Promise<{ status: string; runId: string }> {
  return eventually(async () => {
    const { status, runId } = await stack.temporal.client.workflow
      .getHandle(executionWorkflowId(executionId))
      .describe();
    return status.name !== 'RUNNING' && { status: status.name, runId };
  });
}

describe('a retry of a failed execution', () => {
  it('goes on at the failed step, as it is now, with the context, and repeats no email', async () => {
    const failing = await createFailing('left_cart');
    await track(stack, 'ada@mail.test', 'left_cart', { plan: 'pro' });
    const failed = await executionThatIs(stack, failing.id, 'FAILED');
    const path = failing.retryPath(failed.id);
    const handle = stack.temporal.client.workflow.getHandle(executionWorkflowId(failed.id));
    const error = await handle.result().catch((reason: unknown) => reason);
    expect((error as Error & { cause: Error }).cause.message).toContain(`POST ${path}`);

    const again = await stack.api('POST', path);
    expect([again.status, again.body]).toMatchObject([200, { id: failed.id, status: 'RUNNING', completedAt: null }]);
    await eventually(async () => (await totalOf(failing.id, 'FAILED')) === 1);
    await repair(failing);
    // Of two retries at once, one is taken.
    const replies = await Promise.all([stack.api('POST', path), stack.api('POST', path)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const done = await executionThatIs(stack, failing.id, 'EXITED');
    expect(done).toMatchObject({ id: failed.id, context: { plan: 'pro' }, exitReason: 'told' });
    expect(done.temporalRunId).not.toBe(failed.temporalRunId);
    expect(stepsOf(done)).toEqual([
      'Trigger COMPLETED',
      'Reminder COMPLETED',
      'Call FAILED',
      'Call FAILED',
      'Call COMPLETED',
      'Out COMPLETED',
    ]);
    await untilMailed('ada@mail.test');
    // All calls of the step have one id.
    const calls = [...hook.calls].filter(([id]) => id.includes(failed.id));
    expect(calls.map(([, count]) => count)).toEqual([3]);
    expect([await totalOf(failing.id, 'FAILED'), await totalOf(failing.id, 'EXITED')]).toEqual([0, 1]);
    expect((await stack.api('POST', path)).status).toBe(409);
    expect((await stack.api('POST', failing.retryPath(failing.id))).status).toBe(404);
    // Executions that start later have the graph of the automation.
    const graphs = await query(stack.em(), sql`select from automation_graph where automation_id = ${failing.id}`);
    expect(graphs).toHaveLength(3);
  });

  it('waits while no worker runs, and is refused while the contact is in the workflow otherwise', async () => {
    const failing = await createFailing('left_twice', true);
    await track(stack, 'bob@mail.test', 'left_twice');
    const first = await executionThatIs(stack, failing.id, 'FAILED');
    await closed(first.id);
    await stack.stopWorkers();
    await track(stack, 'bob@mail.test', 'left_twice');
    const refused = await stack.api('POST', failing.retryPath(first.id));
    const [second] = await executionsOf(stack, failing.id);
    expect([refused.status, refused.body.error.details]).toEqual([409, { executionId: second.id }]);
    await stack.api('DELETE', `/workflows/${failing.id}/executions/${second.id}`);
    await repair(failing);
    expect((await stack.api('POST', failing.retryPath(first.id))).status).toBe(200);
    await stack.startWorkers();
    await eventually(async () => (await executionOf(stack, failing.id, first.id)).status === 'EXITED');
    await untilMailed('bob@mail.test');
  });

  it('repeats a step that is no longer in the workflow as it was, and is refused when the contact was deleted', async () => {
    const failing = await createFailing('left_early');
    await track(stack, 'eve@mail.test', 'left_early');
    const { id } = await executionThatIs(stack, failing.id, 'FAILED');
    await stack.api('DELETE', `/workflows/${failing.id}/steps/${failing.callId}?splice=true`);
    await stack.api('POST', failing.retryPath(id));
    await eventually(async () => (await executionOf(stack, failing.id, id)).stepExecutions.length === 4);
    await executionThatIs(stack, failing.id, 'FAILED');
    const contactId = (await executionOf(stack, failing.id, id)).contactId;
    await stack.api('DELETE', `/contacts/${contactId}`);
    const refused = await stack.api('POST', failing.retryPath(id));
    expect([refused.status, refused.body.error.message]).toEqual([409, 'The contact of the execution was deleted']);
  });
});

describe('retrying all that failed', () => {
  it('takes those of one step, each contact once, and leaves those that cannot go on', async () => {
    const failing = await createFailing('all_left', true);
    const addresses = Array.from({ length: 12 }, (_, n) => `all${n}@mail.test`);
    for (const address of addresses) await track(stack, address, 'all_left');
    await eventually(async () => (await totalOf(failing.id, 'FAILED')) === 12);
    // One contact has failed twice, one is deleted.
    await track(stack, addresses[0]!, 'all_left');
    await eventually(async () => (await totalOf(failing.id, 'FAILED')) === 13);
    // The deletion of a contact cancels email that has not gone out yet.
    await eventually(async () => addresses.reduce((sum, address) => sum + mailsTo(address), 0) === 13);
    const [, deleted] = await executionsOf(stack, failing.id);
    await stack.api('DELETE', `/contacts/${deleted.contactId}`);
    await repair(failing);

    const retryAll = (stepId?: string) =>
      stack.api('POST', `/workflows/${failing.id}/executions/retry-failed`, { body: { stepId } });
    const none = await retryAll(failing.id);
    expect([none.status, none.body]).toEqual([202, { failed: 0 }]);
    const all = await retryAll(failing.callId);
    expect([all.status, all.body]).toEqual([202, { failed: 13 }]);
    await eventually(async () => (await totalOf(failing.id, 'EXITED')) === 11);
    expect(await totalOf(failing.id, 'FAILED')).toBe(2);
    const [newest] = (await stack.api('GET', `/workflows/${failing.id}/executions?status=FAILED&pageSize=1`)).body.data;
    expect(newest.id).toBe(deleted.id);
    expect(mailsTo(addresses[0]!)).toBe(2);
    expect(addresses.slice(1).map(mailsTo)).toEqual(Array.from({ length: 11 }, () => 1));
    const graphs = await query(stack.em(), sql`select from automation_graph where automation_id = ${failing.id}`);
    expect(graphs.length).toBeLessThanOrEqual(4);
    const { body } = await stack.api('GET', '/workflows?pageSize=100');
    const listed = body.data.find((workflow: any) => workflow.id === failing.id);
    expect(listed).toMatchObject({ _count: { executions: 13 }, failedExecutions: 2 });
    const { body: counts } = await stack.api('GET', `/workflows/${failing.id}/executions/counts`);
    expect(counts.ended).toEqual([
      { status: 'EXITED', executions: 11 },
      { status: 'FAILED', executions: 2 },
    ]);
    // The first page has one workflow, the number is that of all.
    const { body: first } = await stack.api('GET', '/workflows?pageSize=1');
    const sum = body.data.reduce(
      (failed: number, one: { failedExecutions: number }) => failed + one.failedExecutions,
      0,
    );
    expect(first.failedExecutions).toBe(sum);
    expect((await stack.api('POST', `/workflows/${failing.id}/executions/retry-failed`)).status).toBe(202);
  });
});

describe('a Reset in Temporal', () => {
  it('of a failed execution goes on at the failed step, and one of another that fails again fails once', async () => {
    const failing = await createFailing('was_reset');
    await track(stack, 'res@mail.test', 'was_reset');
    const { id } = await executionThatIs(stack, failing.id, 'FAILED');
    const first = await closed(id);
    await resetToLastTask(stack.temporal, executionWorkflowId(id));
    await eventually(async () => (await closed(id)).runId !== first.runId);
    const still = await executionOf(stack, failing.id, id);
    expect([still.status, stepsOf(still).slice(2)]).toEqual(['FAILED', ['Call FAILED', 'Call FAILED']]);
    await repair(failing);
    await resetToLastTask(stack.temporal, executionWorkflowId(id));
    expect(await executionThatIs(stack, failing.id, 'EXITED')).toMatchObject({ id });
    expect((await closed(id)).status).toBe('COMPLETED');
    await untilMailed('res@mail.test');
  });

  it('does the same when the step failed within a workflow task', async () => {
    const gone = await createTemplate(stack);
    const id = await createAutomation(stack, 'reset_mail', {
      Mail: { type: 'SEND_EMAIL', templateId: gone, next: 'Out' },
      Out: { type: 'EXIT' },
    });
    await stack.api('DELETE', `/templates/${gone}`);
    await track(stack, 'task@mail.test', 'reset_mail');
    const failed = await executionThatIs(stack, id, 'FAILED');
    await closed(failed.id);
    const { body } = await stack.api('GET', `/workflows/${id}`);
    const step = body.steps.find(({ name }: any) => name === 'Mail');
    await stack.api('PATCH', `/workflows/${id}/steps/${step.id}`, { body: { templateId } });
    await resetToLastTask(stack.temporal, executionWorkflowId(failed.id));
    const done = await executionThatIs(stack, id, 'EXITED');
    expect(stepsOf(done)).toEqual(['Trigger COMPLETED', 'Mail FAILED', 'Mail COMPLETED', 'Out COMPLETED']);
  });
});
