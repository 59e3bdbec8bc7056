import { setTimeout as delay } from 'node:timers/promises';
import { createCampaign } from './harness/bench-mail.ts';
import { createContacts, readCampaign } from './harness/campaign-audience.ts';
import { round, type BenchContext, type BenchResult } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

/** The connections of one worker that campaigns may use: three quarters of the default of SMTP_CONNECTIONS. */
const CONNECTIONS = 15;
const WARM_UP_MS = 5_000;
const WINDOW_MS = 10_000;
const STEP_MS = 250;
/** Messages take this long while the relay is slow, for `SPELL_MS`. */
const SLOW_MS = 1_000;
const SPELL_MS = 20_000;
const WAIT_MS_MAX = 60_000;

/** Emails a second of a campaign over the next `ms` milliseconds. */
async function rateOver(stack: BenchStack, id: string, ms: number): Promise<number> {
  const before = (await readCampaign(stack, id))?.decided ?? 0;
  const startedAt = performance.now();
  await delay(ms);
  const after = (await readCampaign(stack, id))?.decided ?? 0;
  return ((after - before) / (performance.now() - startedAt)) * 1_000;
}

/** @returns the seconds until the campaign has had a rate for two seconds; undefined when it takes over a minute */
async function secondsUntil(stack: BenchStack, id: string, rate: number): Promise<number | undefined> {
  const startedAt = performance.now();
  const seen: { at: number; decided: number }[] = [];
  for (;;) {
    const at = performance.now();
    if (at - startedAt > WAIT_MS_MAX) return undefined;
    seen.push({ at, decided: (await readCampaign(stack, id))?.decided ?? 0 });
    const first = seen.findLast((each) => at - each.at >= 2_000);
    const last = seen.at(-1);
    if (first && last && ((last.decided - first.decided) / (last.at - first.at)) * 1_000 >= rate) {
      return round((first.at - startedAt) / 1_000, 1);
    }
    await delay(STEP_MS);
  }
}

/** Starts a campaign to everybody. @returns its id, once it is at full speed */
async function startCampaign(stack: BenchStack): Promise<string> {
  const id = await createCampaign(stack);
  await stack.call('POST', `/campaigns/${id}/send`, {});
  while (((await readCampaign(stack, id))?.decided ?? 0) === 0) await delay(STEP_MS);
  await delay(WARM_UP_MS);
  return id;
}

/**
 * Sends campaigns through a relay that answers each content late. One worker sends first, through a spell in which the
 * relay is slow. Then a second one joins. Then each number of `--workers` sends a campaign.
 */
export async function measureFarRelay(context: BenchContext): Promise<BenchResult> {
  const latency = context.number('latency');
  const counts = context.text('workers').split(',').map(Number);
  const sink = await context.startSink('own');
  await sink.answerAfter(latency);
  const stack = await context.startStack({ smtpUrl: sink.url });
  context.progress('Writing contacts');
  await createContacts(stack, context.number('recipients'));

  let workers = 1;
  context.progress('One worker sends');
  let id = await startCampaign(stack);
  const rates: Record<number, number> = { 1: await rateOver(stack, id, WINDOW_MS) };
  const alone = rates[1] ?? 0;
  context.progress(`${round(alone)} a second. The relay is slow for ${SPELL_MS / 1_000} seconds`);
  await sink.answerAfter(SLOW_MS);
  await delay(SPELL_MS);
  await sink.answerAfter(latency);
  const recoveredAfterSeconds = await secondsUntil(stack, id, 0.9 * alone);
  context.progress('A second worker joins');
  await stack.startWorker();
  workers += 1;
  const sharedAfterSeconds = await secondsUntil(stack, id, 1.7 * alone);
  for (const count of counts.filter((each) => each > 1)) {
    await stack.call('POST', `/campaigns/${id}/cancel`, {});
    for (; workers < count; workers += 1) await stack.startWorker();
    context.progress(`${count} workers send`);
    id = await startCampaign(stack);
    rates[count] = await rateOver(stack, id, WINDOW_MS);
  }
  await stack.call('POST', `/campaigns/${id}/cancel`, {});

  const figure = rates[workers] ?? alone;
  const limit = (workers * CONNECTIONS * 1_000) / latency;
  return {
    name: 'campaign',
    figure: round(figure),
    unit: 'emails/s',
    limit: round(limit),
    ratio: round(figure / limit, 3),
    latencyMs: latency,
    perSecond: Object.fromEntries(Object.entries(rates).map(([count, rate]) => [count, round(rate)])),
    timesOfOne: Object.fromEntries(Object.entries(rates).map(([count, rate]) => [count, round(rate / alone, 2)])),
    recoveredAfterSeconds: recoveredAfterSeconds ?? null,
    sharedAfterSeconds: sharedAfterSeconds ?? null,
  };
}
