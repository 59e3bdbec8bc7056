import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { v7 as uuidV7 } from 'uuid';
import { failExecution } from '../shared/domain/automations/fail-execution.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
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
import { startTestStack, type TestStack } from './support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

const SECRET_PART = 'grace-hopper';

let stack: TestStack;
let hook: WebhookReceiver;
beforeAll(async () => {
  stack = await startTestStack({
    config: { API_RATE_LIMIT_PER_MINUTE: 100_000, WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
  });
  hook = await startWebhookReceiver();
});
afterAll(async () => {
  await hook.close();
  await stack.stop();
});

interface Fault {
  step: (templateId: string) => TestStep;
  /** Causes the fault after the automation was enabled. */
  cause?: (automationId: string, templateId: string) => Promise<unknown>;
  data?: object;
  reason: RegExp;
}

/** Changes the first step after the trigger in the graph of new executions. */
async function changeStep(automationId: string, change: object): Promise<void> {
  await query(
    stack.em(),
    sql`
      update automation_graph set graph = jsonb_set(graph, '{steps,1}', graph #> '{steps,1}' || ${JSON.stringify(change)}::jsonb)
      where automation_id = ${automationId}`,
  );
}

const mail = (templateId: string): TestStep => ({ type: 'SEND_EMAIL', templateId });
const webhook = (config: object) => (): TestStep => ({ type: 'WEBHOOK', config });
const NESTED = '{{#each event.l}}{{#each event.l}}{{#each event.l}}x{{/each}}{{/each}}{{/each}}';
const LIST = Array.from({ length: 1_000 }, (_, n) => n % 10);

const FAULTS: Record<string, Fault> = {
  'a template that was deleted': {
    step: mail,
    cause: (_id, templateId) => stack.api('DELETE', `/templates/${templateId}`),
    reason: /Template not found/,
  },
  'a template that grows beyond its caps': {
    step: mail,
    cause: (_id, templateId) => query(stack.em(), sql`update template set body = ${NESTED} where id = ${templateId}`),
    data: { l: LIST },
    reason: /limit|too|more than/i,
  },
  'a template that does not compile': {
    step: mail,
    cause: (_id, templateId) => query(stack.em(), sql`update template set body = '{{#if x}}' where id = ${templateId}`),
    reason: /if/,
  },
  'a sender domain that is not verified any more': {
    step: mail,
    cause: (_id, templateId) =>
      query(stack.em(), sql`update template set from_address = 'a@gone.test' where id = ${templateId}`),
    reason: /gone\.test/,
  },
  'a custom recipient that is not an address': {
    step: (templateId) => ({
      ...mail(templateId),
      config: { recipient: { type: 'CUSTOM', customEmail: '{{event.boss}}' } },
    }),
    data: { boss: `${SECRET_PART} at home` },
    reason: /custom recipient/,
  },
  'data that would make the contact too large': {
    step: () => ({ type: 'UPDATE_CONTACT', config: { data: { a: 'x'.repeat(40_000) } } }),
    data: { b: 'y'.repeat(40_000) },
    reason: /data/,
  },
  'a configuration that is not valid': {
    step: () => ({ type: 'DELAY', config: { amount: 1, unit: 'days' } }),
    cause: (id) => changeStep(id, { config: { amount: 'soon' } }),
    reason: /configuration of the step cannot be used: amount/,
  },
  'a type of step that is unknown': {
    step: () => ({ type: 'EXIT' }),
    cause: (id) => changeStep(id, { type: 'TELEPORT' }),
    reason: /TELEPORT/,
  },
  'a webhook whose template grows beyond its caps': {
    step: webhook({ url: 'http://127.0.0.1:9/', body: { text: NESTED } }),
    data: { l: LIST },
    reason: /limit|too|more than/i,
  },
  'a webhook whose template does not print a URL': {
    step: webhook({ url: '{{event.url}}' }),
    data: { url: `${SECRET_PART} is no URL` },
    reason: /does not print a URL/,
  },
  'a webhook whose placeholder changes its host': {
    step: webhook({ url: '{{event.url}}{{event.rest}}' }),
    data: { url: 'http://127.0.0.1', rest: `.${SECRET_PART}.test` },
    reason: /changes its host/,
  },
  'a stored webhook whose host is a placeholder': {
    step: webhook({ url: 'http://127.0.0.1:9/' }),
    cause: (id) => changeStep(id, { config: { url: 'http://{{event.host}}/' } }),
    reason: /configuration of the step cannot be used: url|names no host/,
  },
};

describe('an execution that fails for good', () => {
  it.each(Object.entries(FAULTS))(
    'because of %s ends FAILED, says why, and tells Temporal only ids',
    async (_cause, fault) => {
      const event = `fault_${uuidV7()}`;
      const templateId = await createTemplate(stack);
      const id = await createAutomation(stack, event, { Faulty: fault.step(templateId) });
      await fault.cause?.(id, templateId);
      await track(stack, `${uuidV7()}@${SECRET_PART}.test`, event, fault.data);
      const execution = await executionThatIs(stack, id, 'FAILED');
      expect(execution.exitReason).toMatch(fault.reason);
      expect(execution.exitReason.length).toBeLessThanOrEqual(1_000);
      expect(stepsOf(execution)).toEqual(['Trigger COMPLETED', expect.stringMatching(/FAILED$/)]);
      expect(execution.stepExecutions[1].error).toBe(execution.exitReason);

      const handle = stack.temporal.client.workflow.getHandle(`execution/${execution.id}`);
      const error = (await handle.result().catch((reason: unknown) => reason)) as Error & { cause: Error };
      expect(error.cause.message).toContain(execution.id);
      expect(error.cause.message).toContain(`POST /workflows/${id}/executions/${execution.id}/retry`);
      const history = historyToJSON(await handle.fetchHistory());
      expect(history).not.toContain(SECRET_PART);
      expect(history).not.toMatch(/"stackTrace":\s*"[^"]/);
    },
  );

  it('can be followed by another one of the same contact where the workflow allows re-entry', async () => {
    const templateId = await createTemplate(stack);
    const id = await createAutomation(stack, 'repaired', { Mail: mail(templateId) }, { allowReentry: true });
    await stack.api('DELETE', `/templates/${templateId}`);
    const { contact: contactId } = await track(stack, 'again@mail.test', 'repaired');
    const failed = await executionThatIs(stack, id, 'FAILED');
    expect(failed.status).toBe('FAILED');
    const restarted = await stack.api('POST', `/workflows/${id}/executions`, { body: { contactId } });
    expect(restarted.status).toBe(201);
    expect(await executionsOf(stack, id)).toHaveLength(2);
  });
});

describe('an execution whose activity was given up', () => {
  it('ends FAILED once, at its current step, and waits for nothing', async () => {
    const id = await createAutomation(stack, 'stuck', {
      Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' } },
    });
    await track(stack, 'stuck@mail.test', 'stuck');
    const { id: executionId } = await executionThatIs(stack, id, 'WAITING');
    await failExecution(stack.em(), executionId, 'Given up after 20 times.');
    await failExecution(stack.em(), executionId, 'Again.');
    const failed = await executionOf(stack, id, executionId);
    expect(failed).toMatchObject({
      status: 'FAILED',
      exitReason: 'Given up after 20 times.',
      completedAt: expect.any(String),
    });
    expect(stepsOf(failed)).toEqual(['Trigger COMPLETED', 'Wait FAILED']);
    expect(await query(stack.em(), sql`select from event_wait where execution_id = ${executionId}`)).toEqual([]);
    await stack.temporal.client.workflow.getHandle(`execution/${executionId}`).terminate();
  });
});
