import { round, type Bench, type BenchContext } from './harness/contract.ts';
import { fillHistory, type HistorySize } from './history/fill.ts';
import {
  compare,
  LISTS,
  measureGet,
  prepareSide,
  STATISTICS,
  WORK,
  type Comparison,
  type Measure,
  type Side,
} from './history/measures.ts';
import { measureRetention, watchScans } from './history/retention.ts';

/** By which factor a long past may raise a cost. */
const GOAL = 1.15;
/** The small side is not empty, so that lists return a whole page on both sides. */
const SMALL: HistorySize = { emails: 20_000, events: 60_000, days: 30, otherProjects: 1 };

async function startSide(context: BenchContext, folder: string, smtpUrl: string, size: HistorySize): Promise<Side> {
  const stack = await context.startStack({ folder, smtpUrl, env: { DATABASE_POOL_SIZE: '20' } });
  context.progress(`Filling the database with ${size.emails} emails and ${size.events} events`);
  return prepareSide(context, stack, await fillHistory(stack, size, context.progress));
}

function measuresOf(parts: string[]): Record<string, Measure> {
  const gets = (paths: Record<string, (side: Side) => string>): Record<string, Measure> =>
    Object.fromEntries(Object.entries(paths).map(([name, pathOf]) => [name, measureGet(pathOf)]));
  return {
    ...(parts.includes('work') && WORK),
    ...(parts.includes('lists') && gets(LISTS)),
    ...(parts.includes('statistics') && gets(STATISTICS)),
  };
}

export const bench: Bench = {
  description: 'Cost of requests, campaigns, executions and lists with a long past, against none; then retention.',
  options: {
    emails: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '3000000' },
    days: { type: 'string', default: '180' },
    recipients: { type: 'string', default: '5000' },
    executions: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '200' },
    turns: { type: 'string', default: '2' },
    parts: { type: 'string', default: 'work,lists,statistics,retention' },
  },
  async run(context) {
    const size: HistorySize = {
      emails: context.number('emails'),
      events: context.number('events'),
      days: context.number('days'),
      otherProjects: 9,
    };
    const parts = context.text('parts').split(',');
    const sink = await context.startSink();
    const small = await startSide(context, 'small', sink.url, SMALL);
    const filled = await startSide(context, 'filled', sink.url, size);

    const scansOf = await watchScans(filled.stack);
    const results: Record<string, Comparison> = {};
    for (const [name, measure] of Object.entries(measuresOf(parts))) {
      results[name] = await compare(context, small, filled, measure);
      context.progress(`${name}: ${JSON.stringify(results[name])}`);
    }
    const scanned = await scansOf();
    const ratios = Object.entries(results).filter(([name]) => !(name in STATISTICS));
    const worst = Math.max(...ratios.map(([, { ratio }]) => ratio));
    return {
      name: 'history',
      figure: worst,
      unit: 'times the cost without a past',
      limit: GOAL,
      ratio: round(GOAL / worst, 2),
      ...size,
      missed: ratios.flatMap(([name, { ratio }]) => (ratio > GOAL ? [name] : [])),
      scanned,
      results,
      ...(parts.includes('retention') && { retention: await measureRetention(context, filled.stack, size) }),
    };
  },
};
