import { afterAll, beforeAll, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { webhookEndpointWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { track } from '../support/automations.ts';
import { storeHistory } from '../support/histories.ts';
import { startHookReceiver, type HookReceiver } from '../support/hook-receiver.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';

const TIMEOUT_MS = 60_000;

let receiver: HookReceiver;
let stack: TestStack;
beforeAll(async () => {
  receiver = await startHookReceiver();
  stack = await startTestStack({
    config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'], WEBHOOK_RETRY_SECONDS: [0.5] },
  });
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

it(
  'records an endpoint that delivers, fails, is woken and goes',
  async () => {
    const { body } = await stack.api('POST', '/webhooks', { body: { url: receiver.url } });
    await track(stack, 'a@mail.test', 'first');
    await eventually(async () => receiver.calls.length > 0, TIMEOUT_MS);
    receiver.answer((_call, response) => void response.writeHead(500).end());
    await track(stack, 'a@mail.test', 'second');
    await eventually(async () => receiver.calls.length > 2, TIMEOUT_MS);
    receiver.answer((_call, response) => void response.writeHead(204).end());
    await eventually(async () => (await stack.api('GET', `/webhooks/${body.id}`)).body.status === 'active', TIMEOUT_MS);
    await track(stack, 'a@mail.test', 'third');
    await eventually(async () => receiver.events().some((event) => event.type === 'third'), TIMEOUT_MS);
    await stack.api('POST', `/webhooks/${body.id}/test`);
    await query(stack.em(), sql`delete from webhook_endpoint`);
    const workflowId = webhookEndpointWorkflowId(body.id);
    const handle = stack.temporal.client.workflow.getHandle(workflowId);
    await eventually(async () => (await handle.describe()).closeTime !== undefined, TIMEOUT_MS);
    await storeHistory(stack.temporal.client, workflowId, 'webhookEndpoint.failed-and-woken');
  },
  3 * TIMEOUT_MS,
);
