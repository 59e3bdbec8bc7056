import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createAutomation, executionThatIs, track } from './support/automations.ts';
import { addReaders } from './support/campaigns.ts';
import { testEnvironment } from './support/environment.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { startWebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const RECIPIENTS = 1_000;
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
    await eventually(async () => (await query(stack.em(), sql`select id from outbox`)).length === 0);
  });
});

describe('while PostgreSQL is out of reach', () => {
  let databaseProxy: TcpProxy;
  let stack: TestStack;
  let worker: WorkerProcess | undefined;
  beforeAll(async () => {
    stack = await startTestStack({
      hasWorkers: false,
      sink: { delayMs: 5, keepMessages: false },
      config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
    });
    databaseProxy = await startTcpProxy(stack.database.url);
    await addReaders(stack.em(), stack.project.id, RECIPIENTS);
    worker = startWorkerProcess(
      { ...stack.config, DATABASE_URL: databaseProxy.url, SMTP_CONNECTIONS: 5 },
      stack.temporal,
    );
  });
  afterAll(async () => {
    await worker?.kill();
    await databaseProxy.close();
    await stack.stop();
  });

  it('a campaign waits, and continues without losing or repeating an email', async () => {
    stack.sink.clear();
    const { body } = await stack.api('POST', '/campaigns', {
      body: { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com', audienceType: 'ALL' },
    });
    await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
    await eventually(() => Promise.resolve(stack.sink.messageCount() >= RECIPIENTS / 4));
    await databaseProxy.cut();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    await databaseProxy.restore();
    await eventually(async () => {
      const { body: campaign } = await stack.api('GET', `/campaigns/${body.data.id}`);
      return campaign.status === 'SENT';
    }, 60_000);
    const counts = stack.sink.recipientCounts();
    expect(counts.size).toBe(RECIPIENTS);
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
  });

  it('a webhook that has answered is not called again, and its answer is recorded later', async () => {
    const hook = await startWebhookReceiver();
    hook.hold();
    const automationId = await createAutomation(stack, 'bought', {
      Call: { type: 'WEBHOOK', config: { url: hook.url } },
    });
    await track(stack, 'hook@mail.test', 'bought');
    await eventually(() => Promise.resolve(hook.calls.size === 1));
    await databaseProxy.cut();
    hook.release();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    await databaseProxy.restore();
    const { stepExecutions } = await executionThatIs(stack, automationId, 'COMPLETED');
    expect([...hook.calls.values()]).toEqual([1]);
    expect(stepExecutions.at(-1).output).toMatchObject({ statusCode: 200, attempts: 1 });
    await hook.close();
  });
});

describe('a worker that is told to stop while PostgreSQL is out of reach', () => {
  let databaseProxy: TcpProxy;
  let temporalProxy: TcpProxy;
  let stack: TestStack;
  let folder: string;
  let worker: WorkerProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'everpost-results-'));
    stack = await startTestStack({ hasWorkers: false, sink: { delayMs: 5, keepMessages: false } });
    databaseProxy = await startTcpProxy(stack.database.url);
    temporalProxy = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
    await addReaders(stack.em(), stack.project.id, RECIPIENTS);
  });
  afterEach(() => worker?.kill());
  afterAll(async () => {
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

  async function startSending(kind: string): Promise<() => Promise<unknown>> {
    if (kind === 'campaign') {
      const { body } = await stack.api('POST', '/campaigns', {
        body: { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com', audienceType: 'ALL' },
      });
      await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
      return async () => (await stack.api('GET', `/campaigns/${body.data.id}`)).body.status === 'SENT';
    }
    const to = Array.from({ length: RECIPIENTS }, (_, index) => `buyer${index}@mail.test`);
    for (let first = 0; first < RECIPIENTS; first += 100) {
      await stack.api('POST', '/v1/send', {
        body: { to: to.slice(first, first + 100), from: 'shop@example.com', subject: 'Order', body: '<p>Order</p>' },
      });
    }
    return async () => {
      const open = sql`select from email where campaign_id is null and status in ('PENDING', 'SENDING')`;
      return (await query(stack.em(), open)).length === 0;
    };
  }

  const away = async (): Promise<() => Promise<unknown>> => {
    await databaseProxy.cut();
    return () => databaseProxy.restore();
  };
  const awayWithTemporal = async (): Promise<() => Promise<unknown>> => {
    await Promise.all([databaseProxy.cut(), temporalProxy.cut()]);
    return () => Promise.all([databaseProxy.restore(), temporalProxy.restore()]);
  };

  it.each([
    { kind: 'campaign', outage: 'PostgreSQL and Temporal', begin: awayWithTemporal, machine: 'the same' },
    { kind: 'transactional', outage: 'PostgreSQL', begin: away, machine: 'another' },
  ])(
    'repeats no $kind email after an outage of $outage, when a worker goes on on $machine machine',
    async ({ kind, begin, machine }) => {
      stack.sink.clear();
      startWorker('the same');
      const isDone = await startSending(kind);
      await eventually(() => Promise.resolve(stack.sink.messageCount() >= RECIPIENTS / 4), 60_000);
      const end = await begin();
      await worker?.terminate();
      startWorker(machine);
      await end();
      await eventually(isDone, 60_000);
      const counts = stack.sink.recipientCounts();
      expect(counts.size).toBe(RECIPIENTS);
      expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    },
    120_000,
  );
});
