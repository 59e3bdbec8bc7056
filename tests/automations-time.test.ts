import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { recordEvents } from '../shared/domain/events/events.ts';
import { readWebhookSecret, rotateWebhookSecret } from '../shared/domain/projects/projects.ts';
import { signatureHeaders } from '../shared/platform/webhook/signature.ts';
import {
  createAutomation,
  createChain,
  createTemplate,
  executionOf,
  executionsOf,
  stepsOf,
  track,
} from './support/automations.ts';
import { startHookReceiver, type HookCall, type HookReceiver } from './support/hook-receiver.ts';
import { startTimeMachine, type TimeMachine } from './support/time-machine.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The answers to the next calls; later calls are answered with 200. */
const answers: ({ status: number; headers?: Record<string, string>; body?: string } | 'broken connection')[] = [];

let machine: TimeMachine;
let hook: HookReceiver;
beforeAll(async () => {
  machine = await startTimeMachine({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  hook = await startHookReceiver();
  hook.answer((_call, response) => {
    const answer = answers.shift() ?? { status: 200 };
    if (answer === 'broken connection') response.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body ?? 'fine');
  });
});
afterAll(async () => {
  await hook.close();
  await machine.stop();
});
afterEach(() => {
  hook.calls.length = 0;
});

const exit = (reason: string) => ({ type: 'EXIT', config: { reason } });
let contacts = 0;
const address = () => `t${++contacts}@mail.test`;

/** Makes a new contact enter an automation. @returns the contact's address and the execution's id */
async function enter(id: string, event: string, data?: object): Promise<{ email: string; executionId: string }> {
  const email = address();
  await track(machine, email, event, data);
  const [execution] = await executionsOf(machine, id);
  return { email, executionId: execution.id };
}

describe('a DELAY', () => {
  it.each([
    [1.5, 'minutes', 1.5 * MINUTE],
    [36, 'hours', 36 * HOUR],
    [365, 'days', 365 * DAY],
  ])('of %d %s takes that long and no longer', async (amount, unit, ms) => {
    const event = `delay_${unit}`;
    const id = await createAutomation(machine, event, {
      Rest: { type: 'DELAY', config: { amount, unit }, next: 'Out' },
      Out: exit('rested'),
    });
    const { executionId } = await enter(id, event);
    const took = await machine.finish(executionId);
    expect(took).toBeGreaterThanOrEqual(ms - 2_000);
    expect(took).toBeLessThan(ms + 60_000);
    const execution = await executionOf(machine, id, executionId);
    expect([execution.status, execution.exitReason]).toEqual(['EXITED', 'rested']);
    const rest = execution.stepExecutions[1];
    expect(Date.parse(rest.completedAt) - Date.parse(rest.startedAt)).toBeGreaterThanOrEqual(ms - 1_000);
  });
});

describe('a WAIT_FOR_EVENT step', () => {
  const steps = (timeout?: number) => ({
    Wait: {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'answer', ...(timeout !== undefined && { timeout }) },
      branches: { event: 'Came', timeout: 'Late' },
    },
    Came: exit('came'),
    Late: exit('late'),
  });

  it('takes the branch of the event when the event comes in time', async () => {
    const id = await createAutomation(machine, 'ask_in_time', steps(3_600));
    const { email, executionId } = await enter(id, 'ask_in_time');
    await machine.advance(59 * MINUTE);
    await track(machine, email, 'answer', { text: 'yes' });
    await machine.finish(executionId);
    const execution = await executionOf(machine, id, executionId);
    expect([execution.exitReason, execution.context]).toEqual(['came', { text: 'yes' }]);
  });

  it('takes the branch of the timeout when the event does not come in time', async () => {
    const id = await createAutomation(machine, 'ask_late', steps(3_600));
    const { email, executionId } = await enter(id, 'ask_late');
    expect(await machine.finish(executionId)).toBeGreaterThanOrEqual(3_600_000 - 2_000);
    await track(machine, email, 'answer');
    const execution = await executionOf(machine, id, executionId);
    expect(execution.exitReason).toBe('late');
    expect(execution.stepExecutions[1].output).toEqual({ branch: 'timeout', eventName: 'answer' });
  });

  it('waits for years when it has no timeout', async () => {
    const id = await createAutomation(machine, 'ask_patient', steps());
    const { email, executionId } = await enter(id, 'ask_patient');
    await machine.advance(900 * DAY);
    expect((await executionOf(machine, id, executionId)).status).toBe('WAITING');
    await track(machine, email, 'answer');
    await machine.finish(executionId);
    expect((await executionOf(machine, id, executionId)).exitReason).toBe('came');
  });
});

