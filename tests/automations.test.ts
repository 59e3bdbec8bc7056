import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { runCli } from '../cli/run-cli.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { CURRENT_STEP_QUERY } from '../shared/pure/workflow-contracts.ts';
import { testEnvironment } from './support/environment.ts';
import {
  createAutomation,
  createTemplate,
  executionOf,
  executionThatIs,
  executionsOf,
  stepsOf,
  track,
} from './support/automations.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ config: { API_RATE_LIMIT_PER_MINUTE: 100_000 } });
});
afterAll(() => stack.stop());

const exit = (reason: string) => ({ type: 'EXIT', config: { reason } });
const sent = (email: string) => stack.sink.messages().filter((message) => message.to.includes(email));

describe('an event', () => {
  it('starts an execution, whose email contains the data of the event', async () => {
    const templateId = await createTemplate(stack);
    const id = await createAutomation(stack, 'signed_up', {
      'Is pro?': {
        type: 'CONDITION',
        config: { field: 'event.plan', operator: 'equals', value: 'pro' },
        branches: { yes: 'Welcome', no: 'Out' },
      },
      Welcome: { type: 'SEND_EMAIL', templateId },
      Out: exit('not pro'),
    });
    const tracked = await track(stack, 'ada@mail.test', 'signed_up', {
      name: 'Ada',
      plan: { value: 'pro', persistent: false },
    });
    const execution = await executionThatIs(stack, id, 'COMPLETED');
    expect(execution).toMatchObject({
      workflowId: id,
      contactId: tracked.contact,
      contact: { id: tracked.contact, email: 'ada@mail.test' },
      workflow: { id, name: 'Automation' },
      context: { name: 'Ada', plan: 'pro' },
      exitReason: null,
      temporalWorkflowId: `execution/${execution.id}`,
      temporalRunId: expect.any(String),
      completedAt: expect.any(String),
    });
    expect(stepsOf(execution)).toEqual(['Trigger COMPLETED', 'Is pro? COMPLETED', 'Welcome COMPLETED']);
    const [, asked, mailed] = execution.stepExecutions;
    expect(asked.output).toEqual({ result: true, branch: 'yes' });
    expect(mailed.output).toEqual({
      templateId,
      to: 'ada@mail.test',
      emailId: expect.any(String),
      subject: 'Hello Ada',
    });
    await eventually(async () => sent('ada@mail.test').length === 1);
    const parsed = await sent('ada@mail.test')[0]!.parsed();
    expect([parsed.subject, parsed.text?.trim()]).toEqual(['Hello Ada', 'Hi pro']);

    const event = await eventually(async () => {
      const { body } = await stack.api('GET', '/events?eventName=email.sent');
      return body.events.find((it: any) => it.emailId === mailed.output.emailId);
    });
    expect(event.data).toMatchObject({ workflowId: id, templateId, campaignId: null });

    const handle = stack.temporal.client.workflow.getHandle(`execution/${execution.id}`);
    const description = await handle.describe();
    const attributes = description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    expect(Object.fromEntries(attributes)).toMatchObject({
      ProjectId: stack.project.id,
      AutomationId: id,
      ContactId: tracked.contact,
    });
    await handle.result();
    const history = await handle.fetchHistory();
    expect(history.events!.length).toBeLessThanOrEqual(12);
  });

  it('of Everpost itself starts automations as well', async () => {
    const id = await createAutomation(stack, 'contact.unsubscribed', { Gone: exit('bye') });
    await stack.api('POST', '/contacts', { body: { email: 'leaver@mail.test' } });
    await stack.api('POST', '/contacts', { body: { email: 'leaver@mail.test', subscribed: false } });
    expect(await executionThatIs(stack, id, 'EXITED')).toMatchObject({ exitReason: 'bye' });
  });

  it('starts no automation that is disabled, manual, or of another project', async () => {
    const ids = [
      await createAutomation(stack, 'quiet', { Out: exit('x') }, { enabled: false }),
      await createAutomation(stack, 'quiet', { Out: exit('x') }),
    ];
    await stack.api('PATCH', `/workflows/${ids[1]}`, { body: { triggerType: 'MANUAL' } });
    const other = await stack.createProject();
    ids.push(await createAutomation(stack, 'quieter', { Out: exit('x') }));
    await track(stack, 'q@mail.test', 'quiet');
    await track(other, 'q@mail.test', 'quieter');
    for (const id of ids) expect(await executionsOf(stack, id)).toEqual([]);
  });
});

