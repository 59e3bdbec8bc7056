import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { round, type BenchContext } from './contract.ts';
import type { NodeProcess } from './processes.ts';
import type { BenchStack } from './stack.ts';

const SETTLE_MS = 5_000;
const IDLE_MS = 15_000;
/**
 * This share of the executions goes first and fills the cache of the worker; the others show the cost of further ones.
 */
const FIRST_SHARE = 0.2;
const REPORT_PATIENCE_MS = 30_000;

/** The CPU time of an idle worker, in percent of one core. */
async function measureIdleCpu(context: BenchContext, worker: NodeProcess): Promise<number> {
  await delay(SETTLE_MS);
  const before = context.meter.cpuMs(worker.pid);
  await delay(IDLE_MS);
  return ((context.meter.cpuMs(worker.pid) - before) / IDLE_MS) * 100;
}

interface MemoryReport {
  heapBytes: number;
  rssBytes: number;
}

/** Puts executions to sleep with a new worker, and measures the memory that they take in it. */
export async function measureSleepers(
  context: BenchContext,
  stack: BenchStack,
  count: number,
  putToSleep: (count: number, total: number) => Promise<void>,
): Promise<object> {
  await stack.worker()?.stop();
  const hook = fileURLToPath(new URL('./memory-report-main.ts', import.meta.url));
  const worker = await stack.startWorker({ NODE_OPTIONS: `--expose-gc --import ${hook}` });
  let reports = 0;
  async function readMemory(): Promise<MemoryReport> {
    reports += 1;
    const wanted = `{"memoryReport":${reports},`;
    process.kill(worker.pid, 'SIGUSR2');
    return JSON.parse(await worker.line((line) => line.startsWith(wanted), REPORT_PATIENCE_MS)) as MemoryReport;
  }

  const cpuWithout = await measureIdleCpu(context, worker);
  const first = Math.round(count * FIRST_SHARE);
  context.progress(`Putting ${first} executions to sleep`);
  await putToSleep(first, first);
  await delay(SETTLE_MS);
  const fewer = await readMemory();
  context.progress(`Putting ${count - first} more to sleep`);
  await putToSleep(count - first, count);
  context.progress('Watching the worker while they sleep');
  const cpuWith = await measureIdleCpu(context, worker);
  const all = await readMemory();
  const perSleeper = (key: keyof MemoryReport): number => round((all[key] - fewer[key]) / (count - first));
  return {
    sleeping: count,
    workerCpuPercentWithout: round(cpuWithout, 2),
    workerCpuPercentWith: round(cpuWith, 2),
    workerHeapMb: round(all.heapBytes / 2 ** 20, 1),
    workerHeapBytesPerSleeper: perSleeper('heapBytes'),
    workerRssBytesPerSleeper: perSleeper('rssBytes'),
  };
}
