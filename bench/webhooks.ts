import { setTimeout as delay } from 'node:timers/promises';
import { createProject } from '../shared/domain/projects/projects.ts';
import { query, sql } from '../shared/database/sql.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { round, type Bench, type BenchContext, type BenchResult } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const START_MS_MAX = 10_000;
const RUN_MS_MAX = 5 * 60_000;
const POLL_MS = 200;
const CONTACTS = 200;
/** When no delivery came for this long, all that can be delivered has been. */
const SILENCE_MS = 5_000;
/** Deliveries a second on two cores. */
const GOAL_PER_SECOND = 2_000;

interface Seen {
  received: number;
  firstAt: number;
  lastAt: number;
  p50: number;
  p99: number;
}

interface Receiver {
  url: string;
  call: (method: 'GET' | 'POST' | 'DELETE', path?: string) => Promise<Seen>;
}

async function startReceiver(context: BenchContext): Promise<Receiver> {
  const running = await context.startNode({ name: 'hook-sink', entry: 'bench/harness/hook-sink-main.ts' });
  const { port } = JSON.parse(await running.line((text) => text.startsWith('{'), START_MS_MAX)) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    call: async (method, path = '') => (await (await fetch(`${url}/${path}`, { method })).json()) as Seen,
  };
}

/** Creates endpoints in as many projects as they need. @returns the ids of the projects */
async function createEndpoints(stack: BenchStack, receiver: Receiver, count: number): Promise<string[]> {
  const projects: string[] = [];
  for (let first = 0; first < count; first += LIMITS.webhooksPerProject) {
    const { project, keys } = await createProject(stack.em(), `Webhooks ${first}`);
    projects.push(project.id);
    for (let index = first; index < Math.min(count, first + LIMITS.webhooksPerProject); index += 1) {
      const answer = await fetch(`${stack.apiUrl}/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: `${receiver.url}/hook/${index}`, events: ['bench.*'] }),
      });
      if (answer.status !== 201) throw new Error(`POST /webhooks: ${answer.status} ${await answer.text()}`);
    }
    await query(
      stack.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${project.id}, 'reader' || n || '@bench.test', true, '{}', now(), now()
        from generate_series(1, ${CONTACTS}::int) n`,
    );
  }
  return projects;
}

/** Stores events for the contacts in turns. They start no execution and end no wait, so the rows are enough. */
async function track(stack: BenchStack, projects: readonly string[], count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into event (id, project_id, contact_id, name, data, created_at)
      select everpost_uuid_v7(), c.project_id, c.id, 'bench.visit',
        jsonb_build_object('page', '/products/' || n, 'seconds', n, 'plan', 'pro'), clock_timestamp()
      from unnest(${[...projects]}::uuid[]) as p (id) cross join generate_series(1, ${count}::int) n
      join lateral (
        select id, project_id from contact where project_id = p.id order by id offset n % ${CONTACTS}::int limit 1
      ) c on true`,
  );
}

/** Waits until `wanted` deliveries have come, or no more come. */
async function untilReceived(receiver: Receiver, wanted: number): Promise<Seen> {
  const endAt = Date.now() + RUN_MS_MAX;
  for (;;) {
    const seen = await receiver.call('GET');
    const isSilent = seen.received > 0 && Date.now() - seen.lastAt > SILENCE_MS;
    if (seen.received >= wanted || isSilent) return seen;
    if (Date.now() > endAt)
      throw new Error(`${seen.received} of ${wanted} webhooks came in ${RUN_MS_MAX / 60_000} min`);
    await delay(POLL_MS);
  }
}

/** Stores all events at once, as after a campaign, and measures how many are delivered a second. */
async function burst(stack: BenchStack, receiver: Receiver, projects: string[], events: number, endpoints: number) {
  await receiver.call('DELETE');
  await track(stack, projects, events);
  const { received, firstAt, lastAt } = await untilReceived(receiver, events * endpoints);
  return { received, seconds: (lastAt - firstAt) / 1_000 };
}

/** Stores events at a steady pace, and measures how long after its event each webhook arrives. */
async function pace(context: BenchContext, stack: BenchStack, receiver: Receiver, projects: string[]): Promise<Seen> {
  const [perSecond, seconds] = [context.number('events-per-second'), context.number('seconds')];
  await receiver.call('DELETE');
  for (let second = 0; second < seconds; second += 1) {
    const next = delay(1_000);
    await track(stack, projects, perSecond);
    await next;
  }
  await delay(SILENCE_MS);
  return receiver.call('GET');
}

export const bench: Bench = {
  description: 'Webhooks delivered to many endpoints a second, and what a dead one costs the others.',
  options: {
    endpoints: { type: 'string', default: '100' },
    events: { type: 'string', default: '200' },
    'events-per-second': { type: 'string', default: '4' },
    seconds: { type: 'string', default: '8' },
  },
  async run(context): Promise<BenchResult> {
    const [endpoints, events] = [context.number('endpoints'), context.number('events')];
    const receiver = await startReceiver(context);
    const stack = await context.startStack({
      // No mail is sent.
      smtpUrl: 'smtp://127.0.0.1:9',
      env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
    });
    const projects = await createEndpoints(stack, receiver, endpoints);
    context.progress('Warming up');
    await burst(stack, receiver, projects, 20, endpoints);
    context.progress(`Delivering ${events} events to each of ${endpoints} endpoints`);
    const worker = stack.worker();
    const before = worker && context.meter.cpuMs(worker.pid);
    const all = await burst(stack, receiver, projects, events, endpoints);
    const after = worker && context.meter.cpuMs(worker.pid);

    const p99: Record<'alive' | 'dead', number[]> = { alive: [], dead: [] };
    for (const state of ['alive', 'dead', 'alive', 'dead'] as const) {
      context.progress(`Events at a steady pace, one endpoint ${state}`);
      await receiver.call('POST', state);
      p99[state].push((await pace(context, stack, receiver, projects)).p99);
    }
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const figure = round(all.received / all.seconds);
    return {
      name: 'webhooks',
      figure,
      unit: 'deliveries/s',
      limit: GOAL_PER_SECOND,
      ratio: round(figure / GOAL_PER_SECOND, 2),
      lost: events * endpoints - all.received,
      workerCpuMsPerDelivery:
        before === undefined || after === undefined ? null : round((after - before) / all.received, 3),
      p99Ms: { alive: p99.alive, oneDead: p99.dead },
      p99Ratio: round(mean(p99.dead) / mean(p99.alive), 2),
    };
  },
};
