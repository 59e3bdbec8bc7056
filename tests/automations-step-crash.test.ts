import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { createAutomation, createTemplate, executionOf, executionsOf, stepsOf, track } from './support/automations.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const PATIENCE_MS = 100_000;

let stack: TestStack;
let hook: WebhookReceiver;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false, config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  hook = await startWebhookReceiver();
});
afterAll(async () => {
  await worker?.kill();
  await hook.close();
  await stack.stop();
});

/**
 * Blocks every transaction that records a step at its last statement, after all effects of the step.
 * @returns a function that lets them continue
 */
async function holdRecords(): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: stack.database.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table step_execution in share row exclusive mode');
  return () => holder.end();
}

/** Waits until so many transactions of the worker are blocked. */
async function untilHeld(count: number): Promise<void> {
  await eventually(async () => {
    const row = await queryOne(
      stack.em(),
      sql`
        select count(distinct l.pid) as held from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where l.relation = 'step_execution'::regclass and not l.granted and a.application_name = 'everpost-worker'`,
    );
    return row?.held === count;
  }, PATIENCE_MS);
}

async function countOf(table: 'email' | 'event_wait'): Promise<number> {
  const from = table === 'email' ? sql`email` : sql`event_wait`;
  const row = await queryOne(stack.em(), sql`select count(*) from ${from}`);
  return row?.count ?? 0;
}

const KINDS = ['SEND_EMAIL', 'UPDATE_CONTACT', 'CONDITION', 'EXIT', 'DELAY', 'WAIT_FOR_EVENT', 'WEBHOOK'] as const;
type Kind = (typeof KINDS)[number];

const eventOf = (kind: Kind) => `crash_in_${kind.toLowerCase()}`;
const addressOf = (kind: Kind) => `${eventOf(kind)}@mail.test`;

/** Creates an automation for each type of step, with that step first, so that a transaction of each type is blocked. */
async function createAutomations(): Promise<Record<Kind, string>> {
  const templateId = await createTemplate(stack);
  const configs: Record<Kind, object> = {
    SEND_EMAIL: {},
    UPDATE_CONTACT: { subscribed: false, data: { noted: true } },
    CONDITION: { field: 'event.plan', operator: 'equals', value: 'pro' },
    EXIT: { reason: 'left' },
    // The delay still runs when transactions are blocked for the second time.
    DELAY: { amount: 0.3, unit: 'minutes' },
    WAIT_FOR_EVENT: { eventName: 'answer', timeout: 3_600 },
    WEBHOOK: { url: hook.url },
  };
  const ids: Partial<Record<Kind, string>> = {};
  for (const kind of KINDS) {
    const step = { type: kind, config: configs[kind], ...(kind === 'SEND_EMAIL' && { templateId }) };
    ids[kind] = await createAutomation(stack, eventOf(kind), {
      Step: { ...step, ...(kind === 'CONDITION' && { branches: { yes: 'Out' } }) },
      ...(kind === 'CONDITION' && { Out: { type: 'EXIT' } }),
    });
  }
  return ids as Record<Kind, string>;
}

async function statusesOf(ids: Record<Kind, string>, kinds: readonly Kind[]): Promise<string[]> {
  return Promise.all(kinds.map(async (kind) => (await executionsOf(stack, ids[kind]))[0]?.status as string));
}

describe('a worker that is killed in the middle of a step', () => {
  it(
    'leaves no step of any type half done, and repeats nothing but a webhook call, under the same id',
    async () => {
      const ids = await createAutomations();
      let letGo = await holdRecords();
      worker = startWorkerProcess(stack.config, stack.temporal);
      for (const kind of KINDS) await track(stack, addressOf(kind), eventOf(kind), { plan: 'pro' });

      // First, the worker is killed in the transactions that reach the steps.
      await untilHeld(KINDS.length);
      await worker.kill();
      await letGo();
      expect([await countOf('email'), await countOf('event_wait')]).toEqual([0, 0]);
      hook.hold();
      worker = startWorkerProcess(stack.config, stack.temporal);
      const resting: Kind[] = ['DELAY', 'WAIT_FOR_EVENT'];
      await eventually(async () => {
        const statuses = await statusesOf(ids, resting);
        return statuses.every((status) => status === 'WAITING') && hook.calls.size === 1;
      }, PATIENCE_MS);

      // Then it is killed in the transactions that end the waits, one of them with the answer of a webhook.
      letGo = await holdRecords();
      await track(stack, addressOf('WAIT_FOR_EVENT'), 'answer', { text: 'yes' });
      hook.release();
      await untilHeld(3);
      await worker.kill();
      await letGo();
      worker = startWorkerProcess(stack.config, stack.temporal);
      const done = KINDS.map((kind) => (kind === 'EXIT' || kind === 'CONDITION' ? 'EXITED' : 'COMPLETED'));
      await eventually(async () => {
        const statuses = await statusesOf(ids, KINDS);
        return statuses.join() === done.join() && stack.sink.messageCount() > 0;
      }, PATIENCE_MS);

      for (const kind of KINDS) {
        const [only, ...others] = await executionsOf(stack, ids[kind]);
        expect(others).toEqual([]);
        const execution = await executionOf(stack, ids[kind], only.id);
        const path = ['Trigger COMPLETED', 'Step COMPLETED', ...(kind === 'CONDITION' ? ['Out COMPLETED'] : [])];
        expect([kind, ...stepsOf(execution)]).toEqual([kind, ...path]);
        if (kind === 'WAIT_FOR_EVENT') expect(execution.context).toEqual({ plan: 'pro', text: 'yes' });
        if (kind === 'CONDITION') expect(execution.stepExecutions[1].output).toEqual({ result: true, branch: 'yes' });
      }
      expect([await countOf('email'), await countOf('event_wait')]).toEqual([1, 0]);
      expect(stack.sink.recipientCounts()).toEqual(new Map([[addressOf('SEND_EMAIL'), 1]]));
      const unsubscribed = sql`select from event where name = 'contact.unsubscribed'`;
      expect(await query(stack.em(), unsubscribed)).toHaveLength(1);
      // The call whose answer was not recorded is repeated under the same id.
      expect([...hook.calls.values()]).toEqual([2]);
    },
    3 * PATIENCE_MS,
  );
});
