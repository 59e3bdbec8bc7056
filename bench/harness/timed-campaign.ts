import { setTimeout as delay } from 'node:timers/promises';
import { createCampaign } from './bench-mail.ts';
import { readCampaign } from './campaign-audience.ts';
import { round, type BenchContext } from './contract.ts';
import type { Sink } from './sink.ts';
import type { BenchStack } from './stack.ts';

const POLL_MS = 50;
const WAIT_MS_MAX = 15 * 60_000;

/** What a campaign took. */
export interface TimedCampaign {
  /** From the request to the end. */
  perSecond: number;
  /** After the first quarter, when the code of the worker is warm. */
  steadyPerSecond: number;
  /** CPU for an email, by process. */
  workerMs: number;
  postgresMs: number;
}

/** Sends a campaign to all contacts. @throws Error when the sink did not get one email for each */
export async function timeCampaign(
  context: BenchContext,
  stack: BenchStack,
  sink: Sink,
  recipients: number,
): Promise<TimedCampaign> {
  await sink.reset();
  const cpuMs = (): number[] => [stack.worker()?.pid ?? 0, stack.pids.postgres].map((pid) => context.meter.cpuMs(pid));
  const before = cpuMs();
  const id = await createCampaign(stack);
  const startedAt = performance.now();
  await stack.call('POST', `/campaigns/${id}/send`, {});
  let first: { decided: number; at: number } | undefined;
  for (;;) {
    const row = await readCampaign(stack, id);
    const now = performance.now();
    if (row && row.decided >= recipients / 4) first ??= { decided: row.decided, at: now };
    if (row?.status === 'SENT') {
      const summary = await sink.summary();
      if (summary?.recipients !== recipients) throw new Error(`The sink got ${JSON.stringify(summary)}`);
      const steadyPerSecond = first ? ((recipients - first.decided) / (now - first.at)) * 1_000 : Number.NaN;
      const [workerMs = 0, postgresMs = 0] = cpuMs().map((ms, index) => (ms - (before[index] ?? 0)) / recipients);
      const perSecond = (recipients / (now - startedAt)) * 1_000;
      const cpu = `${round(workerMs, 3)} ms of the worker, ${round(postgresMs, 3)} of PostgreSQL`;
      context.progress(`${round(perSecond)} emails a second, later ${round(steadyPerSecond)}, ${cpu}`);
      return { perSecond, steadyPerSecond, workerMs, postgresMs };
    }
    if (now - startedAt > WAIT_MS_MAX) throw new Error(`The campaign stands still: ${JSON.stringify(row)}`);
    await delay(POLL_MS);
  }
}
