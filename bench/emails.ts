import { query, sql, SqlFragment } from '../shared/database/sql.ts';
import { text } from '../shared/database/tables.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';
import { addLargeCampaign, listPaths } from './emails/lists.ts';
import { fillHistory, type HistorySize } from './history/fill.ts';
import { measureGet, medianCpuMs, prepareSide, WORK, type Cost, type Side } from './history/measures.ts';

/** The goal for the p99 of lists, in milliseconds. */
const GOAL_MS = 50;
/** By which factor the indexes of lists may raise the cost of a campaign. */
const COST_GOAL = 1.03;
/** Indexes that only lists of emails use. */
const INDEXES = ['email_by_creation', 'email_by_trouble', 'email_trouble_of_campaign', 'email_without_contact'];

interface ListCost {
  p50Ms: number;
  p99Ms: number;
  /** CPU time of API and PostgreSQL for one request. */
  cpuMs: number;
}

const atQuantile = (latencies: number[], share: number) => round(quantile(latencies, share), 1);

async function measureLists(context: BenchContext, side: Side) {
  const campaignId = await addLargeCampaign(side.stack, context.number('large'));
  const paths = await listPaths(side.stack, side.history, campaignId);
  const lists: Record<string, ListCost> = {};
  await measureGet(() => '/emails')(context, side);
  for (const [name, path] of Object.entries(paths)) {
    const measure = measureGet(() => path);
    const { latencies, cpuMs } = await measure(context, side);
    lists[name] = { p50Ms: atQuantile(latencies, 0.5), p99Ms: atQuantile(latencies, 0.99), cpuMs: round(cpuMs, 1) };
    context.progress(`${name}: ${JSON.stringify(lists[name])}`);
  }
  return lists;
}

/** The statements that make the indexes of lists. */
async function definitionsOf(stack: BenchStack): Promise<string[]> {
  const rows = await query(
    stack.em(),
    sql`select pg_get_indexdef(name::regclass) as definition from unnest(${INDEXES}::text[]) as i (name)`,
    { definition: text },
  );
  return rows.map(({ definition }) => definition);
}

/** Measures campaigns without and with these indexes in turns. The first turn only warms up. */
async function measureCampaigns(context: BenchContext, side: Side) {
  const { stack } = side;
  const definitions = await definitionsOf(stack);
  const costs = { without: [] as Cost[], with: [] as Cost[] };
  const { campaign: measure } = WORK;
  if (!measure) throw new Error('There is no measure of campaigns.');
  for (let turn = 0; turn <= context.number('turns'); turn++) {
    for (const name of turn % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      context.progress(`A campaign ${name} the indexes of lists`);
      await query(stack.em(), new SqlFragment(`drop index if exists ${INDEXES.join(', ')}`));
      if (name === 'with') for (const definition of definitions) await query(stack.em(), new SqlFragment(definition));
      await query(stack.em(), sql`vacuum analyze email`);
      await query(stack.em(), sql`checkpoint`);
      const cost = await measure(context, side);
      if (turn > 0) costs[name].push(cost);
    }
  }
  const [withoutMs, withMs] = [medianCpuMs(costs.without), medianCpuMs(costs.with)];
  return { cpuMsWithout: withoutMs, cpuMsWith: withMs, costOfLists: round(withMs / withoutMs, 3) };
}

export const bench: Bench = {
  description: 'Lists of emails and recipients over 1,000,000 emails, p99 (goal 50 ms), and what they cost a campaign.',
  options: {
    emails: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '200000' },
    requests: { type: 'string', default: '300' },
    recipients: { type: 'string', default: '10000' },
    turns: { type: 'string', default: '9' },
    parts: { type: 'string', default: 'lists,campaigns' },
  },
  async run(context) {
    const emails = context.number('emails');
    const size: HistorySize = { emails, events: emails, days: 180, otherProjects: 9 };
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url, env: { DATABASE_POOL_SIZE: '20' } });
    context.progress(`Filling the database with ${emails} emails`);
    const side = await prepareSide(context, stack, await fillHistory(stack, size, context.progress));
    const parts = context.text('parts').split(',');
    const lists = parts.includes('lists') ? await measureLists(context, side) : {};
    const campaigns = parts.includes('campaigns') ? await measureCampaigns(context, side) : undefined;
    const worst = Math.max(0, ...Object.values(lists).map(({ p99Ms }) => p99Ms));
    return {
      name: 'emails',
      figure: worst,
      unit: 'ms',
      limit: GOAL_MS,
      ratio: round(GOAL_MS / worst, 2),
      emails,
      missed: [
        ...Object.entries(lists).flatMap(([name, { p99Ms }]) => (p99Ms > GOAL_MS ? [name] : [])),
        ...(campaigns && campaigns.costOfLists > COST_GOAL ? ['cost of a campaign'] : []),
      ],
      lists,
      ...campaigns,
    };
  },
};
