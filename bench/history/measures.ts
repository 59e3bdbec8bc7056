import { setTimeout as delay } from 'node:timers/promises';
import { query, queryOne, sql, type SqlFragment } from '../../shared/database/sql.ts';
import { date, number } from '../../shared/database/tables.ts';
import { createAutomation, recordEvents } from '../automations.ts';
import { createCampaign } from '../harness/bench-mail.ts';
import { quantile, round, type BenchContext } from '../harness/contract.ts';
import { sendGetLoad } from '../harness/get-load.ts';
import { sendHttpLoad } from '../harness/http-load.ts';
import { readCpu } from '../harness/request-bench.ts';
import type { BenchStack } from '../harness/stack.ts';
import type { FilledHistory } from './fill.ts';

/** A stack whose database has a long past or almost none, with the records that the measures need. */
export interface Side {
  stack: BenchStack;
  history: FilledHistory;
  segmentId: string;
  automationId: string;
  /** The topic of its campaigns. */
  topicId?: string;
  /** Each request has a number of its own. */
  nextNumber: number;
}

/** The cost of some units of work. */
export interface Cost {
  units: number;
  /** CPU time per unit of the processes that take part. */
  cpuMs: number;
  postgresCpuMs: number;
  latencies: number[];
}

export type Measure = (context: BenchContext, side: Side) => Promise<Cost>;

const EVENT = 'bench_history';
const CONNECTIONS = 16;
const LIST_CONNECTIONS = 2;
const PATIENCE_MS = 900_000;

/** Creates the segment that campaigns are sent to, and an automation TRIGGER → CONDITION → SEND_EMAIL. */
export async function prepareSide(context: BenchContext, stack: BenchStack, history: FilledHistory): Promise<Side> {
  const automationId = await createAutomation(stack, EVENT);
  const segment = (await stack.call('POST', '/segments', { name: 'Audience', type: 'STATIC' })) as { id: string };
  await query(
    stack.em(),
    sql`
      with reader as (
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        select everpost_uuid_v7(), ${stack.project.id}, 'audience' || n || '@example.com', true, now(), now()
        from generate_series(1, ${context.number('recipients')}::int) n returning id
      )
      insert into segment_member (segment_id, contact_id) select ${segment.id}, id from reader`,
  );
  await query(stack.em(), sql`vacuum analyze segment_member, contact`);
  return { stack, history, segmentId: segment.id, automationId, nextNumber: 0 };
}

async function costOf(
  context: BenchContext,
  { stack }: Side,
  work: () => Promise<{ units: number; latencies?: number[] }>,
  parts: readonly string[] = ['api', 'worker', 'postgres', 'temporal'],
): Promise<Cost> {
  const read = () => {
    const all = Object.entries(readCpu(context, stack, stack.pids.api ?? 0));
    return Object.fromEntries(all.filter(([name]) => parts.includes(name)));
  };
  const before = read();
  const { units, latencies = [] } = await work();
  const after = read();
  const used = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / units] as const);
  const cpuMs = used.reduce((sum, [, ms]) => sum + ms, 0);
  return { units, latencies, cpuMs, postgresCpuMs: Object.fromEntries(used)['postgres'] ?? Number.NaN };
}

async function waitUntilNone(stack: BenchStack, what: string, rows: SqlFragment): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const row = await queryOne(stack.em(), sql`select count(*) from ${rows}`, { count: number });
    if (row?.count === 0) return;
    if (Date.now() > deadline) throw new Error(`${row?.count} ${what} are not done`);
    await delay(50);
  }
}

/** Emails since `since` that are not sent yet. */
function unsent(stack: BenchStack, since: Date): SqlFragment {
  return sql`email where project_id = ${stack.project.id} and created_at >= ${since} and status in ('PENDING', 'SENDING')`;
}

/** The time of the database's clock. */
async function now(stack: BenchStack): Promise<Date> {
  const row = await queryOne(stack.em(), sql`select now()`, { now: date });
  return row?.now ?? new Date();
}

async function postLoad(context: BenchContext, side: Side, load: { path: string; key: string; body: object }) {
  const result = await sendHttpLoad(context, {
    url: side.stack.apiUrl,
    path: load.path,
    key: load.key,
    body: JSON.stringify(load.body),
    firstNumber: side.nextNumber,
    connections: CONNECTIONS,
    durationMs: context.number('seconds') * 1000,
  });
  side.nextNumber = result.nextNumber;
  return { units: result.requests, latencies: result.latencies };
}

const measureTrack: Measure = (context, side) =>
  costOf(context, side, () =>
    postLoad(context, side, {
      path: '/v1/track',
      key: side.stack.project.publicKey,
      body: { email: 'visitor{n}@example.com', event: 'viewed-1', data: { page: '/pricing', visit: '{n}' } },
    }),
  );

const measureSend: Measure = async (context, side) => {
  const since = await now(side.stack);
  return costOf(context, side, async () => {
    const sent = await postLoad(context, side, {
      path: '/v1/send',
      key: side.stack.project.secretKey,
      body: {
        to: 'buyer{n}@example.com',
        subject: 'Your order {n}',
        body: '<p>Thank you.</p>',
        from: `orders@${side.stack.project.domain}`,
      },
    });
    await waitUntilNone(side.stack, 'emails', unsent(side.stack, since));
    return sent;
  });
};