describe('re-entry', () => {
  it('is refused where it is not allowed, and while an execution is active, however many events come at once', async () => {
    const once = await createAutomation(stack, 'entered', { Out: exit('done') });
    const again = await createAutomation(stack, 'entered', { Out: exit('done') }, { allowReentry: true });
    await stack.stopWorkers();
    await Promise.all(Array.from({ length: 20 }, () => track(stack, 'r@mail.test', 'entered')));
    expect((await executionsOf(stack, once)).length).toBe(1);
    expect((await executionsOf(stack, again)).length).toBe(1);
    await stack.startWorkers();
    await executionThatIs(stack, again, 'EXITED');
    await executionThatIs(stack, once, 'EXITED');
    await track(stack, 'r@mail.test', 'entered');
    expect((await executionsOf(stack, once)).length).toBe(1);
    expect((await executionsOf(stack, again)).length).toBe(2);
    await stack.api('PATCH', `/workflows/${again}`, { body: { allowReentry: false } });
    await executionThatIs(stack, again, 'EXITED');
    await track(stack, 'r@mail.test', 'entered');
    expect((await executionsOf(stack, again)).length).toBe(2);
  });
});

describe('an execution started by hand', () => {
  it('gets the given context, and is refused when the contact may not enter', async () => {
    const id = await createAutomation(stack, 'never', { Out: exit('done') });
    const { contact: contactId } = await track(stack, 'm@mail.test', 'hello');
    const start = (body: object) => stack.api('POST', `/workflows/${id}/executions`, { body });
    const started = await start({ contactId, context: { plan: 'x' } });
    expect([started.status, started.body.context]).toEqual([201, { plan: 'x' }]);
    await executionThatIs(stack, id, 'EXITED');
    expect((await start({ contactId })).status).toBe(409);
    expect((await start({ contactId: id })).status).toBe(404);
    await stack.api('PATCH', `/workflows/${id}`, { body: { enabled: false } });
    expect((await start({ contactId })).status).toBe(400);
    expect((await stack.api('GET', `/workflows/${id}/executions?status=EXITED`)).body.total).toBe(1);
    expect((await stack.api('GET', `/workflows/${id}/executions?status=RUNNING`)).body.total).toBe(0);
    expect((await stack.api('GET', `/workflows/${id}/executions?status=LOST`)).status).toBe(400);
  });
});

describe('a SEND_EMAIL step', () => {
  it('skips marketing email to an unsubscribed contact, and the execution continues', async () => {
    const marketing = await createTemplate(stack, { type: 'MARKETING' });
    const transactional = await createTemplate(stack);
    const id = await createAutomation(stack, 'consent', {
      Offer: { type: 'SEND_EMAIL', templateId: marketing, next: 'Receipt' },
      Receipt: { type: 'SEND_EMAIL', templateId: transactional },
    });
    await stack.api('POST', '/contacts', { body: { email: 'no@mail.test', subscribed: false } });
    await track(stack, 'no@mail.test', 'consent');
    const execution = await executionThatIs(stack, id, 'COMPLETED');
    expect(stepsOf(execution)).toEqual(['Trigger COMPLETED', 'Offer SKIPPED', 'Receipt COMPLETED']);
    expect(execution.stepExecutions[1].output).toMatchObject({ skipped: 'unsubscribed' });
    await eventually(async () => sent('no@mail.test').length === 1);
  });

  it('writes to a custom recipient', async () => {
    const templateId = await createTemplate(stack);
    const recipient = { type: 'CUSTOM', customEmail: '{{event.manager}}' };
    const id = await createAutomation(stack, 'report', {
      Report: { type: 'SEND_EMAIL', templateId, config: { recipient } },
    });
    await track(stack, 'worker@mail.test', 'report', { manager: 'Boss@Mail.test' });
    await executionThatIs(stack, id, 'COMPLETED');
    await eventually(async () => sent('boss@mail.test').length === 1);
  });

  it('that cannot succeed fails the execution in PostgreSQL and in Temporal, with the reason', async () => {
    const templateId = await createTemplate(stack);
    const id = await createAutomation(stack, 'broken', {
      Note: { type: 'UPDATE_CONTACT', config: { data: { noted: true } }, next: 'Mail' },
      Mail: { type: 'SEND_EMAIL', templateId, next: 'Never' },
      Never: exit('unreachable'),
    });
    await stack.api('DELETE', `/templates/${templateId}`);
    await track(stack, 'b@mail.test', 'broken');
    const execution = await executionThatIs(stack, id, 'FAILED');
    expect(stepsOf(execution)).toEqual(['Trigger COMPLETED', 'Note COMPLETED', 'Mail FAILED']);
    expect(execution.stepExecutions[2].error).toBe('Template not found');
    expect(execution).toMatchObject({ exitReason: 'Template not found', currentStep: { name: 'Mail' } });
    const handle = stack.temporal.client.workflow.getHandle(`execution/${execution.id}`);
    const error = await handle.result().catch((reason: unknown) => reason);
    expect((error as Error & { cause: Error }).cause.message).toContain(
      `Step "Mail" failed; GET /workflows/${id}/executions/${execution.id} says why. Repair`,
    );
  });
});

