import { setTimeout as delay } from 'node:timers/promises';
import { queryOne, sql } from '../../shared/database/sql.ts';
import { number, type RowOf } from '../../shared/database/tables.ts';
import { round, type BenchContext } from './contract.ts';
import { describeLoad, sendHttpLoad } from './http-load.ts';
import { cpuSince, readCpu } from './request-bench.ts';
import type { BenchStack } from './stack.ts';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const PATIENCE_MS = 900_000;

export interface EventBurst {
  /** An event that starts an automation, and one that does not. */
  event: string;
  otherEvent: string;
  automationId: string;
  perSecond: number;
  seconds: number;
}

const COUNTS = { executions: number, waiting: number };
type Counts = RowOf<typeof COUNTS>;

/**
 * Tracks events at a fixed speed, each of a new contact, in three rounds: events that start nothing; events that start
 * an automation while no worker runs, so that executions queue up; and the same events while a worker runs on this
 * machine. Reports the response times of each round, and how long it took until Temporal had all executions.
 * @throws Error when an event has no execution
 */
export async function measureEventBurst(context: BenchContext, stack: BenchStack, burst: EventBurst): Promise<object> {
  const { perSecond, automationId } = burst;
  let loads = 0;

  async function track(event: string, seconds: number) {
    loads += 1;
    const before = readCpu(context, stack, stack.pids.api ?? 0);
    const load = await sendHttpLoad(context, {
      url: stack.apiUrl,
      path: '/v1/track',
      key: stack.project.publicKey,
      body: JSON.stringify({ email: `burst-${loads}-{n}@example.com`, event, data: { plan: 'pro' } }),
      firstNumber: 0,
      connections: CONNECTIONS,
      durationMs: seconds * 1_000,
      requestsPerSecond: perSecond,
    });
    const cpuMsPerRequest = cpuSince(before, readCpu(context, stack, stack.pids.api ?? 0), load);
    const { perSecond: answered, p50Ms, p99Ms } = describeLoad(load);
    return { requests: load.requests, result: { perSecond: round(answered), p50Ms, p99Ms, cpuMsPerRequest } };
  }

  async function count(): Promise<Counts> {
    const row = await queryOne(
      stack.em(),
      sql`
        select (select count(*) from automation_execution where automation_id = ${automationId}) as executions,
          (select count(*) from outbox where kind = 'execution') as waiting`,
      COUNTS,
    );
    return row ?? { executions: 0, waiting: 0 };
  }

  await stack.worker()?.stop();
  context.progress(`Tracking ${perSecond} events a second`);
  await track(burst.otherEvent, WARM_UP_SECONDS);
  const without = await track(burst.otherEvent, burst.seconds);
  context.progress('The same with events that start an automation');
  const queued = await track(burst.event, burst.seconds);
  const queuedUp = await count();
  await stack.startWorker();
  const startedAt = performance.now();
  context.progress('The same while a worker works');
  const working = await track(burst.event, burst.seconds);
  const { executions, waiting } = await count();
  if (executions !== queued.requests + working.requests) {
    throw new Error(
      `${queued.requests + working.requests} events were accepted, but there are ${executions} executions`,
    );
  }
  context.progress('Waiting until Temporal has all executions');
  const deadline = performance.now() + PATIENCE_MS;
  for (let left = waiting; left > 0; { waiting: left } = await count()) {
    if (performance.now() > deadline) throw new Error(`${left} executions wait to be started`);
    await delay(200);
  }
  return {
    eventsPerSecond: perSecond,
    eventsTracked: executions,
    queuedWithoutWorker: queuedUp.waiting,
    allInTemporalSeconds: round((performance.now() - startedAt) / 1_000, 1),
    trackWithoutAutomation: without.result,
    trackWhileQueueing: queued.result,
    trackWhileWorking: working.result,
  };
}
