import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';
import { callsTo, startTestApi, type TestApi, type TestReply } from './support/api.ts';
import { createApiProcess, type ApiProcess } from './support/api-process.ts';
import { createAutomation, createTemplate } from './support/automations.ts';
import { eventually } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const EVENTS = 300;
/** Requests under way at the same time, so that a kill hits many in different places. */
const CLIENTS = 12;
const PATIENCE_MS = 100_000;

/** Prepares and checks. It does not dispatch the outbox; only the worker process does. */
let prepared: TestApi;
let sink: SmtpSink;
let temporal: TestNamespace;
let api: ApiProcess;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  sink = await createSmtpSink();
  temporal = await createTestNamespace();
  prepared = await startTestApi({
    config: { SMTP_URL: [sink.url], SMTP_CONNECTIONS: 5, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
  });
  api = await createApiProcess(prepared.config, temporal);
});
afterAll(async () => {
  await api.kill();
  await worker?.kill();
  await temporal.close();
  await prepared.stop();
  await sink.close();
});

/** Tracks an event as a careful client does, which repeats a request under its key until there is an answer. */
async function trackOnce(email: string, event: string): Promise<void> {
  const request = { key: 'public', body: { email, event }, headers: { 'idempotency-key': `${event} ${email}` } };
  await eventually(async () => {
    const reply: TestReply = await callsTo(api.url, prepared.keys)('POST', '/v1/track', request);
    if (reply.status === 409 && reply.body.error.code === 'IDEMPOTENCY_KEY_REUSED') {
      // With null, the first request may still be under way.
      return reply.body.error.details.originalStatusCode === 200;
    }
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return true;
  }, PATIENCE_MS);
}

interface Outcome {
  executions: number;
  completed: number;
  events: number;
  mails: number;
}

/** The outcome of each contact's event. */
async function outcomes(automationId: string, event: string): Promise<Outcome[]> {
  return query(
    prepared.em(),
    sql`
      select
        (select count(*) from automation_execution x where x.contact_id = c.id and x.automation_id = ${automationId}) as executions,
        (select count(*) from automation_execution x
          where x.contact_id = c.id and x.automation_id = ${automationId} and x.status = 'COMPLETED') as completed,
        (select count(*) from event e where e.contact_id = c.id and e.name = ${event}) as events,
        (select count(*) from email m where m.contact_id = c.id and m.execution_id is not null) as mails
      from contact c where c.email like ${`${event}%`}`,
  );
}

const once: Outcome = { executions: 1, completed: 1, events: 1, mails: 1 };

async function outboxCount(): Promise<number> {
  const row = await queryOne(prepared.em(), sql`select count(*) from outbox`);
  return row?.count ?? 0;
}

/** Waits until every execution is completed, its email is received, and the outbox is empty. */
async function untilCompleted(automationId: string, addresses: string[]): Promise<void> {
  await eventually(async () => {
    const { body } = await prepared.api('GET', `/workflows/${automationId}/executions?status=COMPLETED`);
    const isReceived = addresses.every((address) => sink.recipientCounts().has(address));
    // The dispatcher deletes a row a moment after the workflow that the row asked for has started.
    return body.total === addresses.length && isReceived && (await outboxCount()) === 0;
  }, PATIENCE_MS);
}

describe('an API that is killed', () => {
  it(
    'leaves outbox rows, which a worker dispatches',
    async () => {
      const templateId = await createTemplate(prepared);
      const id = await createAutomation(prepared, 'orphaned', { Mail: { type: 'SEND_EMAIL', templateId } });
      api.start();
      const addresses = Array.from({ length: 30 }, (_, i) => `orphaned${i}@mail.test`);
      await Promise.all(addresses.map((address) => trackOnce(address, 'orphaned')));
      await api.kill();
      expect(await outboxCount()).toBe(addresses.length);

      worker = startWorkerProcess(prepared.config, temporal);
      await untilCompleted(id, addresses);
      expect(api.isRunning()).toBe(false);
      expect(await outcomes(id, 'orphaned')).toEqual(addresses.map(() => once));
      expect(addresses.map((address) => sink.recipientCounts().get(address))).toEqual(addresses.map(() => 1));
    },
    2 * PATIENCE_MS,
  );

  it(
    'in the middle of requests loses no event and starts no execution twice',
    async () => {
      const templateId = await createTemplate(prepared);
      // Re-entry is allowed, so only the engine itself prevents a second execution.
      const steps = { Mail: { type: 'SEND_EMAIL', templateId } };
      const id = await createAutomation(prepared, 'killed', steps, { allowReentry: true });
      worker ??= startWorkerProcess(prepared.config, temporal);
      api.start();
      const addresses = Array.from({ length: EVENTS }, (_, i) => `killed${i}@mail.test`);
      let answered = 0;
      const queue = [...addresses];
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
          await trackOnce(address, 'killed');
          answered += 1;
        }
      });
      for (const share of [0.2, 0.6]) {
        await eventually(() => Promise.resolve(answered >= share * EVENTS), PATIENCE_MS);
        await api.kill();
        expect(answered).toBeLessThan(EVENTS);
        api.start();
      }
      await Promise.all(clients);
      await untilCompleted(id, addresses);
      expect(await outcomes(id, 'killed')).toEqual(addresses.map(() => once));
      expect(addresses.map((address) => sink.recipientCounts().get(address))).toEqual(addresses.map(() => 1));
    },
    3 * PATIENCE_MS,
  );
});
