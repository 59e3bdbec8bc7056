import { describeLoad, measureHttpLoad, type HttpLoad, type HttpLoadResult } from './http-load.ts';
import { round, type BenchContext, type BenchResult } from './contract.ts';
import type { BenchStack } from './stack.ts';

/** Connections to PostgreSQL, the same for the API and for what it is compared with. */
export const POOL_SIZE = '20';

export const REQUEST_OPTIONS = {
  connections: { type: 'string', default: '64' },
  seconds: { type: 'string', default: '10' },
} as const;

/** The limit: a bare Express handler that inserts the same body as one row, on the same database, in the same run. */
export async function measureBareExpress(context: BenchContext, stack: BenchStack, load: HttpLoad) {
  context.progress('Measuring the limit');
  const server = await context.startNode({
    name: 'bare-express',
    entry: 'bench/harness/bare-express-main.ts',
    env: { ...process.env, DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: POOL_SIZE },
  });
  const line = await server.line((text) => text.startsWith('listening on '));
  const url = `http://127.0.0.1:${line.split(' ').at(-1) ?? ''}`;
  const cpuBefore = readCpu(context, stack, server.pid);
  const result = await measureHttpLoad(context, { ...load, key: undefined, url, path: '/' });
  const cpuMsPerRequest = cpuSince(cpuBefore, readCpu(context, stack, server.pid), result);
  await server.stop();
  return { ...describeLoad(result), cpuMsPerRequest };
}

/** CPU times of the API (or what stands in its place) and of the stores behind it. */
export function readCpu(context: BenchContext, stack: BenchStack, apiPid: number): Record<string, number> {
  const pids = {
    api: apiPid,
    postgres: stack.pids.postgres,
    temporal: stack.pids.temporal,
    worker: stack.worker()?.pid,
  };
  return Object.fromEntries(
    Object.entries(pids).flatMap(([name, pid]) => (pid === undefined ? [] : [[name, context.meter.cpuMs(pid)]])),
  );
}

/** CPU milliseconds per request between two readings, that of warming up included. */
export function cpuSince(
  before: Record<string, number>,
  after: Record<string, number>,
  { nextNumber }: Pick<HttpLoadResult, 'nextNumber'>,
): Record<string, number> {
  const perRequest = (name: string): number => ((after[name] ?? 0) - (before[name] ?? 0)) / nextNumber;
  return Object.fromEntries(Object.keys(after).map((name) => [name, round(perRequest(name), 3)]));
}

/** Measures an endpoint against the limit. */
export async function measureEndpoint(
  context: BenchContext,
  stack: BenchStack,
  name: string,
  load: Pick<HttpLoad, 'path' | 'key' | 'body'>,
): Promise<{ result: BenchResult; nextNumber: number }> {
  const whole: HttpLoad = {
    ...load,
    url: stack.apiUrl,
    firstNumber: 0,
    connections: context.number('connections'),
    durationMs: context.number('seconds') * 1000,
  };
  const limit = await measureBareExpress(context, stack, whole);
  const api = stack.pids.api ?? 0;
  context.progress(`Measuring ${load.path} (limit ${round(limit.perSecond)} a second)`);
  context.meter.resetPeak(api);
  const cpuBefore = readCpu(context, stack, api);
  const measured = await measureHttpLoad(context, whole);
  const cpuAfter = readCpu(context, stack, api);
  const { perSecond, p50Ms, p99Ms } = describeLoad(measured);
  return {
    nextNumber: measured.nextNumber,
    result: {
      name,
      figure: round(perSecond),
      unit: 'requests/s',
      limit: round(limit.perSecond),
      ratio: round(perSecond / limit.perSecond, 3),
      p50Ms,
      p99Ms,
      cpuMsPerRequest: cpuSince(cpuBefore, cpuAfter, measured),
      peakApiMemoryMb: round(context.meter.peakMemoryMb(api)),
      limitP50Ms: limit.p50Ms,
      limitP99Ms: limit.p99Ms,
      limitCpuMsPerRequest: limit.cpuMsPerRequest,
    },
  };
}
