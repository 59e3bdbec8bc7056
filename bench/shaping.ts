import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDnsServer } from '../tests/support/dns-server.ts';
import { createCampaign } from './harness/bench-mail.ts';
import { createContacts, readCampaign } from './harness/campaign-audience.ts';
import { round, type Bench, type BenchContext, type BenchResult } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const RULES = 20;
const POLL_MS = 50;
const RUN_MS_MAX = 15 * 60_000;

/** Sends a campaign to everybody. @returns emails a second, from the request to the end */
async function sendCampaign(stack: BenchStack, recipients: number): Promise<number> {
  const id = await createCampaign(stack);
  const startedAt = performance.now();
  await stack.call('POST', `/campaigns/${id}/send`, {});
  while ((await readCampaign(stack, id))?.status !== 'SENT') {
    if (performance.now() - startedAt > RUN_MS_MAX) throw new Error('The campaign takes too long');
    await delay(POLL_MS);
  }
  return recipients / ((performance.now() - startedAt) / 1_000);
}

/** One rule for every domain, and others for single ones; none is so low that mail waits. */
function writeRules(context: BenchContext): string {
  const file = path.join(context.home, 'shaping.json');
  const limits = { perSecond: 5_000, perMinute: 100_000, perHour: 1_000_000, perDay: 10_000_000 };
  const named = Array.from({ length: RULES - 1 }, (_, n) => ({ provider: `d${n}.example.com`, ...limits }));
  writeFileSync(file, JSON.stringify({ rules: [{ provider: '*', ...limits }, ...named] }));
  return file;
}

async function run(context: BenchContext): Promise<BenchResult> {
  const [recipients, domains] = [context.number('recipients'), context.number('domains')];
  const sink = await context.startSink('own');
  // It knows no mail server: each domain is a provider of its own.
  const dns = await createDnsServer();
  context.onEnd(() => dns.close());
  const stack = await context.startStack({ smtpUrl: sink.url, env: { DNS_SERVERS: dns.address } });
  await createContacts(stack, recipients, domains);
  const rates: Record<'without' | 'with', number[]> = { without: [], with: [] };
  const file = writeRules(context);
  for (const kind of ['without', 'with', 'with', 'without'] as const) {
    await stack.worker()?.stop();
    await stack.startWorker(kind === 'with' ? { SHAPING_FILE: file } : {});
    const rate = await sendCampaign(stack, recipients);
    context.progress(`${kind} rules: ${round(rate)} emails a second`);
    rates[kind].push(rate);
  }
  const [limit, figure] = [Math.max(...rates.without), Math.max(...rates.with)];
  const details = { recipients, domains, rules: RULES };
  const ratio = round(figure / limit, 2);
  return { name: 'shaping', figure: round(figure), unit: 'emails/s', limit: round(limit), ratio, ...details };
}

export const bench: Bench = {
  description: 'a campaign to many domains with 20 traffic rules, against the same without rules',
  options: {
    recipients: { type: 'string', default: '60000' },
    domains: { type: 'string', default: '10000' },
  },
  run,
};
