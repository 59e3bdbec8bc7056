import { setTimeout as delay } from 'node:timers/promises';
import { createCampaign } from './bench-mail.ts';
import { readCampaign } from './campaign-audience.ts';
import { quantile, round, type BenchContext } from './contract.ts';
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

/** A way to send: its name, and the variables of its worker. */
export type Way = readonly [name: string, env: NodeJS.ProcessEnv];

/**
 * Sends a campaign in one way and in another in turns, each first in every other turn, because the speed of the machine
 * changes. What is compared are the campaigns of a turn.
 */
export async function compareInTurns(
  context: BenchContext,
  stack: BenchStack,
  sink: Sink,
  [way, limit]: readonly [Way, Way],
  speed: 'perSecond' | 'steadyPerSecond',
) {
  const [recipients, turns] = [context.number('recipients'), context.number('turns')];
  const sent = new Map<Way, TimedCampaign[]>([way, limit].map((each) => [each, []]));
  for (let turn = 1; turn <= turns; turn += 1) {
    for (const each of turn % 2 === 0 ? [way, limit] : [limit, way]) {
      await stack.worker()?.stop();
      await stack.startWorker(each[1]);
      context.progress(`Turn ${turn}: ${each[0]}`);
      sent.get(each)?.push(await timeCampaign(context, stack, sink, recipients));
    }
  }
  const of = (each: Way, name: keyof TimedCampaign): number[] => sent.get(each)?.map((one) => one[name]) ?? [];
  const middle = (each: Way): number => round(quantile(of(each, speed), 0.5));
  const limits = of(limit, speed);
  const ratios = of(way, speed).map((figure, turn) => round(figure / (limits[turn] ?? Number.NaN), 3));
  const cpuOf = (each: Way) =>
    (['workerMs', 'postgresMs'] as const).map((name) => of(each, name).map((ms) => round(ms, 3)));
  return {
    figure: middle(way),
    unit: 'emails/s',
    limit: middle(limit),
    ratio: quantile(ratios, 0.5),
    ratios,
    recipients,
    cpuMsPerMail: { [way[0]]: cpuOf(way), [limit[0]]: cpuOf(limit) },
  };
}
