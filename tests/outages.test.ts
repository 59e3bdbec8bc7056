import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { createAutomation, executionThatIs, track } from './support/automations.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { testEnvironment } from './support/environment.ts';
import { createGate } from './support/gate.ts';
import { untilHandedOver } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { startWebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';
import { query } from './support/rows.ts';

const RECIPIENTS = 400;
/** Longer than the heartbeat timeout, so an attempt that holds results must send heartbeats meanwhile. */
const OUTAGE_MS = 12_000;

describe('while Temporal is out of reach', () => {
  let temporalProxy: TcpProxy;
  let stack: TestStack;
  beforeAll(async () => {
    temporalProxy = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
    stack = await startTestStack({ temporalAddress: new URL(temporalProxy.url).host });
  });
  afterAll(async () => {
    await stack.stop();
    await temporalProxy.close();
  });

  it('requests succeed, and their work begins when it is back', async () => {
    await temporalProxy.cut();
    const sent = await stack.api('POST', '/v1/send', {
      body: { to: 'patient@mail.test', from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' },
    });
    const { body: created } = await stack.api('POST', '/campaigns', {
      body: {
        name: 'News',
        subject: 'News',
        body: '<p>News</p>',
        from: 'news@example.com',
        audienceType: 'ALL',
        type: 'TRANSACTIONAL',
      },
    });
    const started = await stack.api('POST', `/campaigns/${created.data.id}/send`, { body: {} });
    const tracked = await stack.api('POST', '/v1/track', {
      key: 'public',
      body: { email: 'other@mail.test', event: 'signup' },
    });
    expect([sent.status, started.status, tracked.status]).toEqual([200, 200, 200]);
    expect(stack.sink.messageCount()).toBe(0);

    await temporalProxy.restore();
    await stack.sink.waitForMessages(2, 30_000);
    const campaign = await eventually(async () => {
      const { body } = await stack.api('GET', `/campaigns/${created.data.id}`);
      return body.status === 'SENT' && body;
    });
    expect(campaign.sentCount).toBe(campaign.totalRecipients);
    // The last outbox rows start their work after the campaign is SENT.
    await untilHandedOver(stack.em);
  });
});

describe('while PostgreSQL is out of reach', () => {
  const ENDING = 200;
  // At its end a campaign has no more emails to send, and only waits to record results.
  const gates = { 'middle.test': createGate(RECIPIENTS / 4), 'ending.test': createGate(ENDING * 0.95) };
  const isGated = (domain: string): domain is keyof typeof gates => domain in gates;
  let databaseProxy: TcpProxy;
  let stack: TestStack;
  let worker: WorkerProcess | undefined;
  beforeAll(async () => {
    stack = await startTestStack({
      hasWorkers: false,
      sink: {
        keepMessages: false,
        beforeReply(recipient) {
          const domain = recipient.split('@')[1] ?? '';
          return isGated(domain) ? gates[domain].pass() : undefined;
        },
      },
      config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
    });
    databaseProxy = await startTcpProxy(stack.database.url);
    // More than the gates hold.
    const config = { ...stack.config, DATABASE_URL: databaseProxy.url, SMTP_CONNECTIONS: 30 };
    worker = startWorkerProcess(config, stack.temporal);
  });
  afterAll(async () => {
    await worker?.kill();
    await databaseProxy.close();
    await stack.stop();
  });

  it('campaigns continue without losing or repeating an email, and a webhook that has answered is not called again', async () => {
    const hook = await startWebhookReceiver();
    const [middle, ending] = [await stack.createProject(), await stack.createProject()];
    await addReaders(stack.em(), middle.project.id, RECIPIENTS, 'middle.test');
    await addReaders(stack.em(), ending.project.id, ENDING, 'ending.test');
    // The one that ends comes first, because the other one would hold all connections.
    const campaigns = [await sendToAll(ending)];
    await gates['ending.test'].untilHeld();
    campaigns.push(await sendToAll(middle));
    await gates['middle.test'].untilHeld();
    hook.hold();
    const step = { type: 'WEBHOOK', config: { url: hook.url } };
    const automationId = await createAutomation(stack, 'bought', { Call: step });
    await track(stack, 'hook@mail.test', 'bought');
    await eventually(() => Promise.resolve(hook.calls.size === 1));

    await databaseProxy.cut();
    for (const gate of Object.values(gates)) gate.openUntil(Infinity);
    hook.release();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    await databaseProxy.restore();
    for (const campaign of campaigns) await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    const counts = stack.sink.recipientCounts();
    expect(counts.size).toBe(RECIPIENTS + ENDING);
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    const { stepExecutions } = await executionThatIs(stack, automationId, 'COMPLETED');
    expect([...hook.calls.values()]).toEqual([1]);
    expect(stepExecutions.at(-1).output).toMatchObject({ statusCode: 200, attempts: 1 });
    await hook.close();
  }, 120_000);
});

describe('a worker that ends while PostgreSQL is out of reach', () => {
  let databaseProxy: TcpProxy;
  let temporalProxy: TcpProxy;
  let stack: TestStack;
  let folder: string;
  let worker: WorkerProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'everpost-results-'));
    stack = await startTestStack({ hasWorkers: false, sink: { delayMs: 20, keepMessages: false } });
    databaseProxy = await startTcpProxy(stack.database.url);
    temporalProxy = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
    await addReaders(stack.em(), stack.project.id, RECIPIENTS);
    startWorker('one');
  });
  afterAll(async () => {
    await worker.kill();
    await databaseProxy.close();
    await temporalProxy.close();
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  function startWorker(machine: string): void {
    const config = { DATABASE_URL: databaseProxy.url, SMTP_CONNECTIONS: 5, RESULTS_FOLDER: join(folder, machine) };
    const connectionOptions = { ...stack.temporal.connectionOptions, address: new URL(temporalProxy.url).host };
    worker = startWorkerProcess({ ...stack.config, ...config }, { ...stack.temporal, connectionOptions });
  }

  /** Stops the worker in the middle of an outage, and starts the next one. */
  async function stopDuring(outage: TcpProxy[], machine: string): Promise<void> {
    await Promise.all(outage.map((proxy) => proxy.cut()));
    expect(await worker.terminate()).toBe(0);
    startWorker(machine);
    await Promise.all(outage.map((proxy) => proxy.restore()));
  }

  function expectOnceEach(count: number): void {
    const counts = stack.sink.recipientCounts();
    expect(counts.size).toBe(count);
    expect([...counts.values()].filter((times) => times > 1)).toEqual([]);
  }

  it('repeats no email when it is told to stop, and another worker goes on on another machine', async () => {
    const to = Array.from({ length: RECIPIENTS / 2 }, (_, index) => `buyer${index}@mail.test`);
    const shop = await stack.createProject();
    const campaign = await sendToAll(stack);
    for (let first = 0; first < to.length; first += 100) {
      await shop.api('POST', '/v1/send', {
        body: { to: to.slice(first, first + 100), from: 'shop@example.com', subject: 'Order', body: '<p>Order</p>' },
      });
    }
    const arrivedOf = (kind: string) =>
      [...stack.sink.recipientCounts().keys()].filter((address) => address.startsWith(kind)).length;
    await eventually(async () => arrivedOf('buyer') > 0 && arrivedOf('reader') > 0, 60_000);
    await stopDuring([databaseProxy], 'another');
    await eventually(async () => {
      const open = sql`select from email where campaign_id is null and status in ('PENDING', 'SENDING')`;
      return (await campaign.read()).status === 'SENT' && (await query(stack.em(), open)).length === 0;
    }, 60_000);
    expectOnceEach(RECIPIENTS + to.length);
  }, 120_000);

  it('repeats no email when Temporal is out of reach as well, and a worker goes on on the same machine', async () => {
    stack.sink.clear();
    const campaign = await sendToAll(stack);
    await eventually(() => Promise.resolve(stack.sink.messageCount() >= RECIPIENTS / 4), 60_000);
    await stopDuring([databaseProxy, temporalProxy], 'another');
    await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    expectOnceEach(RECIPIENTS);
  }, 120_000);

  it('repeats no email when it is killed, and a worker goes on on the same machine', async () => {
    stack.sink.clear();
    const campaign = await sendToAll(stack);
    await eventually(() => Promise.resolve(stack.sink.messageCount() >= RECIPIENTS / 4), 60_000);
    await databaseProxy.cut();
    // What can no more be recorded ends sending.
    let before = 0;
    await eventually(async () => {
      before = stack.sink.messageCount();
      await delay(1_000);
      return stack.sink.messageCount() === before;
    }, 60_000);
    expect(before).toBeLessThan(RECIPIENTS);
    await worker.kill();
    startWorker('another');
    await databaseProxy.restore();
    await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    expectOnceEach(RECIPIENTS);
  }, 120_000);
});
