import { setTimeout as delay } from 'node:timers/promises';
import { query, queryOne, sql } from '../shared/database/sql.ts';
import { number, tables, type RowOf } from '../shared/database/tables.ts';
import { recordedEvents } from '../shared/domain/events/recorded-events.ts';
import { WORKFLOW_TYPES, executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import { measureEventBurst } from './harness/event-burst.ts';
import { cpuSince, readCpu } from './harness/request-bench.ts';
import { measureSleepers } from './harness/sleepers.ts';
import type { BenchStack } from './harness/stack.ts';

const EVENT = 'bench_started';
const SLEEP_EVENT = 'bench_slept';
const WARM_UP = 100;
const PATIENCE_MS = 600_000;

/** Measures bare workflows of one activity each, the limit that executions are compared with. */
async function measureBare(context: BenchContext, stack: BenchStack, count: number) {
  context.progress(`Running ${count} bare workflows`);
  const temporalBefore = context.meter.cpuMs(stack.pids.temporal);
  const running = await context.startNode({
    name: 'bare-workflow',
    entry: 'bench/harness/bare-workflow-main.ts',
    args: [stack.temporalAddress, String(count), String(WARM_UP)],
  });
  const line = await running.line((text) => text.startsWith('{'), PATIENCE_MS);
  await running.exited;
  const { perSecond, cpuMs } = JSON.parse(line) as { perSecond: number; cpuMs: number };
  const temporal = (context.meter.cpuMs(stack.pids.temporal) - temporalBefore) / (count + WARM_UP);
  return { perSecond, cpuMs: { worker: cpuMs, temporal } };
}

const CREATED = { id: tables.automationExecution.id };
type Created = RowOf<typeof CREATED>;

/** TRIGGER → CONDITION → SEND_EMAIL, enabled. */
export async function createAutomation(stack: BenchStack, eventName: string): Promise<string> {
  const post = async (path: string, body: object) => (await stack.call('POST', path, body)) as Created;
  const template = await post('/templates', {
    name: 'Welcome',
    subject: 'Hello {{name ?? "reader"}}',
    body: `<p>Dear {{name ?? "reader"}}, you chose {{event.plan}}.</p>${'<p>Welcome to our shop.</p>'.repeat(10)}`,
    from: `hello@${stack.project.domain}`,
    type: 'TRANSACTIONAL',
  });
  const workflow = await post('/workflows', { name: 'Bench', eventName });
  const config = { field: 'event.plan', operator: 'equals', value: 'pro' };
  const condition = await post(`/workflows/${workflow.id}/steps`, { type: 'CONDITION', config, autoConnect: true });
  const mail = await post(`/workflows/${workflow.id}/steps`, { type: 'SEND_EMAIL', templateId: template.id });
  await post(`/workflows/${workflow.id}/transitions`, { fromStepId: condition.id, toStepId: mail.id, branch: 'yes' });
  await stack.call('PATCH', `/workflows/${workflow.id}`, { enabled: true });
  return workflow.id;
}

/** Records the event for new contacts, all in one statement. */
export async function recordEvents(stack: BenchStack, name: string, count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      with reader as (
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        select everpost_uuid_v7(), ${stack.project.id}, gen_random_uuid() || '@example.com', true, now(), now()
        from generate_series(1, ${count}::int) n returning id
      ),
      ${recordedEvents(sql`
        select everpost_uuid_v7(), ${stack.project.id}::uuid, id, null::uuid, ${name}, '{"plan": "pro"}'::jsonb, now()
        from reader`)}
      select`,
  );
}

const BACKLOG = { open: number, asleep: number, unsent: number };
type Backlog = RowOf<typeof BACKLOG>;

export async function waitUntil(stack: BenchStack, isDone: (backlog: Backlog) => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const row = await queryOne(
      stack.em(),
      sql`
        select (select count(*) from automation_execution where status = 'RUNNING') as open,
          (select count(*) from automation_execution where status = 'WAITING') as asleep,
          (select count(*) from email where status in ('PENDING', 'SENDING')) as unsent`,
      BACKLOG,
    );
    if (row && isDone(row)) return;
    if (performance.now() > deadline) throw new Error(`${row?.open} executions are open, ${row?.unsent} emails unsent`);
    await delay(50);
  }
}

async function historyLength(stack: BenchStack, workflowId: string): Promise<number> {
  const execution = await queryOne(
    stack.em(),
    sql`select id from automation_execution where automation_id = ${workflowId} limit 1`,
    CREATED,
  );
  const handle = stack.temporal.workflow.getHandle(executionWorkflowId(execution?.id ?? ''));
  return (await handle.describe()).historyLength;
}

/** Puts executions to sleep for a month, and measures what the worker needs for them. */
async function measureSleeping(context: BenchContext, stack: BenchStack, count: number): Promise<object> {
  const workflow = (await stack.call('POST', '/workflows', { name: 'Asleep', eventName: SLEEP_EVENT })) as Created;
  const config = { amount: 30, unit: 'days' };
  await stack.call('POST', `/workflows/${workflow.id}/steps`, { type: 'DELAY', config, autoConnect: true });
  await stack.call('PATCH', `/workflows/${workflow.id}`, { enabled: true });
  return measureSleepers(context, stack, count, async (more, total) => {
    await recordEvents(stack, SLEEP_EVENT, more);
    await waitUntil(stack, (row) => row.asleep === total);
  });
}

/** Tracks events at a fixed speed that start an automation. */
async function measureBurst(context: BenchContext, stack: BenchStack, perSecond: number): Promise<object> {
  const event = 'bench_burst';
  const automationId = await createAutomation(stack, event);
  const seconds = context.number('seconds');
  return measureEventBurst(context, stack, { event, otherEvent: 'bench_ignored', automationId, perSecond, seconds });
}

/** Workflows that deliver mail, which share Temporal with the executions. */
async function countDeliveries(stack: BenchStack): Promise<number> {
  const { count } = await stack.temporal.workflow.count(`WorkflowType = '${WORKFLOW_TYPES.emailDelivery}'`);
  return count;
}

/** Records events and waits until their executions have ended and their mail is sent. */
async function measureExecutions(context: BenchContext, stack: BenchStack, count: number) {
  context.progress(`Running ${count} executions`);
  const cpuBefore = readCpu(context, stack, stack.pids.api ?? 0);
  const deliveriesBefore = await countDeliveries(stack);
  const startedAt = performance.now();
  await recordEvents(stack, EVENT, count);
  const fanOutMs = performance.now() - startedAt;
  await waitUntil(stack, (row) => row.open === 0);
  const perSecond = (count / (performance.now() - startedAt)) * 1_000;
  await waitUntil(stack, (row) => row.unsent === 0);
  const mailedSeconds = (performance.now() - startedAt) / 1_000;
  const cpuMs = cpuSince(cpuBefore, readCpu(context, stack, stack.pids.api ?? 0), { nextNumber: count });
  const deliveries = (await countDeliveries(stack)) - deliveriesBefore;
  return { perSecond, fanOutMs, mailedSeconds, cpuMs, deliveries };
}

export const bench: Bench = {
  description: 'Executions a second of TRIGGER → CONDITION → SEND_EMAIL, against bare workflows of one activity.',
  options: {
    executions: { type: 'string', default: '1000' },
    sleeping: { type: 'string', default: '0' },
    'events-per-second': { type: 'string', default: '0' },
    seconds: { type: 'string', default: '10' },
  },
  async run(context) {
    const count = context.number('executions');
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url });
    const workflowId = await createAutomation(stack, EVENT);
    await measureExecutions(context, stack, WARM_UP);
    // The limit is measured before and after, so that a change of the machine's speed matters less.
    const before = await measureBare(context, stack, count / 2);
    const measured = await measureExecutions(context, stack, count);
    const after = await measureBare(context, stack, count / 2);
    const limit = 2 / (1 / before.perSecond + 1 / after.perSecond);
    const summary = await sink.summary();

    const eventsPerSecond = context.number('events-per-second');
    const sleeping = context.number('sleeping');
    const asleep = sleeping > 0 ? await measureSleeping(context, stack, sleeping) : {};
    const burst = eventsPerSecond > 0 ? await measureBurst(context, stack, eventsPerSecond) : {};
    return {
      name: 'automations',
      figure: round(measured.perSecond, 1),
      unit: 'executions/s',
      limit: round(limit, 1),
      ratio: round(measured.perSecond / limit, 2),
      executions: count,
      historyEventsPerExecution: await historyLength(stack, workflowId),
      fanOutMs: round(measured.fanOutMs),
      allMailedSeconds: round(measured.mailedSeconds, 1),
      lost: count + WARM_UP - (summary?.recipients ?? 0),
      duplicates: summary?.duplicates,
      deliveries: measured.deliveries,
      cpuMsPerExecution: measured.cpuMs,
      limitCpuMsPerWorkflow: {
        worker: round((before.cpuMs.worker + after.cpuMs.worker) / 2, 1),
        temporal: round((before.cpuMs.temporal + after.cpuMs.temporal) / 2, 1),
      },
      ...asleep,
      ...burst,
    };
  },
};
