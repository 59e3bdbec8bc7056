import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import {
  createAutomation,
  createTemplate,
  executionOf,
  executionThatIs,
  stepsOf,
  track,
  type TestStep,
} from './support/automations.ts';
import { reconcile, statusOf, untilHandedOver } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

let stack: TestStack;
let hook: WebhookReceiver;
let templateId: string;
beforeAll(async () => {
  stack = await startTestStack({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  hook = await startWebhookReceiver();
  templateId = await createTemplate(stack);
});
afterAll(async () => {
  await hook.close();
  await stack.stop();
});
afterEach(() => hook.release());

interface Entered {
  automationId: string;
  executionId: string;
  email: string;
}

/** Makes a contact enter an automation that begins with an email and then comes to a step where it stays. */
async function enter(event: string, steps: Record<string, TestStep>): Promise<Entered> {
  const [next] = Object.keys(steps);
  const automationId = await createAutomation(stack, event, {
    Hello: { type: 'SEND_EMAIL', templateId, next },
    ...steps,
  });
  const email = `${event}@mail.test`;
  await track(stack, email, event);
  await eventually(() => Promise.resolve(mailsTo(email) === 1));
  const { id: executionId } = await executionThatIs(stack, automationId, 'WAITING', 'RUNNING', 'COMPLETED');
  await untilHandedOver(stack.em);
  return { automationId, executionId, email };
}

const mailsTo = (email: string) => stack.sink.recipientCounts().get(email) ?? 0;

/** Terminates the workflow of an execution. */
async function lose({ executionId }: Entered): Promise<void> {
  await stack.temporal.client.workflow.getHandle(executionWorkflowId(executionId)).terminate('lost');
}

/** Moves the times of an execution, and of its wait, back by an hour. */
async function age({ executionId }: Entered): Promise<void> {
  await query(
    stack.em(),
    sql`
      with wait as (
        update event_wait set resolved_at = resolved_at - interval '1 hour' where execution_id = ${executionId}
      )
      update automation_execution set updated_at = now() - interval '1 hour',
        resume_at = case when resume_at is not null then now() - interval '1 hour' end
      where id = ${executionId}`,
  );
}

async function reconcileLost({ executionId }: Entered): Promise<void> {
  expect((await reconcile(stack)).restarted).toContain(executionWorkflowId(executionId));
}

/** Waits until the execution has ended, in PostgreSQL and in Temporal. */
async function ended({ automationId, executionId }: Entered): Promise<any> {
  const execution = await executionThatIs(stack, automationId, 'COMPLETED', 'EXITED', 'FAILED');
  await eventually(async () => (await statusOf(stack, executionWorkflowId(executionId))) === 'COMPLETED');
  return execution;
}

const closing: Record<string, TestStep> = {
  Note: { type: 'UPDATE_CONTACT', config: { data: { noted: true } }, next: 'Bye' },
  Bye: { type: 'SEND_EMAIL', templateId: '' },
};
/** The steps after the one where the workflow is lost. Their effects show that the execution continued, once. */
const closingSteps = () => ({ ...closing, Bye: { ...closing['Bye']!, templateId } });

describe('an execution whose workflow was terminated', () => {
  it('during a DELAY continues after it, and repeats nothing', async () => {
    const entered = await enter('lost_delay', {
      Rest: { type: 'DELAY', config: { amount: 1, unit: 'hours' }, next: 'Note' },
      ...closingSteps(),
    });
    await executionThatIs(stack, entered.automationId, 'WAITING');
    await lose(entered);
    await age(entered);
    await reconcileLost(entered);
    const execution = await ended(entered);
    expect(stepsOf(execution)).toEqual(['Trigger', 'Hello', 'Rest', 'Note', 'Bye'].map((name) => `${name} COMPLETED`));
    await eventually(() => Promise.resolve(mailsTo(entered.email) === 2));
    const mails = sql`select from email where execution_id = ${entered.executionId}`;
    expect(await query(stack.em(), mails)).toHaveLength(2);
    const contact = await stack.api('GET', `/contacts/${execution.contactId}`);
    expect(contact.body.data).toEqual({ noted: true });
  });

  it.each([
    ['has the event that came meanwhile', true, 'event'],
    ['has its timeout when none came', false, 'timeout'],
  ])('while it waits for an event %s', async (_what, comes, branch) => {
    const entered = await enter(`lost_wait_${branch}`, {
      Wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: `end_of_${branch}`, timeout: 3_600 },
        branches: { event: 'Note', timeout: 'Note' },
      },
      ...closingSteps(),
    });
    await executionThatIs(stack, entered.automationId, 'WAITING');
    await lose(entered);
    if (comes) await track(stack, entered.email, `end_of_${branch}`, { answer: 42 });
    // The signal finds no workflow, but the row keeps the event.
    await untilHandedOver(stack.em);
    await age(entered);
    await reconcileLost(entered);
    const execution = await ended(entered);
    expect(stepsOf(execution)[2]).toBe('Wait COMPLETED');
    expect(execution.stepExecutions[2].output).toMatchObject({ branch });
    expect(execution.context).toEqual(comes ? { answer: 42 } : {});
    await eventually(() => Promise.resolve(mailsTo(entered.email) === 2));
  });

  it('during the call of a webhook calls it again, under the same id', async () => {
    hook.hold();
    const entered = await enter('lost_call', {
      Call: { type: 'WEBHOOK', config: { url: hook.url }, next: 'Note' },
      ...closingSteps(),
    });
    await eventually(() => Promise.resolve(hook.calls.size === 1));
    await lose(entered);
    await age(entered);
    await reconcileLost(entered);
    await eventually(() => Promise.resolve([...hook.calls.values()].join() === '2'));
    hook.release();
    const execution = await ended(entered);
    expect(stepsOf(execution)[2]).toBe('Call COMPLETED');
    expect([...hook.calls.values()]).toEqual([2]);
    await eventually(() => Promise.resolve(mailsTo(entered.email) === 2));
  });
});

describe('an execution whose workflow has ended', () => {
  it('ends in PostgreSQL as well when its row, from an older backup, is still RUNNING', async () => {
    const entered = await enter('restored', { Note: { type: 'UPDATE_CONTACT', config: { data: { noted: true } } } });
    await executionThatIs(stack, entered.automationId, 'COMPLETED');
    await eventually(async () => (await statusOf(stack, executionWorkflowId(entered.executionId))) === 'COMPLETED');
    await query(
      stack.em(),
      sql`
        update automation_execution set status = 'RUNNING', completed_at = null where id = ${entered.executionId}`,
    );
    await age(entered);
    await reconcileLost(entered);
    const execution = await ended(entered);
    expect([execution.status, ...stepsOf(execution)]).toEqual([
      'COMPLETED',
      ...['Trigger', 'Hello', 'Note'].map((name) => `${name} COMPLETED`),
    ]);
    expect(mailsTo(entered.email)).toBe(1);
  });
});

describe('an execution with an open workflow', () => {
  it('is not touched, however late it is', async () => {
    const entered = await enter('late', {
      Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'x', timeout: 3_600 } },
    });
    const before = await executionThatIs(stack, entered.automationId, 'WAITING');
    await age(entered);
    expect((await reconcile(stack)).restarted).toEqual([]);
    const after = await executionOf(stack, entered.automationId, entered.executionId);
    expect([after.status, after.temporalRunId]).toEqual(['WAITING', before.temporalRunId]);
    expect(await query(stack.em(), sql`select from outbox`)).toEqual([]);
  });
});
