import { quantile, round, type BenchContext } from './contract.ts';

/** Requests to send. */
export interface HttpLoad {
  /** Where the server listens, for example `http://127.0.0.1:3000`. */
  url: string;
  /** Path to POST to. */
  path: string;
  /** Bearer token. */
  key?: string;
  /** JSON text; every `{n}` in it becomes the number of the request, nine digits long. */
  body: string;
  firstNumber: number;
  /** Kept alive, one request at a time each. */
  connections: number;
  durationMs: number;
  /** At this speed; as fast as answers come when left out. */
  requestsPerSecond?: number;
  /** Milliseconds since 1970; as soon as the process that sends is ready when left out. */
  startAt?: number;
}

/** The result of a load. */
export interface HttpLoadResult {
  requests: number;
  /** Number of replies by HTTP status. */
  statuses: Record<string, number>;
  elapsedMs: number;
  /** Of each request, in milliseconds. */
  latencies: number[];
  /** Number of each request and when it was sent (ms since 1970 with fractions); only at a fixed speed. */
  sentAt: [number: number, at: number][];
  /** The number to continue with. */
  nextNumber: number;
  /** CPU time of the load generator. */
  cpuMs: number;
}

let loads = 0;

/** Sends a load from a process of its own. @throws Error when any reply was not 200 */
export async function sendHttpLoad(context: BenchContext, load: HttpLoad): Promise<HttpLoadResult> {
  loads += 1;
  const running = await context.startNode({
    name: `http-load-${loads}`,
    entry: 'bench/harness/http-load-main.ts',
    args: [JSON.stringify(load)],
  });
  const line = await running.line((text) => text.startsWith('{'), load.durationMs + 60_000);
  await running.exited;
  const result = JSON.parse(line) as HttpLoadResult;
  if (Object.keys(result.statuses).join() !== '200') {
    throw new Error(`POST ${load.path} answered ${JSON.stringify(result.statuses)}`);
  }
  return result;
}

/** Replies a second and their latency, to report. */
export function describeLoad({ requests, elapsedMs, latencies }: HttpLoadResult) {
  return {
    perSecond: (requests / elapsedMs) * 1000,
    p50Ms: round(quantile(latencies, 0.5), 1),
    p99Ms: round(quantile(latencies, 0.99), 1),
  };
}

const WARM_UP_MS = 2_000;

/** Sends the load for two seconds first, so that compiled code and full pools are measured, then for its own time. */
export async function measureHttpLoad(context: BenchContext, load: HttpLoad): Promise<HttpLoadResult> {
  const warmUp = await sendHttpLoad(context, { ...load, durationMs: WARM_UP_MS });
  return sendHttpLoad(context, { ...load, firstNumber: warmUp.nextNumber });
}
