import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { addReaders, campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const RECIPIENTS = 300;
const CONNECTIONS = 5;

let stack: TestStack;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({
    hasWorkers: false,
    config: { SMTP_CONNECTIONS: CONNECTIONS, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
    sink: { delayMs: 40, keepMessages: false },
  });
  await addReaders(stack.em(), stack.project.id, RECIPIENTS);
  worker = startWorkerProcess(stack.config, stack.temporal);
});
afterAll(async () => {
  await worker?.kill();
  await stack.stop();
});

const read = async (id: string) => (await stack.api('GET', `/campaigns/${id}`)).body;
const received = () => stack.sink.messageCount();

async function startCampaign(): Promise<string> {
  stack.sink.clear();
  const { body } = await stack.api('POST', '/campaigns', { body: campaignContent() });
  await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
  return body.data.id as string;
}

/** What the Temporal UI shows about the workflow. */
async function shownInTemporal(id: string): Promise<string> {
  const handle = stack.temporal.client.workflow.getHandle(campaignWorkflowId(id));
  return JSON.stringify(await handle.query('__temporal_workflow_metadata').catch(() => ''));
}

/**
 * Waits until no message is being sent and the workflow waits. After a kill, Temporal may first ask the dead worker.
 * @returns how many messages have arrived
 */
async function untilStill(id: string): Promise<number> {
  await eventually(async () => (await shownInTemporal(id)).includes('**Paused**'), 60_000);
  return received();
}

describe('a campaign that is paused while it is being sent', () => {
  it('sends nothing until it is resumed, also when its worker is killed, and then sends every other email once', async () => {
    const id = await startCampaign();
    await eventually(() => Promise.resolve(received() >= RECIPIENTS * 0.2), 30_000);
    expect((await stack.api('POST', `/campaigns/${id}/pause`)).status).toBe(200);
    const count = await untilStill(id);
    // Besides the first ones, these are the messages that were sent until the campaign saw the pause.
    expect(count).toBeLessThan(RECIPIENTS * 0.7);
    expect(await read(id)).toMatchObject({ status: 'SENDING', paused: true, sentCount: count });
    const waiting = await stack.api('GET', `/campaigns/${id}/recipients?state=PENDING&limit=1`);
    const email = await stack.api('GET', `/emails/${waiting.body.recipients[0].emailId}`);
    expect(email.body.waiting).toEqual({ reason: 'campaign paused', until: null, words: null });

    await worker?.kill();
    worker = startWorkerProcess(stack.config, stack.temporal);
    expect(await untilStill(id)).toBe(count);
    await stack.api('POST', `/campaigns/${id}/resume`);
    await eventually(async () => (await read(id)).status === 'SENT', 30_000);
    expect(await read(id)).toMatchObject({ paused: false, sentCount: RECIPIENTS, totalRecipients: RECIPIENTS });
    expect([...stack.sink.recipientCounts().values()]).toEqual(Array.from({ length: RECIPIENTS }, () => 1));
  }, 120_000);

  it('can be cancelled and deleted at once', async () => {
    const id = await startCampaign();
    await eventually(() => Promise.resolve(received() > 0), 30_000);
    await stack.api('POST', `/campaigns/${id}/pause`);
    const count = await untilStill(id);
    expect((await stack.api('POST', `/campaigns/${id}/cancel`)).body).toMatchObject({
      status: 'CANCELLED',
      paused: false,
    });
    expect((await stack.api('DELETE', `/campaigns/${id}`)).status).toBe(204);
    await stack.temporal.client.workflow.getHandle(campaignWorkflowId(id)).result();
    expect(received()).toBe(count);
  }, 60_000);
});