const measureCampaign: Measure = async (context, side) => {
  const { segmentId, topicId } = side;
  const id = await createCampaign(side.stack, { audienceType: 'SEGMENT', segmentId, topicId });
  return costOf(context, side, async () => {
    await side.stack.call('POST', `/campaigns/${id}/send`, {});
    await waitUntilNone(side.stack, 'campaigns', sql`campaign where id = ${id} and status <> 'SENT'`);
    return { units: context.number('recipients') };
  });
};

const measureExecutions: Measure = async (context, side) => {
  const { stack, automationId } = side;
  const count = context.number('executions');
  const since = await now(stack);
  return costOf(context, side, async () => {
    await recordEvents(stack, EVENT, count);
    const open = sql`automation_execution where automation_id = ${automationId} and created_at >= ${since} and status = 'RUNNING'`;
    await waitUntilNone(stack, 'executions', open);
    await waitUntilNone(stack, 'emails', unsent(stack, since));
    return { units: count };
  });
};

/** Work whose cost must not grow with the past. */
export const WORK: Record<string, Measure> = {
  send: measureSend,
  track: measureTrack,
  campaign: measureCampaign,
  executions: measureExecutions,
};

const TODAY = new Date().toISOString().slice(0, 10);

/** Lists as people look at them, first pages and pages far behind. */
export const LISTS: Record<string, (side: Side) => string> = {
  activity: () => '/activity?limit=50',
  'activity of a type': () => '/activity?types=email.bounced',
  'activity of a contact': ({ history }) => `/activity?contactId=${history.contactId}`,
  emails: () => '/emails?limit=50',
  'emails in a rare state': () => '/emails?status=BOUNCED&limit=50',
  'emails to an address': ({ history }) => `/emails?address=${encodeURIComponent(history.address)}`,
  'emails of a campaign': ({ history }) => `/emails?campaignId=${history.campaignId}&limit=50`,
  'emails of a template': ({ history }) => `/emails?templateId=${history.templateId}&limit=50`,
  'an email': ({ history }) => `/emails/${history.emailId}`,
  recipients: ({ history }) => `/campaigns/${history.campaignId}/recipients?limit=50`,
  'bounced recipients': ({ history }) => `/campaigns/${history.campaignId}/recipients?state=BOUNCED`,
  events: () => '/events?limit=50',
  'events of a name': () => '/events?eventName=viewed-7&limit=50',
  'events of a contact': ({ history }) => `/events/contact/${history.contactId}?limit=50`,
  workflows: () => '/workflows',
  'executions of a workflow': ({ history }) => `/workflows/${history.automationId}/executions`,
  'executions in a rare state': ({ history }) => `/workflows/${history.automationId}/executions?status=FAILED`,
  'executions that wait': ({ history }) => `/workflows/${history.automationId}/executions?status=WAITING`,
};

/** Figures over a period or a whole project, which grow with what they count. */
export const STATISTICS: Record<string, (side: Side) => string> = {
  'activity of 30 days': () => '/activity/stats',
  'activity of today': () => `/activity/stats?startDate=${TODAY}`,
  'events of today': () => `/events/stats?startDate=${TODAY}`,
  'names of events': () => '/events/names',
  'a campaign': ({ history }) => `/campaigns/${history.campaignId}/stats`,
};

let loads = 0;

/** Gets one path again and again. */
export function measureGet(pathOf: (side: Side) => string): Measure {
  return (context, side) => {
    const get = async () => {
      loads += 1;
      const { requests, latencies } = await sendGetLoad(context, {
        name: `get-${loads}`,
        url: side.stack.apiUrl,
        key: side.stack.project.secretKey,
        first: 0,
        connections: LIST_CONNECTIONS,
        durationMs: PATIENCE_MS,
        paths: Array.from({ length: context.number('requests') }, () => pathOf(side)),
      });
      return { units: requests, latencies };
    };
    return costOf(context, side, get, ['api', 'postgres']);
  };
}

/** The median CPU time per unit, in milliseconds. */
export function medianCpuMs(costs: Cost[]): number {
  const times = costs.map(({ cpuMs }) => cpuMs);
  return round(quantile(times, 0.5), 3);
}

/**
 * Measures both sides in turns, so that a change of the machine's speed matters less. The first turn only warms up.
 */
export async function compare(context: BenchContext, small: Side, filled: Side, measure: Measure): Promise<Comparison> {
  const costs = { small: [] as Cost[], filled: [] as Cost[] };
  for (let turn = 0; turn <= context.number('turns'); turn++) {
    const order = turn % 2 === 0 ? (['small', 'filled'] as const) : (['filled', 'small'] as const);
    for (const name of order) {
      const cost = await measure(context, name === 'small' ? small : filled);
      if (turn > 0) costs[name].push(cost);
    }
  }
  const postgres = (all: Cost[]) =>
    round(
      quantile(
        all.map(({ postgresCpuMs }) => postgresCpuMs),
        0.5,
      ),
      3,
    );
  const latencies = costs.filled.flatMap((cost) => cost.latencies);
  const [smallCpuMs, filledCpuMs] = [medianCpuMs(costs.small), medianCpuMs(costs.filled)];
  return {
    smallCpuMs,
    filledCpuMs,
    ratio: round(filledCpuMs / smallCpuMs, 2),
    postgresCpuMs: [postgres(costs.small), postgres(costs.filled)],
    ...(latencies.length > 0 && {
      p50Ms: round(quantile(latencies, 0.5), 1),
      p99Ms: round(quantile(latencies, 0.99), 1),
    }),
  };
}

export interface Comparison {
  smallCpuMs: number;
  filledCpuMs: number;
  /** Filled to small. */
  ratio: number;
  postgresCpuMs: [small: number, filled: number];
  p50Ms?: number;
  p99Ms?: number;
}
