import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Everpost } from '../clients/typescript/src/index.ts';
import { sql } from '../shared/database/sql.ts';
import { createApiProcess, type ApiProcess } from './support/api-process.ts';
import { callsTo, startTestApi, type TestApi, type TestProject, type TestReply } from './support/api.ts';
import { createAutomation, createTemplate } from './support/automations.ts';
import { eventually } from './support/eventually.ts';
import { startFaultyProxy, type FaultyProxy } from './support/faulty-proxy.ts';
import { createGate } from './support/gate.ts';
import { chainWork } from './support/kills/chain.ts';
import { resendWork, RESEND_DOMAIN } from './support/kills/resend.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { createTemporalProcess, type TemporalProcess } from './support/temporal-process.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';
import { query, queryOne } from './support/rows.ts';

/** `CLIENT_SENDS=10000 npm test -- server-kills` sends more. */
const SENDS = Number(process.env['CLIENT_SENDS'] ?? 200);
const EVENTS = SENDS * 0.75;
const API_KILLS = Math.max(2, SENDS / 1_000);
const PATIENCE_MS = 100_000 + SENDS * 20;
const DATABASE_AWAY_MS = 300;

let server: TemporalProcess;
let temporal: TestNamespace;
let sink: SmtpSink;
let hook: WebhookReceiver;
/** Prepares and checks. It starts no work; only the processes of the test do. */
let prepared: TestApi;
let database: TcpProxy;
let faulty: FaultyProxy;
let api: ApiProcess;
let worker: WorkerProcess | undefined;
const gate = createGate(0);

function startWorker(): void {
  worker = startWorkerProcess({ ...prepared.config, DATABASE_URL: database.url }, temporal);
}

beforeAll(async () => {
  server = await createTemporalProcess();
  await server.start();
  temporal = await createTestNamespace(server.address);
  sink = await createSmtpSink({
    keepMessages: false,
    beforeReply: (recipient) => (RESEND_DOMAIN.test(recipient) ? gate.pass() : undefined),
  });
  hook = await startWebhookReceiver();
  prepared = await startTestApi({
    config: {
      ...{ SMTP_URL: [sink.url], SMTP_CONNECTIONS: 2, API_RATE_LIMIT_PER_MINUTE: 10_000_000 },
      WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'],
    },
  });
  database = await startTcpProxy(prepared.database.url);
  api = await createApiProcess({ ...prepared.config, DATABASE_URL: database.url }, temporal);
  api.start();
  faulty = await startFaultyProxy(api.url, 0.2);
});
afterAll(async () => {
  await Promise.all([api.kill(), worker?.kill()]);
  await faulty.close();
  await temporal.close();
  await prepared.stop();
  await database.close();
  await hook.close();
  await sink.close();
  await server.remove();
});

/** Tracks an event as a careful client does, which repeats a request under its key until there is an answer. */
async function trackOnce(project: TestProject, email: string, event: string): Promise<void> {
  const request = { key: 'public', body: { email, event }, headers: { 'idempotency-key': `${event} ${email}` } };
  await eventually(async () => {
    const reply: TestReply = await callsTo(api.url, project.keys)('POST', '/v1/track', request);
    if (reply.status === 409 && reply.body.error.code === 'IDEMPOTENCY_KEY_REUSED') {
      // With null, the first request may still be under way.
      return reply.body.error.details.originalStatusCode === 200;
    }
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return true;
  }, PATIENCE_MS);
}

