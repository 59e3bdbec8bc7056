import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createDnsServer } from '../tests/support/dns-server.ts';
import { createContacts } from './harness/campaign-audience.ts';
import { round, type Bench, type BenchContext, type BenchResult } from './harness/contract.ts';
import { timeCampaign, type TimedCampaign } from './harness/timed-campaign.ts';

const RULES = 20;

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
  const rates: Record<'without' | 'with', TimedCampaign[]> = { without: [], with: [] };
  const file = writeRules(context);
  for (const kind of ['without', 'with', 'with', 'without'] as const) {
    await stack.worker()?.stop();
    await stack.startWorker(kind === 'with' ? { SHAPING_FILE: file } : {});
    context.progress(`${kind} rules`);
    rates[kind].push(await timeCampaign(context, stack, sink, recipients));
  }
  const best = (kind: 'without' | 'with') => Math.max(...rates[kind].map(({ perSecond }) => perSecond));
  const [limit, figure] = [best('without'), best('with')];
  const cpuOf = (kind: 'without' | 'with') =>
    rates[kind].map(({ workerMs, postgresMs }) => [round(workerMs, 3), round(postgresMs, 3)]);
  const cpuMsPerMail = { without: cpuOf('without'), with: cpuOf('with') };
  const details = { recipients, domains, rules: RULES, cpuMsPerMail };
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
