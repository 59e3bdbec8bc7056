import { setTimeout as delay } from 'node:timers/promises';
import { query, queryOne, sql } from '../shared/domain/sql.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const EVENT = 'bench_started';
const SLEEP_EVENT = 'bench_slept';
const SETTLE_MS = 5_000;
const IDLE_MS = 15_000;
const PATIENCE_MS = 600_000;

/** One bare workflow with as many activities as an execution has: one. */
async function measureBare(context: BenchContext, stack: BenchStack, count: number): Promise<number> {
  const running = await context.startNode({
    name: 'bare-workflow',
    entry: 'bench/harness/bare-workflow-main.ts',
    args: [stack.temporalAddress, String(count)],
  });
  const line = await running.line((text) => text.startsWith('{'), PATIENCE_MS);
  await running.exited;
  return (JSON.parse(line) as { perSecond: number }).perSecond;
}

interface Created {
  id: string;
}

/** TRIGGER → CONDITION → SEND_EMAIL, enabled. */
async function createAutomation(stack: BenchStack): Promise<string> {
  const post = async (path: string, body: object) => (await stack.call('POST', path, body)) as Created;
  const template = await post('/templates', {
    name: 'Welcome',
    subject: 'Hello {{name ?? "reader"}}',
    body: `<p>Dear {{name ?? "reader"}}, you chose {{event.plan}}.</p>${'<p>Welcome to our shop.</p>'.repeat(10)}`,
    from: `hello@${stack.project.domain}`,
    type: 'TRANSACTIONAL',
  });
  const workflow = await post('/workflows', { name: 'Bench', eventName: EVENT });
  const config = { field: 'event.plan', operator: 'equals', value: 'pro' };
  const condition = await post(`/workflows/${workflow.id}/steps`, { type: 'CONDITION', config, autoConnect: true });
  const mail = await post(`/workflows/${workflow.id}/steps`, { type: 'SEND_EMAIL', templateId: template.id });
  await post(`/workflows/${workflow.id}/transitions`, { fromStepId: condition.id, toStepId: mail.id, branch: 'yes' });
  await stack.call('PATCH', `/workflows/${workflow.id}`, { enabled: true });
  return workflow.id;
}

/** Records the event for new contacts, all in one statement; the fan-out goes with it. */
async function recordEvents(stack: BenchStack, name: string, count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      with reader as (
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        select everpost_uuid_v7(), ${stack.project.id}, ${name} || n || '@example.com', true, now(), now()
        from generate_series(1, ${count}::int) n returning id
      )
      insert into event (id, project_id, contact_id, name, data, created_at)
      select everpost_uuid_v7(), ${stack.project.id}, id, ${name}, '{"plan": "pro"}', now() from reader`,
  );
}

interface Backlog {
  open: number;
  asleep: number;
  unsent: number;
}

async function waitUntil(stack: BenchStack, isDone: (backlog: Backlog) => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const row = await queryOne<Backlog>(
      stack.em(),
      sql`
        select (select count(*) from automation_execution where status <> 'COMPLETED') as open,
          (select count(*) from automation_execution where status = 'WAITING') as asleep,
          (select count(*) from email where status in ('PENDING', 'SENDING')) as unsent`,
    );
    if (row && isDone(row)) return;
    if (performance.now() > deadline) throw new Error(`${row?.open} executions are open, ${row?.unsent} mails unsent`);
    await delay(50);
  }
}

async function historyLength(stack: BenchStack, workflowId: string): Promise<number> {
  const execution = await queryOne<Created>(
    stack.em(),
    sql`select id from automation_execution where automation_id = ${workflowId} limit 1`,
  );
  const handle = stack.temporal.workflow.getHandle(executionWorkflowId(execution?.id ?? ''));
  return (await handle.describe()).historyLength;
}

interface Idle {
  cpuPercent: number;
  memoryMb: number;
}

/** What a worker that has just started, and so keeps no execution in memory, needs while nothing happens. */
async function measureIdle(context: BenchContext, stack: BenchStack): Promise<Idle> {
  await stack.worker()?.stop();
  const { pid } = await stack.startWorker();
  await delay(SETTLE_MS);
  context.meter.resetPeak(pid);
  const cpuBefore = context.meter.cpuMs(pid);
  await delay(IDLE_MS);
  return {
    cpuPercent: ((context.meter.cpuMs(pid) - cpuBefore) / IDLE_MS) * 100,
    memoryMb: context.meter.peakMemoryMb(pid),
  };
}

/** Puts executions to sleep for a month and compares the worker before and after. */
async function measureSleeping(context: BenchContext, stack: BenchStack, count: number): Promise<object> {
  const before = await measureIdle(context, stack);
  const workflow = (await stack.call('POST', '/workflows', { name: 'Asleep', eventName: SLEEP_EVENT })) as Created;
  const config = { amount: 30, unit: 'days' };
  await stack.call('POST', `/workflows/${workflow.id}/steps`, { type: 'DELAY', config, autoConnect: true });
  await stack.call('PATCH', `/workflows/${workflow.id}`, { enabled: true });
  context.progress(`Putting ${count} executions to sleep`);
  await recordEvents(stack, SLEEP_EVENT, count);
  await waitUntil(stack, (row) => row.asleep === count);
  context.progress('Watching the worker while they sleep');
  const after = await measureIdle(context, stack);
  return {
    sleeping: count,
    workerCpuPercentWithout: round(before.cpuPercent, 2),
    workerCpuPercentWith: round(after.cpuPercent, 2),
    workerMemoryMbWithout: round(before.memoryMb, 1),
    workerMemoryMbWith: round(after.memoryMb, 1),
  };
}

export const bench: Bench = {
  description: 'Executions a second of TRIGGER → CONDITION → SEND_EMAIL, against bare workflows of one activity.',
  options: { executions: { type: 'string', default: '1000' }, sleeping: { type: 'string', default: '0' } },
  async run(context) {
    const count = context.number('executions');
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url });
    context.progress(`Running ${count} bare workflows`);
    const limit = await measureBare(context, stack, count);

    const workflowId = await createAutomation(stack);
    context.progress(`Running ${count} executions`);
    const startedAt = performance.now();
    await recordEvents(stack, EVENT, count);
    const recordedMs = performance.now() - startedAt;
    await waitUntil(stack, (row) => row.open === 0);
    const figure = (count / (performance.now() - startedAt)) * 1_000;
    await waitUntil(stack, (row) => row.unsent === 0);
    const mailedSeconds = (performance.now() - startedAt) / 1_000;
    const summary = await sink.summary();
    const historyEventsPerExecution = await historyLength(stack, workflowId);
    const sleeping = context.number('sleeping');
    const asleep = sleeping > 0 ? await measureSleeping(context, stack, sleeping) : {};
    return {
      name: 'automations',
      figure: round(figure, 1),
      unit: 'executions/s',
      limit: round(limit, 1),
      ratio: round(figure / limit, 2),
      executions: count,
      historyEventsPerExecution,
      fanOutMs: round(recordedMs),
      allMailedSeconds: round(mailedSeconds, 1),
      lost: count - (summary?.recipients ?? 0),
      duplicates: summary?.duplicates,
      ...asleep,
    };
  },
};