const untilReady = () => eventually(async () => (await fetch(`${api.url}/ready`)).ok, PATIENCE_MS);
const addressesOf = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}@mail.test`);

/** Waits until all work of a project's executions is done, and checks that each event had each effect once. */
async function expectOnceEach({ project, api: call }: TestProject, id: string, addresses: string[]): Promise<void> {
  await eventually(async () => {
    const { body } = await call('GET', `/workflows/${id}/executions?status=COMPLETED`);
    const isReceived = addresses.every((address) => sink.recipientCounts().has(address));
    // The dispatcher deletes a row a moment after the workflow that the row asked for has started.
    const left = await query(prepared.em(), sql`select from outbox where project_id = ${project.id}`);
    return body.total === addresses.length && isReceived && left.length === 0;
  }, PATIENCE_MS);
  const outcomes = await query(
    prepared.em(),
    sql`
      select
        (select count(*) from automation_execution x where x.contact_id = c.id) as executions,
        (select count(*) from automation_execution x where x.contact_id = c.id and x.status = 'COMPLETED') as completed,
        (select count(*) from event e where e.contact_id = c.id and e.email_id is null) as events,
        (select count(*) from email m where m.contact_id = c.id) as mails
      from contact c where c.project_id = ${project.id}`,
  );
  expect(outcomes).toEqual(addresses.map(() => ({ executions: 1, completed: 1, events: 1, mails: 1 })));
  expect(addresses.map((address) => sink.recipientCounts().get(address))).toEqual(addresses.map(() => 1));
}

/** A project whose contacts get one email for each event. Only the engine itself prevents a second execution. */
async function createEmailer(event: string): Promise<TestProject & { automationId: string }> {
  const project = await prepared.createProject();
  const templateId = await createTemplate(project);
  const steps = { Mail: { type: 'SEND_EMAIL', templateId } };
  return { ...project, automationId: await createAutomation(project, event, steps, { allowReentry: true }) };
}

describe('an API that is killed', () => {
  it(
    'leaves outbox rows, which a worker dispatches',
    async () => {
      const project = await createEmailer('orphaned');
      await untilReady();
      const addresses = addressesOf('orphaned', 30);
      await Promise.all(addresses.map((address) => trackOnce(project, address, 'orphaned')));
      await api.kill();
      const rows = await query(prepared.em(), sql`select from outbox where project_id = ${project.project.id}`);
      expect(rows).toHaveLength(addresses.length);
      startWorker();
      await expectOnceEach(project, project.automationId, addresses);
      expect(api.isRunning()).toBe(false);
    },
    2 * PATIENCE_MS,
  );

  it(
    'in the middle of requests loses no event and no email and does nothing twice, also when requests fail',
    async () => {
      api.start();
      const tracking = await createEmailer('killed');
      const sending = await prepared.createProject();
      const everpost = new Everpost({ url: faulty.url, ...sending.keys, maxRetries: 30 });
      const done = { events: 0, sends: 0 };
      const work = async (queue: string[], run: (address: string) => Promise<unknown>, kind: keyof typeof done) => {
        for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
          await run(address);
          done[kind] += 1;
        }
      };
      const events = addressesOf('killed', EVENTS);
      const sends = addressesOf('client', SENDS);
      const [eventQueue, sendQueue] = [[...events], [...sends]];
      const mail = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' };
      const clients = [
        ...Array.from({ length: 12 }, () => work(eventQueue, (to) => trackOnce(tracking, to, 'killed'), 'events')),
        ...Array.from({ length: 25 }, () => work(sendQueue, (to) => everpost.send({ to, ...mail }), 'sends')),
      ];
      for (let kill = 1; kill <= API_KILLS; kill++) {
        const share = kill / (API_KILLS + 1);
        const isReached = () => done.events >= share * EVENTS || done.sends >= share * SENDS;
        await eventually(() => Promise.resolve(isReached()), PATIENCE_MS);
        await api.kill();
        expect(done.events < EVENTS && done.sends < SENDS).toBe(true);
        api.start();
      }
      await Promise.all(clients);
      expect(Object.values(faulty.counts).reduce((sum, count) => sum + count)).toBeGreaterThan(SENDS * 0.2);
      const stored = await queryOne(
        prepared.em(),
        sql`
          select count(*)::int as emails, count(distinct to_address)::int as addresses from email
          where project_id = ${sending.project.id}`,
      );
      expect(stored).toEqual({ emails: SENDS, addresses: SENDS });
      await eventually(async () => sends.every((address) => sink.recipientCounts().has(address)), PATIENCE_MS);
      expect(sends.map((address) => sink.recipientCounts().get(address))).toEqual(sends.map(() => 1));
      await expectOnceEach(tracking, tracking.automationId, events);
    },
    3 * PATIENCE_MS,
  );
});

describe('all parts, killed in turn while a campaign is sent again and executions run', () => {
  const kills = { worker: 0, api: 0, temporal: 0, postgresql: 0 };
  /** Ends one of the parts as a power cut would, and starts it again. */
  async function kill(part: 'worker' | 'api' | 'postgresql'): Promise<void> {
    kills[part] += 1;
    if (part === 'worker') {
      await worker?.kill();
      startWorker();
    } else if (part === 'api') {
      await api.kill();
      api.start();
    } else {
      // What a kill of PostgreSQL does: connections break, transactions are rolled back, and nobody can connect.
      await database.cut();
      await delay(DATABASE_AWAY_MS);
      await database.restore();
    }
  }
  async function restartTemporal(signal: 'SIGKILL' | 'SIGTERM', meanwhile: () => Promise<void>): Promise<void> {
    kills.temporal += 1;
    await server.stop(signal);
    await meanwhile();
    await server.start();
  }

  let resend: Awaited<ReturnType<typeof resendWork>>;
  let chain: Awaited<ReturnType<typeof chainWork>>;
  beforeAll(async () => {
    if (worker === undefined) startWorker();
    if (!api.isRunning()) api.start();
    resend = await resendWork(prepared, sink);
    chain = await chainWork(prepared, await prepared.createProject(), api, sink, hook);

    await untilReady();
    await resend.ask(api.url, () => kill('api'));
    await kill('worker');
    gate.openUntil(20);
    await untilReady();
    await chain.enterFirst();
    await gate.untilHeld();
    await kill('postgresql');
    await kill('worker');
    gate.openUntil(60);
    await Promise.all([gate.untilHeld(), chain.untilWaiting()]);
    await restartTemporal('SIGKILL', () => chain.goOnWithoutTemporal());
    await kill('api');
    await untilReady();
    gate.openUntil(100);
    await gate.untilHeld();
    await kill('worker');
    await kill('postgresql');
    gate.openUntil(150);
    await Promise.all([gate.untilHeld(), chain.untilCalling()]);
    await kill('worker');
    await restartTemporal('SIGTERM', () => chain.goOnWithWebhooks());
    gate.openUntil(Infinity);
    expect(kills).toEqual({ worker: 4, api: 2, temporal: 2, postgresql: 2 });
  }, 6 * PATIENCE_MS);

  it(
    'the campaign reaches each of those who failed, and nobody else, and its counters always agree',
    () => resend.check(150),
    PATIENCE_MS,
  );

  it(
    'no execution and no event is lost, no effect is repeated, and no outbox row is left',
    () => chain.check(),
    2 * PATIENCE_MS,
  );
});
