import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { activeTraceParent, startSpan } from '../shared/platform/tracing/spans.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { fillHistory, type HistorySize } from './history/fill.ts';
import { prepareSide, WORK, type Measure, type Side } from './history/measures.ts';

const PAST: HistorySize = { emails: 20_000, events: 60_000, days: 30, otherProjects: 1 };
const CALLS = 1_000_000;

/** Starts a collector that discards spans. @returns its URL, and the number of octets that it has received */
async function startCollector(context: BenchContext): Promise<{ url: string; octets: () => number }> {
  let octets = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (octets += chunk.length));
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.onEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, octets: () => octets };
}

/** The cost of a span and of reading the trace, in nanoseconds, while tracing is off as in this process. */
function measureOff(): number {
  const startedAt = performance.now();
  for (let call = 0; call < CALLS; call++) {
    startSpan('bench').end();
    activeTraceParent();
  }
  return round(((performance.now() - startedAt) / CALLS) * 1e6);
}

async function startSides(context: BenchContext, collectorUrl: string): Promise<Record<string, Side>> {
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl };
  const sampled = { ...on, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };
  const sink = await context.startSink();
  const sides: Record<string, Side> = {};
  for (const [name, env] of Object.entries({ off: {}, sampled, on })) {
    const options = { folder: name, smtpUrl: sink.url, env: { DATABASE_POOL_SIZE: '20', ...env } };
    const stack = await context.startStack(options);
    sides[name] = await prepareSide(context, stack, await fillHistory(stack, PAST, context.progress));
  }
  return sides;
}

/** Measures the CPU time of one unit on each side in turns. The first turn only warms up. */
async function compareSides(context: BenchContext, sides: Record<string, Side>, measure: Measure) {
  const all: Record<string, number[]> = {};
  for (let turn = 0; turn <= context.number('turns'); turn++) {
    const order = Object.entries(sides);
    for (const [name, side] of turn % 2 === 0 ? order : order.reverse()) {
      const { cpuMs } = await measure(context, side);
      if (turn > 0) (all[name] ??= []).push(cpuMs);
    }
  }
  return Object.fromEntries(Object.entries(all).map(([name, costs]) => [name, round(quantile(costs, 0.5), 3)]));
}

export const bench: Bench = {
  description:
    'What traces cost: CPU of a request, a recipient and an execution with them off, on, and on for one in 100.',
  options: {
    recipients: { type: 'string', default: '3000' },
    executions: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '2' },
    turns: { type: 'string', default: '3' },
    parts: { type: 'string', default: Object.keys(WORK).join(',') },
  },
  async run(context) {
    const offNs = measureOff();
    const collector = await startCollector(context);
    const sides = await startSides(context, collector.url);
    const cpuMs: Record<string, Record<string, number>> = {};
    const parts = context.text('parts').split(',');
    for (const [name, measure] of Object.entries(WORK)) {
      if (!parts.includes(name)) continue;
      cpuMs[name] = await compareSides(context, sides, measure);
      context.progress(`${name}: ${JSON.stringify(cpuMs[name])}`);
    }
    const ratios = Object.values(cpuMs).map(({ off = Number.NaN, on = Number.NaN }) => on / off);
    return {
      name: 'traces',
      figure: round(Math.max(...ratios), 2),
      unit: 'times the CPU without traces',
      limit: null,
      ratio: null,
      offNs,
      collectorOctets: collector.octets(),
      cpuMs,
    };
  },
};
