import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, it } from '@jest/globals';
import { executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import {
  createAutomation,
  createTemplate,
  executionThatIs,
  executionsOf,
  track,
  type TestStep,
} from '../support/automations.ts';
import { storeHistory } from '../support/histories.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';

const TIMEOUT_MS = 60_000;
/** 1.2 seconds. */
const SHORT_DELAY = { amount: 0.02, unit: 'minutes' };

const server = createServer((_request, response) => response.end('fine'));
let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await stack.stop();
});

async function record(
  name: string,
  steps: Record<string, TestStep>,
  act?: (automationId: string, email: string) => Promise<unknown>,
): Promise<void> {
  const event = `record_${name.replaceAll('-', '_')}`;
  const automationId = await createAutomation(stack, event, steps, { name });
  const email = `${event}@mail.test`;
  await track(stack, email, event, { plan: 'pro' });
  await act?.(automationId, email);
  const [execution] = await executionsOf(stack, automationId);
  const workflowId = executionWorkflowId(execution.id);
  await eventually(async () => {
    const description = await stack.temporal.client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined);
    return description?.closeTime !== undefined;
  });
  await storeHistory(stack.temporal.client, workflowId, `automationExecution.in-task-${name}`);
}

it(
  'records executions of every type of step',
  async () => {
    const templateId = await createTemplate(stack);
    const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const wait = (timeout: number) => ({
      Wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'answer', timeout },
        branches: { event: 'Out', timeout: 'Out' },
      },
      Out: { type: 'EXIT' },
    });
    await record('condition-and-mail', {
      'Is pro?': {
        type: 'CONDITION',
        config: { field: 'event.plan', operator: 'equals', value: 'pro' },
        branches: { yes: 'Welcome' },
      },
      Welcome: { type: 'SEND_EMAIL', templateId },
    });
    await record('delay', { Rest: { type: 'DELAY', config: SHORT_DELAY, next: 'Out' }, Out: { type: 'EXIT' } });
    await record('wait-timed-out', wait(1));
    await record('wait-ended-by-event', wait(3_600), async (id, email) => {
      await executionThatIs(stack, id, 'WAITING');
      await track(stack, email, 'answer');
    });
    await record('webhook', { Call: { type: 'WEBHOOK', config: { url: hook } } });
    await record('update-contact', { Note: { type: 'UPDATE_CONTACT', config: { data: { seen: true } } } });
    await record('failed', {
      Mail: {
        type: 'SEND_EMAIL',
        templateId,
        config: { recipient: { type: 'CUSTOM', customEmail: '{{event.none}}' } },
      },
    });
    await record('cancelled', wait(3_600), async (id) => {
      await executionThatIs(stack, id, 'WAITING');
      await stack.api('POST', `/workflows/${id}/executions/cancel-all`);
    });
  },
  TIMEOUT_MS,
);
