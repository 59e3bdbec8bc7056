import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { createAutomation, createTemplate, track } from './support/automations.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const CONTACTS = 40;
const PATIENCE_MS = 100_000;

let stack: TestStack;
let hook: WebhookReceiver;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({
    hasWorkers: false,
    config: { API_RATE_LIMIT_PER_MINUTE: 100_000, WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
  });
  hook = await startWebhookReceiver();
});
afterAll(async () => {
  await worker?.kill();
  await hook.close();
  await stack.stop();
});

async function stepCount(): Promise<number> {
  const row = await queryOne(stack.em(), sql`select count(*) from step_execution`);
  return row?.count ?? 0;
}

describe('a worker that is killed in the middle of executions', () => {
  it(
    'repeats no step of any type, but may repeat a webhook call under the same id',
    async () => {
      const templateId = await createTemplate(stack);
      const id = await createAutomation(stack, 'crash', {
        First: { type: 'SEND_EMAIL', templateId, next: 'Rest' },
        Rest: { type: 'DELAY', config: { amount: 0.01, unit: 'minutes' }, next: 'Leave' },
        Leave: { type: 'UPDATE_CONTACT', config: { subscribed: false }, next: 'Call' },
        Call: { type: 'WEBHOOK', config: { url: hook.url }, next: 'Second' },
        Second: { type: 'SEND_EMAIL', templateId },
      });
      worker = startWorkerProcess(stack.config, stack.temporal);
      const addresses = Array.from({ length: CONTACTS }, (_, i) => `crash${i}@mail.test`);
      await Promise.all(addresses.map((address) => track(stack, address, 'crash')));
      for (const share of [0.2, 0.5]) {
        await eventually(async () => (await stepCount()) >= share * CONTACTS * 6, PATIENCE_MS);
        await worker.kill();
        worker = startWorkerProcess(stack.config, stack.temporal);
      }
      await eventually(async () => {
        const { body } = await stack.api('GET', `/workflows/${id}/executions?status=COMPLETED`);
        return body.total === CONTACTS;
      }, PATIENCE_MS);

      const paths = await query(
        stack.em(),
        sql`
          select (select string_agg(status, ' ' order by step_number) from step_execution r where r.execution_id = x.id) as path,
            (select count(*) from email e where e.execution_id = x.id) as mails,
            (select count(*) from event e where e.contact_id = x.contact_id and name = 'contact.unsubscribed') as unsubscribed
          from automation_execution x`,
      );
      const once = { path: Array.from({ length: 6 }, () => 'COMPLETED').join(' '), mails: 2, unsubscribed: 1 };
      expect(paths).toEqual(Array.from({ length: CONTACTS }, () => once));
      // The next worker repeats a call whose answer was lost, under the same id.
      expect(hook.calls.size).toBe(CONTACTS);
    },
    2 * PATIENCE_MS,
  );
});
