import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';
import { callsTo, startTestApi, type TestApi } from './support/api.ts';
import { createApiProcess, type ApiProcess } from './support/api-process.ts';
import { createAutomation, createTemplate, track } from './support/automations.ts';
import { eventually } from './support/stack.ts';
import { createTemporalProcess, type TemporalProcess } from './support/temporal-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

/** Contacts that enter while Temporal runs, and while it does not. */
const ENTERED_BEFORE = 30;
const ENTERED_MEANWHILE = 10;
const CONTACTS = ENTERED_BEFORE + 2 * ENTERED_MEANWHILE;
const PATIENCE_MS = 100_000;
/** Six steps and the trigger. */
const RECORDS = 7;

let server: TemporalProcess;
let temporal: TestNamespace;
let sink: SmtpSink;
let hook: WebhookReceiver;
/** For preparing and checking; it needs no Temporal. */
let prepared: TestApi;
let api: ApiProcess;
let worker: WorkerProcess;
/** Calls the API process. */
let on: Pick<TestApi, 'api'>;
beforeAll(async () => {
  server = await createTemporalProcess();
  await server.start();
  temporal = await createTestNamespace(server.address);
  sink = await createSmtpSink({ delayMs: 20 });
  hook = await startWebhookReceiver();
  prepared = await startTestApi({
    config: {
      SMTP_URL: [sink.url],
      SMTP_CONNECTIONS: 5,
      API_RATE_LIMIT_PER_MINUTE: 1_000_000,
      WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'],
    },
  });
  api = await createApiProcess(prepared.config, temporal);
  on = { api: callsTo(api.url, prepared.keys) };
  api.start();
  worker = startWorkerProcess(prepared.config, temporal);
});
afterAll(async () => {
  await api.kill();
  await worker.kill();
  await temporal.close();
  await prepared.stop();
  await hook.close();
  await sink.close();
  await server.remove();
});

const addressOf = (number: number) => `restart${number}@mail.test`;

/** Makes contacts enter through the API process. */
async function enter(from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++) await track(on, addressOf(number), 'restart', { plan: 'pro' });
}

/** The contacts that wait for an event. */
async function waitingAddresses(): Promise<string[]> {
  const rows = await query(
    prepared.em(),
    sql`select c.email from event_wait w join contact c on c.id = w.contact_id where w.event_id is null`,
  );
  return rows.map((row) => row.email);
}

async function recordCount(type: string): Promise<number> {
  const row = await queryOne(
    prepared.em(),
    sql`select count(*) from step_execution r join automation_step s on s.id = r.step_id where s.type = ${type}`,
  );
  return row?.count ?? 0;
}

describe('a Temporal server that is restarted in the middle of executions', () => {
  it(
    'loses no execution and no event, repeats no effect, and leaves no outbox row',
    async () => {
      const templateId = await createTemplate(prepared);
      const id = await createAutomation(prepared, 'restart', {
        First: { type: 'SEND_EMAIL', templateId, next: 'Answer?' },
        'Answer?': {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'answer', timeout: 3_600 },
          branches: { event: 'Rest' },
        },
        Rest: { type: 'DELAY', config: { amount: 0.05, unit: 'minutes' }, next: 'Leave' },
        Leave: { type: 'UPDATE_CONTACT', config: { subscribed: false }, next: 'Call' },
        Call: { type: 'WEBHOOK', config: { url: hook.url }, next: 'Second' },
        Second: { type: 'SEND_EMAIL', templateId },
      });
      await eventually(async () => (await fetch(`${api.url}/ready`)).ok, PATIENCE_MS);

      await enter(0, ENTERED_BEFORE);
      await eventually(async () => (await recordCount('WAIT_FOR_EVENT')) >= ENTERED_BEFORE / 2, PATIENCE_MS);
      await server.stop('SIGKILL');
      // Some executions send email, some wait, some have not begun. Nothing can be started or signalled.
      const answered = await waitingAddresses();
      expect(answered.length).toBeGreaterThan(0);
      for (const email of answered) await track(on, email, 'answer');
      await enter(ENTERED_BEFORE, ENTERED_BEFORE + ENTERED_MEANWHILE);
      // In this time the dispatchers try in vain and keep the rows.
      const kept = answered.length + ENTERED_MEANWHILE;
      await eventually(async () => {
        const rows = await query(
          prepared.em(),
          sql`
            select last_error is not null as "hasFailed" from outbox where kind in ('execution', 'executionEvent')`,
        );
        return rows.length >= kept && rows.some((row) => row.hasFailed);
      }, PATIENCE_MS);
      await server.start();

      // At the second restart the executions are at the other steps.
      await eventually(async () => (await recordCount('DELAY')) >= answered.length / 2, PATIENCE_MS);
      hook.hold();
      await eventually(async () => (await recordCount('WEBHOOK')) > 0, PATIENCE_MS);
      await server.stop('SIGTERM');
      hook.release();
      await enter(ENTERED_BEFORE + ENTERED_MEANWHILE, CONTACTS);
      await server.start();

      // An event ends only an open wait, so each contact gets one event, once it waits.
      const isAnswered = new Set(answered);
      await eventually(async () => {
        for (const email of await waitingAddresses()) {
          if (isAnswered.has(email)) throw new Error(`the event of ${email} was lost`);
          isAnswered.add(email);
          await track(on, email, 'answer');
        }
        const { body } = await prepared.api('GET', `/workflows/${id}/executions?status=COMPLETED`);
        const left = await query(prepared.em(), sql`select from outbox`);
        return body.total === CONTACTS && sink.messageCount() >= 2 * CONTACTS && left.length === 0;
      }, PATIENCE_MS);

      const outcomes = await query(
        prepared.em(),
        sql`
          select c.email,
            (select count(*) from automation_execution x where x.contact_id = c.id) as executions,
            (select string_agg(r.status, ' ' order by r.step_number) from step_execution r
              join automation_execution x on x.id = r.execution_id where x.contact_id = c.id) as path,
            (select count(*) from email m where m.contact_id = c.id) as mails,
            (select count(*) from event e where e.contact_id = c.id and name = 'contact.unsubscribed') as unsubscribed
          from contact c`,
      );
      const expected = Array.from({ length: CONTACTS }, (_, number) => ({
        ...{ email: addressOf(number), executions: 1, mails: 2, unsubscribed: 1 },
        path: Array.from({ length: RECORDS }, () => 'COMPLETED').join(' '),
      }));
      const byAddress = (a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1);
      expect(outcomes.toSorted(byAddress)).toEqual(expected.toSorted(byAddress));
      const counts = sink.recipientCounts();
      expect(expected.map(({ email }) => counts.get(email))).toEqual(expected.map(() => 2));
      expect(hook.calls.size).toBe(CONTACTS);
      expect([api.isRunning(), worker.isRunning()]).toEqual([true, true]);
    },
    4 * PATIENCE_MS,
  );
});
