import { afterAll, beforeAll, it } from '@jest/globals';
import { executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { createChain, executionThatIs, track } from '../support/automations.ts';
import { storeHistory } from '../support/histories.ts';
import { startStackShortOfHistory } from '../support/long-histories.ts';
import { runIdsOf } from '../support/runs.ts';
import type { TestStack } from '../support/stack.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';

const TIMEOUT_MS = 60_000;
/** A production server suggests it after thousands of events, which would make a large file. */
const SUGGESTED_AFTER_EVENTS = 25;
const STEPS = 6;

let stack: TestStack;
let hook: WebhookReceiver;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stack, hook, stop } = await startStackShortOfHistory(SUGGESTED_AFTER_EVENTS));
});
afterAll(() => stop());

/** Records the run that continues as new, and the next run. */
async function record(name: string, type: string, config: object): Promise<void> {
  const event = `record_${type.toLowerCase()}`;
  const automationId = await createChain(
    stack,
    event,
    type,
    Array.from({ length: STEPS }, () => config),
  );
  await track(stack, `${event}@mail.test`, event);
  const { id } = await executionThatIs(stack, automationId, 'COMPLETED');
  const workflowId = executionWorkflowId(id);
  const { client } = stack.temporal;
  await client.workflow.getHandle(workflowId).result();
  const runIds = await runIdsOf(client, workflowId);
  if (runIds.length < 2) throw new Error(`${workflowId} has not continued as new`);
  await storeHistory(client, workflowId, `automationExecution.${name}`, runIds[0]);
  await storeHistory(client, workflowId, `automationExecution.${name}-continuation`, runIds[1]);
}

it(
  'records executions that continue as new',
  async () => {
    await record('continued-after-delays', 'DELAY', { amount: 0.001, unit: 'minutes' });
    await record('continued-between-webhooks', 'WEBHOOK', { url: hook.url });
  },
  TIMEOUT_MS,
);
