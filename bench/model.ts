import { readFileSync } from 'node:fs';
import os from 'node:os';
import { createContacts } from './harness/campaign-audience.ts';
import { sendCampaignToAll } from './costs.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import type { Sink } from './harness/sink.ts';
import type { BenchStack } from './harness/stack.ts';
import { predictRate } from './scaling-model.ts';

const WORKERS = [1, 2, 4];

/** Ticks of /proc/stat, as in `process-meter.ts`. */
const MS_PER_TICK = 10;

interface Run {
  workers: number;
  perSecond: number;
  /** What other programs left of the machine. */
  cores: number;
  cpuMs: Record<string, number>;
}

/**
 * CPU time of all programs on this machine in milliseconds, including time that its host took from a virtual machine.
 * NaN on systems other than Linux.
 */
function machineCpuMs(): number {
  if (process.platform !== 'linux') return Number.NaN;
  const fields = readFileSync('/proc/stat', 'latin1').split(/\s+/, 9).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  return (user + nice + system + irq + softirq + steal) * MS_PER_TICK;
}

/** Sends one campaign with the workers that run. */
async function measureRun(context: BenchContext, stack: BenchStack, sink: Sink, workerPids: number[]): Promise<Run> {
  const { postgres, temporal, api = 0 } = stack.pids;
  const read = () => ({
    worker: workerPids.reduce((sum, pid) => sum + context.meter.cpuMs(pid), 0),
    postgres: context.meter.cpuMs(postgres),
    temporal: context.meter.cpuMs(temporal),
    api: context.meter.cpuMs(api),
    sink: context.meter.cpuMs(sink.pid),
  });
  const before = read();
  const machineBefore = machineCpuMs();
  const startedAt = performance.now();
  const sent = await sendCampaignToAll(stack);
  const elapsedMs = performance.now() - startedAt;
  const after = read();
  const machineMs = machineCpuMs() - machineBefore;
  const cpuMs = Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, (ms - before[name as keyof typeof before]) / sent]),
  );
  const ownMs = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0) * sent;
  const cores = os.availableParallelism() - Math.max(0, machineMs - ownMs) / elapsedMs;
  return { workers: workerPids.length, perSecond: (sent / elapsedMs) * 1_000, cores, cpuMs };
}

export const bench: Bench = {
  description: 'How well the model of docs/scaling.md predicts a campaign with 1, 2 and 4 workers on this machine.',
  options: { recipients: { type: 'string', default: '60000' } },
  async run(context) {
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url });
    await createContacts(stack, context.number('recipients'));
    const pids = [stack.worker()?.pid ?? 0];
    const runs: Run[] = [];
    for (const workers of WORKERS) {
      while (pids.length < workers) pids.push((await stack.startWorker()).pid);
      context.progress(`Sending with ${workers} workers`);
      // The first run only warms up, because an installation has compiled code and warm caches.
      await measureRun(context, stack, sink, pids);
      runs.push(await measureRun(context, stack, sink, pids));
    }
    // The model gets only the costs of the first run.
    const [{ cpuMs: costs }] = runs as [Run];
    const compared = runs.map(({ workers, perSecond, cores, cpuMs }) => {
      const predicted = predictRate(costs, workers, cores);
      return {
        workers,
        coresLeft: round(cores, 2),
        measuredPerSecond: round(perSecond),
        predictedPerSecond: round(predicted),
        errorPercent: round((predicted / perSecond - 1) * 100, 1),
        cpuMsPerMail: Object.fromEntries(Object.entries(cpuMs).map(([name, ms]) => [name, round(ms, 3)])),
      };
    });
    const worst = Math.max(...compared.map(({ errorPercent }) => Math.abs(errorPercent)));
    return { name: 'model', figure: worst, unit: '% off at most', limit: null, ratio: null, runs: compared };
  },
};