describe('a CONDITION', () => {
  it.each([
    ['contact.email', 'contains', 'mail.test', 'yes'],
    ['contact.subscribed', 'equals', false, 'no'],
    ['contact.data.plan', 'equals', 'pro', 'yes'],
    ['data.plan', 'equals', 'free', 'no'],
    ['event.amount', 'greaterThan', 10, 'yes'],
    ['event.amount', 'lessThan', 10, 'no'],
    ['event.nothing', 'exists', undefined, 'no'],
  ])('on %s %s %p takes the branch %s', async (field, operator, value, branch) => {
    const event = `condition_${field}_${operator}`;
    const id = await createAutomation(machine, event, {
      Ask: { type: 'CONDITION', config: { field, operator, value }, branches: { yes: 'Yes', no: 'No' } },
      Yes: exit('yes'),
      No: exit('no'),
    });
    const { executionId } = await enter(id, event, { plan: 'pro', amount: 12 });
    await machine.finish(executionId);
    expect((await executionOf(machine, id, executionId)).exitReason).toBe(branch);
  });

  it('ends the execution when the branch has no transition', async () => {
    const id = await createAutomation(machine, 'one_branch', {
      Ask: {
        type: 'CONDITION',
        config: { field: 'event.x', operator: 'exists' },
        branches: { yes: 'Yes' },
      },
      Yes: exit('yes'),
    });
    const { executionId } = await enter(id, 'one_branch');
    await machine.finish(executionId);
    expect((await executionOf(machine, id, executionId)).status).toBe('COMPLETED');
  });
});