describe('an UPDATE_CONTACT step', () => {
  it('deletes data that is null, ignores an empty text and the address, and its events start other automations', async () => {
    const other = await createAutomation(stack, 'contact.unsubscribed', { Out: exit('noticed') });
    const id = await createAutomation(stack, 'changed', {
      Change: {
        type: 'UPDATE_CONTACT',
        config: { updates: { a: null, b: 2, c: '', email: 'x' }, subscriptionAction: 'unsubscribe' },
      },
    });
    await track(stack, 'u@mail.test', 'changed', { a: 1, c: 3 });
    const execution = await executionThatIs(stack, id, 'COMPLETED');
    const { body } = await stack.api('GET', `/contacts/${execution.contactId}`);
    expect(body).toMatchObject({ email: 'u@mail.test', subscribed: false, data: { b: 2, c: 3 } });
    expect(body.data).not.toHaveProperty('a');
    await executionThatIs(stack, other, 'EXITED');
  });
});

describe('a WAIT_FOR_EVENT step', () => {
  it('continues with the event, and merges its data into the context', async () => {
    const id = await createAutomation(stack, 'cart', {
      Buys: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'bought', timeout: 3600 },
        branches: { event: 'Yes', timeout: 'No' },
      },
      Yes: exit('bought'),
      No: exit('gave up'),
    });
    await track(stack, 'w@mail.test', 'cart', { item: 1, size: 'L' });
    const waiting = await executionThatIs(stack, id, 'WAITING');
    expect(waiting.currentStep).toMatchObject({ name: 'Buys', type: 'WAIT_FOR_EVENT' });
    expect(stepsOf(waiting)).toEqual(['Trigger COMPLETED', 'Buys WAITING']);
    await track(stack, 'other@mail.test', 'bought');
    await track(stack, 'w@mail.test', 'looked');
    const { event } = await track(stack, 'w@mail.test', 'bought', { item: 2, total: { value: 9, persistent: false } });
    const done = await executionThatIs(stack, id, 'EXITED');
    expect(done).toMatchObject({ exitReason: 'bought', context: { item: 2, size: 'L', total: 9 } });
    expect(done.stepExecutions[1].output).toMatchObject({ branch: 'event', eventId: event });
  });

  it('takes the first event that is tracked after the wait was recorded, also while no worker runs', async () => {
    const id = await createAutomation(stack, 'sleepy', {
      Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'wake' }, next: 'Out' },
      Out: exit('woken'),
    });
    await track(stack, 's@mail.test', 'sleepy');
    await executionThatIs(stack, id, 'WAITING');
    await stack.stopWorkers();
    await track(stack, 's@mail.test', 'wake', { n: 1 });
    await track(stack, 's@mail.test', 'wake', { n: 2 });
    await stack.startWorkers();
    expect(await executionThatIs(stack, id, 'EXITED')).toMatchObject({ context: { n: 1 } });
  });
});

