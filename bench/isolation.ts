import { setTimeout as delay } from 'node:timers/promises';
import { query, sql } from '../shared/database/sql.ts';
import { createOperatorCommands } from '../local/operator-command.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { sendHttpLoad, type HttpLoadResult } from './harness/http-load.ts';
import type { Sink } from './harness/sink.ts';
import { createBenchProject, type BenchProject, type BenchStack } from './harness/stack.ts';
import { ATTACKS, type Attacker } from './isolation/attacks.ts';

/** Requests of the other tenant a second; together with its sends they stay below the default rate limit. */
const TRACKS_PER_SECOND = 8;
const SENDS_PER_SECOND = 4;
const CONNECTIONS = 8;
const MAILBOX_TIMEOUT_MS = 120_000;
const IDLE_TIMEOUT_MS = 180_000;
const IDLE_LOOK_MS = 3_000;
/** Of one core, used by PostgreSQL. */
const IDLE_PART = 0.1;
/** For the processes that call the API to start. What that costs the machine is not a tenant's doing. */
const CALLERS_START_MS = 2_500;
/** The worse of two tenants may be this many times slower than on an idle system. */
const GOAL = 2;

/** 99th percentiles in milliseconds. */
interface Latencies {
  trackP99Ms: number;
  sendP99Ms: number;
  toMailboxP99Ms: number;
}

/** CPU seconds that each process used while something was measured. `bench` is what the attacks themselves cost. */
type Cpu = Record<string, number>;

interface Victim {
  project: BenchProject;
  /** Numbers of requests are used once, so that every email has a recipient of its own. */
  nextNumber: number;
}

async function createVictim(stack: BenchStack): Promise<Victim> {
  const run = createOperatorCommands(stack.env, AbortSignal.timeout(60_000));
  return { project: await createBenchProject(run, 'Victim', 'victim.test'), nextNumber: 0 };
}

/** From each request to the arrival of its message at the SMTP server. */
async function mailboxDelays(sink: Sink, sent: HttpLoadResult): Promise<number[]> {
  const deadline = Date.now() + MAILBOX_TIMEOUT_MS;
  for (;;) {
    const arrivals = await sink.arrivals();
    const delays = sent.sentAt.map(([number, at]) => {
      const arrivedAt = arrivals.get(`reader${String(number).padStart(9, '0')}@victim.example`);
      return arrivedAt === undefined ? undefined : arrivedAt - at;
    });
    const missing = delays.filter((value) => value === undefined).length;
    if (missing === 0) return delays as number[];
    if (Date.now() > deadline) throw new Error(`${missing} emails of the victim did not arrive in time`);
    await delay(250);
  }
}

async function measureVictim(context: BenchContext, stack: BenchStack, sink: Sink, victim: Victim): Promise<Latencies> {
  const load = {
    url: stack.apiUrl,
    connections: CONNECTIONS,
    durationMs: context.number('seconds') * 1000,
    startAt: Date.now() + CALLERS_START_MS,
  };
  const firstNumber = victim.nextNumber;
  const [tracked, sent] = await Promise.all([
    sendHttpLoad(context, {
      ...load,
      path: '/v1/track',
      key: victim.project.publicKey,
      body: JSON.stringify({ email: 'reader{n}@victim.example', event: 'viewed', data: { page: '/pricing' } }),
      firstNumber,
      requestsPerSecond: TRACKS_PER_SECOND,
    }),
    sendHttpLoad(context, {
      ...load,
      path: '/v1/send',
      key: victim.project.secretKey,
      body: JSON.stringify({
        to: 'reader{n}@victim.example',
        from: `orders@${victim.project.domain}`,
        subject: 'Your order {n}',
        body: '<p>Dear {{name ?? "reader"}}, your order is on its way.</p>',
      }),
      firstNumber,
      requestsPerSecond: SENDS_PER_SECOND,
    }),
  ]);
  victim.nextNumber = Math.max(tracked.nextNumber, sent.nextNumber);
  return {
    trackP99Ms: quantile(tracked.latencies, 0.99),
    sendP99Ms: quantile(sent.latencies, 0.99),
    toMailboxP99Ms: quantile(await mailboxDelays(sink, sent), 0.99),
  };
}

/** Starts to count CPU time. @returns a function that returns the CPU seconds since then */
function meterCpu({ meter }: BenchContext, stack: BenchStack, sink: Sink): () => Cpu {
  const { api, postgres, temporal } = stack.pids;
  const pids = { api, worker: stack.worker()?.pid, postgres, temporal, sink: sink.pid };
  const read = (): Cpu => ({
    ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, meter.cpuMs(pid ?? 0) / 1_000])),
    bench: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  });
  const before = read();
  return () =>
    Object.fromEntries(Object.entries(read()).map(([name, now]) => [name, round(now - (before[name] ?? 0), 1)]));
}