describe('a WEBHOOK step', () => {
  const single = (event: string, config: object) =>
    createAutomation(machine, event, { Call: { type: 'WEBHOOK', config, next: 'Out' }, Out: exit('called') });

  it('sends contact, workflow, execution and event, signed as Standard Webhooks specifies', async () => {
    const id = await single('hook_plain', { url: hook.url });
    const { email, executionId } = await enter(id, 'hook_plain', { plan: 'pro' });
    await machine.finish(executionId);
    expect(hook.calls).toHaveLength(1);
    const [call] = hook.calls as [HookCall];
    expect(call.body).toEqual({
      contact: { id: expect.any(String), email, subscribed: true, data: { plan: 'pro' } },
      workflow: { id, name: 'Automation' },
      execution: { id: executionId, startedAt: expect.any(String) },
      event: { plan: 'pro' },
    });
    const secret = await readWebhookSecret(machine.em(), machine.project.id);
    const at = Number(call.headers['webhook-timestamp']);
    const expected = signatureHeaders([secret], call.headers['webhook-id'] as string, at, call.text);
    expect(call.headers).toMatchObject({ ...expected, 'content-type': 'application/json' });
    const execution = await executionOf(machine, id, executionId);
    expect(execution.stepExecutions[1]).toMatchObject({
      status: 'COMPLETED',
      output: { statusCode: 200, body: 'fine', isTruncated: false, attempts: 1 },
    });
  });

  it('is signed with the new key as soon as the project has one', async () => {
    const id = await single('hook_rotated', { url: hook.url });
    const before = await readWebhookSecret(machine.em(), machine.project.id);
    const secret = await rotateWebhookSecret(machine.em(), machine.project.id);
    expect(secret).not.toBe(before);
    const { executionId } = await enter(id, 'hook_rotated');
    await machine.finish(executionId);
    const [call] = hook.calls as [HookCall];
    const signatureWith = (key: string) =>
      signatureHeaders(
        [key],
        call.headers['webhook-id'] as string,
        Number(call.headers['webhook-timestamp']),
        call.text,
      );
    expect(call.headers).toMatchObject(signatureWith(secret));
    expect(call.headers['webhook-signature']).not.toBe(signatureWith(before)['webhook-signature']);
    // The key is in no answer and in no history.
    const handle = machine.environment.client.workflow.getHandle(`execution/${executionId}`);
    const history = historyToJSON(await handle.fetchHistory());
    const told = JSON.stringify([await executionOf(machine, id, executionId), history, hook.calls]);
    expect(told).not.toContain(secret.slice('whsec_'.length));
  });

  it('renders URL, headers and body, and no line break adds a header', async () => {
    const id = await single('hook_rendered', {
      url: `${hook.url}/u/{{email}}?p={{event.plan}}`,
      method: 'PUT',
      headers: { 'X-Plan': '{{event.plan}}\r\nX-Evil: 1', Authorization: 'Bearer t' },
      body: { who: ['{{email}}'], amount: 3, plan: '{{event.plan}}' },
    });
    const { email, executionId } = await enter(id, 'hook_rendered', { plan: 'a&b "c"' });
    await machine.finish(executionId);
    const [call] = hook.calls as [HookCall];
    expect([call.method, call.path]).toEqual(['PUT', `/hook/u/${encodeURIComponent(email)}?p=a%26b%20%22c%22`]);
    expect(call.headers).toMatchObject({ 'x-plan': 'a&b "c"X-Evil: 1', authorization: 'Bearer t' });
    expect(call.headers).not.toHaveProperty('x-evil');
    expect(call.body).toEqual({ who: [email], amount: 3, plan: 'a&b "c"' });
  });

  it('is tried again after 5xx, 429 and broken connections, with the same webhook-id', async () => {
    answers.push({ status: 503 }, { status: 429, headers: { 'retry-after': '120' } });
    answers.push('broken connection', { status: 204, body: '' });
    const id = await single('hook_retry', { url: hook.url });
    const { executionId } = await enter(id, 'hook_retry');
    await machine.finish(executionId);
    expect(hook.calls).toHaveLength(4);
    expect(new Set(hook.calls.map((call) => call.headers['webhook-id'])).size).toBe(1);
    const execution = await executionOf(machine, id, executionId);
    expect(execution.exitReason).toBe('called');
    expect(execution.stepExecutions[1].output).toMatchObject({ statusCode: 204, attempts: 4 });
  });

  it('fails after ten attempts without an answer', async () => {
    const id = await single('hook_dead', { url: 'http://127.0.0.1:9' });
    const { executionId } = await enter(id, 'hook_dead');
    expect(await machine.finish(executionId)).toBeGreaterThan(HOUR);
    const execution = await executionOf(machine, id, executionId);
    expect(execution).toMatchObject({
      status: 'FAILED',
      exitReason: expect.stringContaining('could not be reached 10 times'),
    });
    expect(execution.stepExecutions[1]).toMatchObject({ status: 'FAILED', output: { attempts: 10 } });
  });

  it('fails at once when it is answered with 4xx, and records the answer', async () => {
    answers.push({ status: 404, body: 'gone' });
    const id = await single('hook_4xx', { url: hook.url });
    const { executionId } = await enter(id, 'hook_4xx');
    await machine.finish(executionId);
    expect(hook.calls).toHaveLength(1);
    const execution = await executionOf(machine, id, executionId);
    expect(stepsOf(execution)).toEqual(['Trigger COMPLETED', 'Call FAILED']);
    expect(execution.stepExecutions[1]).toMatchObject({
      error: 'the server answered 404 (gone)',
      output: { statusCode: 404, body: 'gone' },
    });
  });
});

