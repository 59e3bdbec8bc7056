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

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function record(
  name: string,
  steps: Record<string, TestStep>,
  act?: (automationId: string, email: string) => Promise<unknown>,
): Promise<void> {
  const event = `record_${name.replaceAll('-', '_')}`;
  const automationId = await createAutomation(stack, event, steps, { name });
  const email = `${event}@mail.test`;
  await track(stack, email, event);
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
  await storeHistory(stack.temporal.client, workflowId, `automationExecution.${name}`);
}

it(
  'records executions that end, wait, fail and are cancelled',
  async () => {
    const templateId = await createTemplate(stack);
    const wait = (timeout: number) => ({
      Wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'answer', timeout },
        branches: { event: 'Out', timeout: 'Out' },
      },
      Out: { type: 'EXIT' },
    });
    await record('completed', { Welcome: { type: 'SEND_EMAIL', templateId } });
    await record('wait-timed-out', wait(1));
    await record('wait-ended-by-event', wait(3_600), async (id, email) => {
      await executionThatIs(stack, id, 'WAITING');
      await track(stack, email, 'answer');
    });
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
