import { afterAll, beforeAll, it } from '@jest/globals';
import { executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { createAutomation, executionThatIs, executionsOf, track } from '../support/automations.ts';
import { storeHistory } from '../support/histories.ts';
import { resetToLastTask } from '../support/reset.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const TIMEOUT_MS = 60_000;

let stack: TestStack;
let hook: WebhookReceiver;
beforeAll(async () => {
  stack = await startTestStack({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  hook = await startWebhookReceiver();
});
afterAll(async () => {
  await hook.close();
  await stack.stop();
});

/** Has an execution fail, repairs its step and has it go on. Stores the history of the run that goes on. */
async function record(how: 'retried' | 'reset', goOn: (path: string, workflowId: string) => Promise<unknown>) {
  const id = await createAutomation(stack, how, {
    Call: { type: 'WEBHOOK', config: { url: `${hook.url}/refused` } },
  });
  await track(stack, `${how}@mail.test`, how);
  await executionThatIs(stack, id, 'FAILED');
  const [execution] = await executionsOf(stack, id);
  const workflowId = executionWorkflowId(execution.id);
  const runThatIs = (status: string) =>
    eventually(async () => {
      const run = await stack.temporal.client.workflow.getHandle(workflowId).describe();
      return run.status.name === status && run.runId;
    });
  await runThatIs('FAILED');
  const { body } = await stack.api('GET', `/workflows/${id}`);
  const step = body.steps.find((each: any) => each.name === 'Call');
  await stack.api('PATCH', `/workflows/${id}/steps/${step.id}`, { body: { config: { url: hook.url } } });
  await goOn(`/workflows/${id}/executions/${execution.id}/retry`, workflowId);
  await runThatIs('COMPLETED');
  await storeHistory(stack.temporal.client, workflowId, `automationExecution.${how}`);
}

it(
  'records the runs of an execution that has failed after a retry and after a Reset',
  async () => {
    await record('retried', (path) => stack.api('POST', path));
    await record('reset', (_path, workflowId) => resetToLastTask(stack.temporal, workflowId));
  },
  TIMEOUT_MS,
);