describe('cancelling', () => {
  const waiting = { Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' } } };
  const closed = (id: string) =>
    eventually(async () => {
      const { status } = await stack.temporal.client.workflow.getHandle(`execution/${id}`).describe();
      return status.name !== 'RUNNING' && status.name;
    });

  it('ends an execution in PostgreSQL and in Temporal, once', async () => {
    const id = await createAutomation(stack, 'cancel_one', waiting);
    await track(stack, 'c@mail.test', 'cancel_one');
    const { id: executionId } = await executionThatIs(stack, id, 'WAITING');
    const conflict = await stack.api('DELETE', `/workflows/${id}`);
    expect([conflict.status, conflict.body.error.details]).toEqual([409, { activeExecutions: 1 }]);
    const path = `/workflows/${id}/executions/${executionId}`;
    const cancelled = await stack.api('DELETE', path);
    expect([cancelled.status, cancelled.body.status, cancelled.body.exitReason]).toEqual([
      200,
      'CANCELLED',
      'cancelled',
    ]);
    expect((await stack.api('DELETE', path)).status).toBe(409);
    expect(await closed(executionId)).toBe('CANCELLED');
    expect(stepsOf(await executionOf(stack, id, executionId))).toEqual(['Trigger COMPLETED', 'Wait SKIPPED']);
    expect((await stack.api('DELETE', `/workflows/${id}`)).status).toBe(204);
  });

  it('in Temporal ends the execution in PostgreSQL', async () => {
    const id = await createAutomation(stack, 'cancel_there', waiting);
    await track(stack, 'c@mail.test', 'cancel_there');
    const { id: executionId } = await executionThatIs(stack, id, 'WAITING');
    await stack.temporal.client.workflow.getHandle(`execution/${executionId}`).cancel();
    await executionThatIs(stack, id, 'CANCELLED');
    expect(await closed(executionId)).toBe('CANCELLED');
  });

  it('ends all executions of an automation, those of a deleted contact, and those of a disabled project', async () => {
    const id = await createAutomation(stack, 'cancel_all', waiting);
    const { contact } = await track(stack, 'd@mail.test', 'cancel_all', { secret: 'x' });
    await executionThatIs(stack, id, 'WAITING');
    await stack.api('DELETE', `/contacts/${contact}`);
    const [deleted] = await executionsOf(stack, id);
    expect(deleted).toMatchObject({ status: 'CANCELLED', exitReason: 'contact deleted', contact: null, context: {} });

    for (let i = 0; i < 5; i++) await track(stack, `all${i}@mail.test`, 'cancel_all');
    const all = await stack.api('POST', `/workflows/${id}/executions/cancel-all`);
    expect([all.status, all.body]).toEqual([200, { cancelled: 5 }]);
    expect((await executionsOf(stack, id)).every((it) => it.status === 'CANCELLED')).toBe(true);

    const other = await stack.createProject();
    const theirs = await createAutomation(other, 'cancel_all', waiting);
    await track(other, 'p@mail.test', 'cancel_all');
    await executionThatIs(other, theirs, 'WAITING');
    await updateProject(stack.em(), other.project.id, { disabled: true });
    await updateProject(stack.em(), other.project.id, { disabled: false });
    expect(await executionThatIs(other, theirs, 'CANCELLED')).toMatchObject({ exitReason: 'project disabled' });
  });
});

describe('operators', () => {
  it('see the current step, and fetch a history that replays', async () => {
    const id = await createAutomation(stack, 'watched', {
      'Wait for it': { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' } },
    });
    await track(stack, 'watch@mail.test', 'watched');
    const execution = await executionThatIs(stack, id, 'WAITING');
    const handle = stack.temporal.client.workflow.getHandle(execution.temporalWorkflowId);
    await eventually(async () => (await handle.query(CURRENT_STEP_QUERY)) === 'Wait for it');

    const folder = mkdtempSync(path.join(tmpdir(), 'everpost-history-'));
    const file = path.join(folder, 'history.json');
    const before = { ...process.env };
    process.env['TEMPORAL_ADDRESS'] = testEnvironment().temporalAddress;
    process.env['TEMPORAL_NAMESPACE'] = stack.temporal.namespace;
    try {
      let out = '';
      const io = { environment: process.env, writeOut: (text: string) => (out += text), writeError: () => undefined };
      expect(await runCli(['execution', 'history', execution.id, '--out', file, '--json'], io)).toBe(0);
      expect(JSON.parse(out)).toEqual({ workflowId: execution.temporalWorkflowId, events: expect.any(Number), file });
      const { workflowId, history } = JSON.parse(readFileSync(file, 'utf8'));
      const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
      await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(history), workflowId);
      expect(await runCli(['execution', 'history', id, '--out', file], io)).toBe(1);
    } finally {
      process.env = before;
      rmSync(folder, { recursive: true });
    }
  });
});

describe('200 executions at once', () => {
  it('send one email each', async () => {
    const templateId = await createTemplate(stack);
    const id = await createAutomation(stack, 'rush', { Mail: { type: 'SEND_EMAIL', templateId } });
    const addresses = Array.from({ length: 200 }, (_, i) => `rush${i}@mail.test`);
    await Promise.all(addresses.map((address) => track(stack, address, 'rush')));
    await eventually(async () => {
      const { body } = await stack.api('GET', `/workflows/${id}/executions?status=COMPLETED`);
      return body.total === 200;
    }, 40_000);
    await eventually(async () => addresses.every((address) => (stack.sink.recipientCounts().get(address) ?? 0) > 0));
    expect(addresses.map((address) => stack.sink.recipientCounts().get(address))).toEqual(addresses.map(() => 1));
  });
});
