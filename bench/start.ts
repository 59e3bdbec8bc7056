import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';

const STARTS = 5;
const HEALTHY_MS = 120_000;

interface Start {
  /** From the start of the command until its API and its worker are ready. */
  ms: number;
  cpuMs: number;
  /** The command's own lines, each with the seconds since it began. */
  steps: string[];
}

/** `npm start` in a folder of its own, without npm itself, which adds a third of a second. */
async function measureStart(context: BenchContext, home: string, number: number): Promise<Start> {
  const startedAt = performance.now();
  const running = await context.startNode({
    name: `npm-start-${number}`,
    entry: 'scripts/bootstrap.mjs',
    args: ['local/start.ts'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], EVERPOST_HOME: home },
  });
  const steps: string[] = [];
  await running.line((line) => {
    if (/^ +[\d.]+ s {2}/.test(line)) steps.push(line.trim());
    return line === 'Everpost is running.';
  }, HEALTHY_MS);
  const ms = performance.now() - startedAt;
  const cpuMs = context.meter.cpuMs(running.pid);
  await running.stop();
  return { ms, cpuMs, steps };
}

/** From the start of the process until it polls all of its queues, in milliseconds. */
async function measureWorkerStarts(context: BenchContext): Promise<{ ms: number[]; cpuMs: number[] }> {
  const sink = await context.startSink();
  const stack = await context.startStack({ smtpUrl: sink.url, hasWorker: false });
  const times = { ms: [] as number[], cpuMs: [] as number[] };
  for (let i = 0; i < STARTS; i++) {
    const startedAt = performance.now();
    // Without WORKFLOW_BUNDLE the worker takes the bundle from the cache, as under `npm start`.
    const worker = await stack.startWorker({ WORKFLOW_BUNDLE: undefined });
    times.ms.push(performance.now() - startedAt);
    times.cpuMs.push(context.meter.cpuMs(worker.pid));
    await worker.stop();
  }
  return times;
}

export const bench: Bench = {
  description:
    'Seconds of a second `npm start` until API and worker work (goal 4), and of a start of a worker (goal 2).',
  async run(context) {
    const home = path.join(context.home, 'everpost');
    mkdirSync(home);
    const starts: Start[] = [];
    for (let i = 0; i <= STARTS; i++) {
      context.progress(i === 0 ? 'First start in an empty folder' : `Start ${i + 1}`);
      starts.push(await measureStart(context, home, i + 1));
    }
    const [first, ...later] = starts;
    const median = later.toSorted((a, b) => a.ms - b.ms)[Math.floor(later.length / 2)];
    context.progress('Starts of a worker');
    const worker = await measureWorkerStarts(context);
    return {
      name: 'start',
      figure: round((median?.ms ?? Number.NaN) / 1000, 2),
      unit: 's',
      limit: null,
      ratio: null,
      firstSeconds: round((first?.ms ?? Number.NaN) / 1000, 2),
      laterSeconds: later.map(({ ms }) => round(ms / 1000, 2)),
      cpuSeconds: round((median?.cpuMs ?? Number.NaN) / 1000, 2),
      steps: median?.steps,
      workerSeconds: round(quantile(worker.ms, 0.5) / 1000, 2),
      workerCpuSeconds: round(quantile(worker.cpuMs, 0.5) / 1000, 2),
    };
  },
};