describe('a welcome series', () => {
  it('reminds a contact who opens nothing and ends after two weeks, and sends an offer to one who opens', async () => {
    const templateId = await createTemplate(machine);
    const id = await createAutomation(machine, 'welcome', {
      Welcome: { type: 'SEND_EMAIL', templateId, next: 'Two days' },
      'Two days': { type: 'DELAY', config: { amount: 2, unit: 'days' }, next: 'Tips' },
      Tips: { type: 'SEND_EMAIL', templateId, next: 'Opened?' },
      'Opened?': {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'email.open', timeout: 5 * 24 * 3_600 },
        branches: { event: 'Mark', timeout: 'Remind' },
      },
      Mark: { type: 'UPDATE_CONTACT', config: { data: { engaged: true } }, next: 'A week' },
      Remind: { type: 'SEND_EMAIL', templateId, next: 'A week' },
      'A week': { type: 'DELAY', config: { amount: 7, unit: 'days' }, next: 'Engaged?' },
      'Engaged?': {
        type: 'CONDITION',
        config: { field: 'data.engaged', operator: 'equals', value: true },
        branches: { yes: 'Offer', no: 'Bye' },
      },
      Offer: { type: 'SEND_EMAIL', templateId },
      Bye: exit('silent'),
    });
    const silent = await enter(id, 'welcome');
    const took = await machine.finish(silent.executionId);
    expect(took).toBeGreaterThanOrEqual(14 * DAY - 5_000);
    expect(took).toBeLessThan(14 * DAY + HOUR);
    const bored = await executionOf(machine, id, silent.executionId);
    expect(stepsOf(bored)).toEqual([
      'Trigger COMPLETED',
      'Welcome COMPLETED',
      'Two days COMPLETED',
      'Tips COMPLETED',
      'Opened? COMPLETED',
      'Remind COMPLETED',
      'A week COMPLETED',
      'Engaged? COMPLETED',
      'Bye COMPLETED',
    ]);

    const eager = await enter(id, 'welcome');
    await machine.advance(3 * DAY);
    const waiting = await executionOf(machine, id, eager.executionId);
    await recordEvents(machine.em(), [
      { projectId: machine.project.id, contactId: waiting.contactId, name: 'email.open', data: { opens: 1 } },
    ]);
    await machine.finish(eager.executionId);
    const keen = await executionOf(machine, id, eager.executionId);
    expect(keen.status).toBe('COMPLETED');
    expect(stepsOf(keen).slice(4)).toEqual([
      'Opened? COMPLETED',
      'Mark COMPLETED',
      'A week COMPLETED',
      'Engaged? COMPLETED',
      'Offer COMPLETED',
    ]);
    const mails = await query(machine.em(), sql`select count(*) from email where execution_id = ${eager.executionId}`);
    expect(mails[0]?.count).toBe(3);
  });
});

describe('long chains', () => {
  it('of steps without a wait take few activities', async () => {
    const configs = Array.from({ length: 500 }, (_, i) => ({ data: { count: i } }));
    const id = await createChain(machine, 'long', 'UPDATE_CONTACT', configs);
    const { executionId } = await enter(id, 'long');
    await machine.finish(executionId);
    const execution = await executionOf(machine, id, executionId);
    expect([execution.status, execution.stepExecutions.length]).toEqual(['COMPLETED', 501]);
    const { body } = await machine.api('GET', `/contacts/${execution.contactId}`);
    expect(body.data.count).toBe(499);
    const { historyLength } = await machine.environment.client.workflow
      .getHandle(`execution/${executionId}`)
      .describe();
    expect(historyLength).toBeLessThan(50);
  });

  it('of delays continue as new before a history grows too long', async () => {
    const configs = Array.from({ length: 260 }, () => ({ amount: 1, unit: 'hours' }));
    const id = await createChain(machine, 'longer', 'DELAY', configs);
    const { executionId } = await enter(id, 'longer');
    await machine.finish(executionId);
    const handle = machine.environment.client.workflow.getHandle(`execution/${executionId}`);
    const last = await handle.describe();
    const execution = await executionOf(machine, id, executionId);
    expect([execution.status, execution.stepExecutions.length]).toEqual(['COMPLETED', 261]);
    expect(
      Date.parse(execution.completedAt) - Date.parse(execution.stepExecutions[0].startedAt),
    ).toBeGreaterThanOrEqual(260 * HOUR - 5_000);
    expect(last.historyLength).toBeLessThan(2_000);
    expect(last.runId).toBe(execution.temporalRunId);
    expect(last.raw.workflowExecutionInfo?.firstRunId).not.toBe(last.runId);
  });
});