/** Waits until PostgreSQL is idle, because an attack may leave work behind, such as rows to close or to vacuum. */
async function untilIdle({ meter }: BenchContext, { pids }: BenchStack): Promise<void> {
  const deadline = Date.now() + IDLE_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const before = meter.cpuMs(pids.postgres);
    await delay(IDLE_LOOK_MS);
    if (!(meter.cpuMs(pids.postgres) - before > IDLE_PART * IDLE_LOOK_MS)) return;
  }
}

/** Finishes what filled tables and earlier attacks left to PostgreSQL, so that no other attack is measured with it. */
async function settle(context: BenchContext, stack: BenchStack): Promise<void> {
  await untilIdle(context, stack);
  await query(stack.em(), sql`vacuum (analyze)`);
  await query(stack.em(), sql`checkpoint`);
}

function combine(a: Latencies, b: Latencies, how: (a: number, b: number) => number): Latencies {
  return {
    trackP99Ms: how(a.trackP99Ms, b.trackP99Ms),
    sendP99Ms: how(a.sendP99Ms, b.sendP99Ms),
    toMailboxP99Ms: how(a.toMailboxP99Ms, b.toMailboxP99Ms),
  };
}

function rounded(latencies: Latencies): Latencies {
  return combine(latencies, latencies, (value) => round(value, 1));
}

export const bench: Bench = {
  description: 'How much slower (p99) one tenant gets while another one attacks; the goal is at most 2.',
  options: {
    seconds: { type: 'string', default: '30' },
    contacts: { type: 'string', default: '100000' },
    recipients: { type: 'string', default: '1000000' },
    executions: { type: 'string', default: '100000' },
    only: { type: 'string', default: '' },
  },
  async run(context) {
    const sink = await context.startSink();
    // Both tenants live under the rate limit that operators get by default.
    const stack = await context.startStack({ smtpUrl: sink.url, env: { API_RATE_LIMIT_PER_MINUTE: '1000' } });
    const victim = await createVictim(stack);
    const attacker: Attacker = { context, stack };
    const wanted = context.text('only').split(',').filter(Boolean);
    const attacks = ATTACKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

    context.progress('Warming up');
    await measureVictim(context, stack, sink, victim);
    context.progress('Measuring the quiet system');
    const quietCpu = meterCpu(context, stack, sink);
    const quietBefore = await measureVictim(context, stack, sink, victim);
    const loaded: Record<string, Latencies> = {};
    const cpuSeconds: Record<string, Cpu> = { quiet: quietCpu() };
    context.progress(JSON.stringify({ ...rounded(quietBefore), ...cpuSeconds['quiet'] }));
    for (const attack of attacks) {
      context.progress(`Preparing: ${attack.name}`);
      const start = await attack.prepare(attacker);
      await settle(context, stack);
      context.progress(`Measuring under: ${attack.name}`);
      const usedCpu = meterCpu(context, stack, sink);
      const attacking = delay(CALLERS_START_MS).then(start);
      const [latencies] = await Promise.all([measureVictim(context, stack, sink, victim), attacking]).finally(
        async () => (await attacking)(),
      );
      loaded[attack.name] = latencies;
      cpuSeconds[attack.name] = usedCpu();
      context.progress(JSON.stringify({ ...rounded(loaded[attack.name] as Latencies), ...cpuSeconds[attack.name] }));
      await attack.cleanUp?.(attacker);
    }
    await settle(context, stack);
    context.progress('Measuring the quiet system again');
    // The slower of two measurements, so that one fast moment is not what the others are compared with.
    const quiet = combine(quietBefore, await measureVictim(context, stack, sink, victim), Math.max);

    const byAttack = Object.entries(loaded).map(
      ([name, latencies]) => [name, combine(latencies, quiet, (a, b) => a / b)] as const,
    );
    const worst = Math.max(
      ...byAttack.flatMap(([, slowdown]) => [slowdown.trackP99Ms, slowdown.sendP99Ms, slowdown.toMailboxP99Ms]),
    );
    return {
      name: 'isolation',
      figure: round(worst, 2),
      unit: 'times the quiet p99',
      limit: GOAL,
      ratio: round(GOAL / worst, 3),
      quiet: rounded(quiet),
      loaded: Object.fromEntries(Object.entries(loaded).map(([name, value]) => [name, rounded(value)])),
      slowdown: Object.fromEntries(byAttack.map(([name, value]) => [name, rounded(value)])),
      cpuSeconds,
    };
  },
};
