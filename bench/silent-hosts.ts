import { setTimeout as delay } from 'node:timers/promises';
import { createOperatorCommands } from '../local/operator-command.ts';
import { query, sql } from '../shared/database/sql.ts';
import type { DnsServer } from '../tests/support/dns-server.ts';
import { createCampaign } from './harness/bench-mail.ts';
import { createContacts } from './harness/campaign-audience.ts';
import { quantile, round, type BenchContext, type BenchResult } from './harness/contract.ts';
import type { Sink } from './harness/sink.ts';
import { createApiCall, createBenchProject, type BenchStack } from './harness/stack.ts';

/** One recipient in so many is at a dead host. */
const DEAD_EVERY = 100;
/** The part of the mail whose time is measured: most of what dead hosts do not keep. */
const ARRIVED = 0.98;
/** Another project sends so much, so long after the first one. */
const OTHERS = 1_000;
const OTHER_AFTER_MS = 1_000;
const WAIT_MS_MAX = 60_000;
const POLL_MS = 250;

/** What a turn took, in milliseconds. */
interface Turn {
  mailMs: number;
  otherMs: number;
}

/** Publishes hosts of which every other one is silent and the others end each connection, or that all take mail. */
function publish(dns: DnsServer, count: number, isDead: boolean): void {
  for (let n = 0; n < count; n += 1) {
    dns.set(`s${n}.example.com`, { MX: [[10, `mx.dead${n}.test`]] });
    dns.set(`mx.dead${n}.test`, { A: [`127.0.${isDead ? 2 + (n % 2) : 1}.${n + 1}`] });
  }
}

async function createOther(stack: BenchStack): Promise<BenchStack> {
  const run = createOperatorCommands(stack.env, AbortSignal.timeout(WAIT_MS_MAX));
  const project = await createBenchProject(run, 'Other', stack.project.domain);
  return { ...stack, project, call: createApiCall(stack.apiUrl, project) };
}

/** Sends to all contacts of both projects. @returns when the mail of each had arrived, from its request on */
async function sendBoth(context: BenchContext, sink: Sink, stack: BenchStack, other: BenchStack): Promise<Turn> {
  await sink.reset();
  const startMs = Date.now();
  const ids: [BenchStack, string][] = [];
  for (const [index, each] of [stack, other].entries()) {
    await delay(startMs + index * OTHER_AFTER_MS - Date.now());
    const id = await createCampaign(each);
    await each.call('POST', `/campaigns/${id}/send`, {});
    ids.push([each, id]);
  }
  const wanted = Math.ceil(context.number('recipients') * ARRIVED);
  for (;;) {
    const arrivals = [...(await sink.arrivals())];
    const [others, own] = [true, false].map((isOther) =>
      arrivals.flatMap(([to, at]) => (to.startsWith('other-') === isOther ? [at] : [])).sort((a, b) => a - b),
    );
    const [mailAt, otherAt] = [own?.[wanted - 1], others?.[OTHERS - 1]];
    const isOver = Date.now() - startMs > WAIT_MS_MAX;
    if (isOver || (mailAt !== undefined && otherAt !== undefined)) {
      for (const [each, id] of ids) await each.call('POST', `/campaigns/${id}/cancel`, {}).catch(() => undefined);
      return {
        mailMs: (mailAt ?? Infinity) - startMs,
        otherMs: (otherAt ?? Infinity) - startMs - OTHER_AFTER_MS,
      };
    }
    await delay(POLL_MS);
  }
}

/**
 * Sends a campaign to many hosts, of which some are dead, beside that of another project, and the same while all of these
 * hosts take mail, in turns.
 */
export async function measureSilentHosts(
  context: BenchContext,
  { stack, sink, dns }: { stack: BenchStack; sink: Sink; dns: DnsServer },
  env: NodeJS.ProcessEnv,
): Promise<BenchResult> {
  const dead = context.number('silent');
  const other = await createOther(stack);
  await createContacts(other, OTHERS, 20);
  await query(stack.em(), sql`update contact set email = 'other-' || email where project_id = ${other.project.id}`);
  await query(
    stack.em(),
    sql`
      update contact c set email = 'reader' || n || '@s' || (n / ${DEAD_EVERY}::int) % ${dead}::int || '.example.com'
      from (select id, row_number() over (order by id) as n from contact where project_id = ${stack.project.id}) r
      where r.id = c.id and n % ${DEAD_EVERY}::int = 0`,
  );
  const turns = { dead: [] as Turn[], alive: [] as Turn[] };
  for (let turn = 1; turn <= context.number('turns'); turn += 1) {
    for (const kind of turn % 2 === 0 ? (['dead', 'alive'] as const) : (['alive', 'dead'] as const)) {
      publish(dns, dead, kind === 'dead');
      await stack.worker()?.stop();
      await stack.startWorker(env);
      const took = await sendBoth(context, sink, stack, other);
      turns[kind].push(took);
      context.progress(`Turn ${turn}, ${kind}: ${round(took.mailMs)} ms, the other project ${round(took.otherMs)} ms`);
    }
  }
  const seconds = (kind: keyof typeof turns, name: keyof Turn): number =>
    round(
      quantile(
        turns[kind].map((each) => each[name]),
        0.5,
      ) / 1_000,
      2,
    );
  const [figure, limit] = [seconds('dead', 'mailMs'), seconds('alive', 'mailMs')];
  const [otherDead, otherAlive] = [seconds('dead', 'otherMs'), seconds('alive', 'otherMs')];
  return {
    name: 'mx',
    figure,
    unit: `s until ${ARRIVED * 100} % had arrived`,
    limit,
    ratio: round(limit / figure, 2),
    deadHosts: dead,
    otherSeconds: { dead: otherDead, alive: otherAlive },
    otherRatio: round(otherAlive / otherDead, 2),
    turns,
  };
}
