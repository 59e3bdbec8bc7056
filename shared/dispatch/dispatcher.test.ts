import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { createTestNamespace, type TestNamespace } from '../../tests/support/temporal.ts';
import { addToOutbox } from '../domain/outbox/outbox.ts';
import { createLogger } from '../platform/logger.ts';
import { emailDeliveryWorkflowId } from '../pure/workflow-contracts.ts';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from './dispatcher.ts';

/** Longer than the test, so that nothing is found by polling. */
const POLL_MS = 3_600_000;

let api: TestApi;
let temporal: TestNamespace;
beforeAll(async () => {
  [api, temporal] = await Promise.all([startTestApi(), createTestNamespace()]);
});
afterAll(async () => {
  await temporal.close();
  await api.stop();
});

async function withDispatcher(options: Partial<DispatcherDeps>, run: (dispatcher: Dispatcher) => Promise<void>) {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const { orm } = api.database;
  const dispatcher = createDispatcher({ orm, client: temporal.client, logger, pollMs: POLL_MS, ...options });
  await run(dispatcher).finally(() => dispatcher.stop());
}

async function addEmail(): Promise<string> {
  const emailId = uuidV7();
  await addToOutbox(api.em(), 'email', api.project.id, [emailId]);
  return emailId;
}

/** Waits until Temporal has the delivery of an email. */
async function untilHandedOver(emailId: string): Promise<void> {
  const handle = temporal.client.workflow.getHandle(emailDeliveryWorkflowId(emailId));
  await eventually(() => handle.describe());
}

describe('a dispatcher', () => {
  it('of a worker looks again by itself after it has seen work', async () => {
    await withDispatcher({}, async (dispatcher) => {
      const first = await addEmail();
      dispatcher.wake();
      await untilHandedOver(first);
      await untilHandedOver(await addEmail());
    });
  });

  it('of the API hands over what no worker has seen', async () => {
    await withDispatcher({ isApiProcess: true }, async (dispatcher) => {
      const emailId = await addEmail();
      dispatcher.wake();
      await untilHandedOver(emailId);
    });
  });
});
