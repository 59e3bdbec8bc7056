import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createDnsServer } from '../tests/support/dns-server.ts';
import { createContacts } from './harness/campaign-audience.ts';
import type { Bench, BenchContext, BenchResult } from './harness/contract.ts';
import { compareInTurns } from './harness/timed-campaign.ts';

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
  const domains = context.number('domains');
  const sink = await context.startSink('own');
  // It knows no mail server: each domain is a provider of its own.
  const dns = await createDnsServer();
  context.onEnd(() => dns.close());
  const stack = await context.startStack({ smtpUrl: sink.url, env: { DNS_SERVERS: dns.address } });
  await createContacts(stack, context.number('recipients'), domains);
  const ways = [
    ['with', { SHAPING_FILE: writeRules(context) }],
    ['without', {}],
  ] as const;
  const compared = await compareInTurns(context, stack, sink, ways, 'perSecond');
  return { name: 'shaping', ...compared, domains, rules: RULES };
}

export const bench: Bench = {
  description: 'a campaign to many domains with 20 traffic rules, against the same without rules, in turns',
  options: {
    recipients: { type: 'string', default: '60000' },
    domains: { type: 'string', default: '10000' },
    turns: { type: 'string', default: '5' },
  },
  run,
};
