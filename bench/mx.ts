import { setTimeout as delay } from 'node:timers/promises';
import { createDnsServer, type DnsServer } from '../tests/support/dns-server.ts';
import { createCampaign } from './harness/bench-mail.ts';
import { createContacts, readCampaign } from './harness/campaign-audience.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import type { Sink } from './harness/sink.ts';
import type { BenchStack } from './harness/stack.ts';

const POLL_MS = 50;
const HOSTS = 200;
/** Three quarters of them are for campaigns, so that each host can keep one. */
const CONNECTIONS = 280;
const WAIT_MS_MAX = 300_000;

/** Publishes a mail host of its own for each domain, each a provider; all of them are addresses of the sink. */
function publish(dns: DnsServer): void {
  for (let index = 0; index < HOSTS; index += 1) {
    dns.set(`d${index}.example.com`, { MX: [[10, `mx.host${index}.test`]] });
    dns.set(`mx.host${index}.test`, { A: [`127.0.1.${index + 1}`] });
  }
}

interface Sent {
  /** After the first quarter, when the code of the worker is warm. */
  perSecond: number;
  /** CPU for an email, by process. */
  workerMs: number;
  postgresMs: number;
}

async function sendCampaign(context: BenchContext, stack: BenchStack, sink: Sink, recipients: number): Promise<Sent> {
  await sink.reset();
  const cpuMs = (): number[] => [stack.worker()?.pid ?? 0, stack.pids.postgres].map((pid) => context.meter.cpuMs(pid));
  const before = cpuMs();
  const id = await createCampaign(stack);
  await stack.call('POST', `/campaigns/${id}/send`, {});
  const startedAt = performance.now();
  let first: { decided: number; at: number } | undefined;
  for (;;) {
    const row = await readCampaign(stack, id);
    const now = performance.now();
    if (row && row.decided >= recipients / 4) first ??= { decided: row.decided, at: now };
    if (row?.status === 'SENT') {
      const summary = await sink.summary();
      if (summary?.recipients !== recipients) throw new Error(`The sink got ${JSON.stringify(summary)}`);
      const rate = first ? ((recipients - first.decided) / (now - first.at)) * 1_000 : Number.NaN;
      const [workerMs = 0, postgresMs = 0] = cpuMs().map((ms, index) => (ms - (before[index] ?? 0)) / recipients);
      const cpu = `${round(workerMs, 3)} ms of the worker, ${round(postgresMs, 3)} of PostgreSQL`;
      context.progress(`${round(rate)} emails a second, ${cpu}`);
      return { perSecond: rate, workerMs, postgresMs };
    }
    if (now - startedAt > WAIT_MS_MAX) throw new Error(`The campaign stands still: ${JSON.stringify(row)}`);
    await delay(POLL_MS);
  }
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const bench: Bench = {
  description:
    'Emails a second of a campaign straight to 200 mail hosts, against the same through one relay, in turns.',
  options: { recipients: { type: 'string', default: '30000' }, turns: { type: 'string', default: '3' } },
  async run(context) {
    const recipients = context.number('recipients');
    const sink = await context.startSink('own');
    const dns = await createDnsServer();
    context.onEnd(() => dns.close());
    publish(dns);
    const common = { DNS_SERVERS: dns.address, SMTP_CONNECTIONS: String(CONNECTIONS) };
    const stack = await context.startStack({ smtpUrl: sink.url, env: common });
    context.progress('Writing contacts');
    await createContacts(stack, recipients, HOSTS);
    const direct = `mx://?helo=mail.bench.test&port=${sink.port}&allow=127.0.0.0/8`;
    const sent: Record<'relay' | 'direct', Sent[]> = { relay: [], direct: [] };
    for (let turn = 0; turn < context.number('turns'); turn += 1) {
      for (const [way, url] of [
        ['relay', sink.url],
        ['direct', direct],
      ] as const) {
        await stack.worker()?.stop();
        await stack.startWorker({ SMTP_URL: url });
        context.progress(`Turn ${turn + 1}: ${way}`);
        sent[way].push(await sendCampaign(context, stack, sink, recipients));
      }
    }
    const of = (way: 'relay' | 'direct', name: keyof Sent): number => middle(sent[way].map((each) => each[name]));
    const cpu = (way: 'relay' | 'direct') => [of(way, 'workerMs'), of(way, 'postgresMs')].map((ms) => round(ms, 3));
    const [figure, limit] = [of('direct', 'perSecond'), of('relay', 'perSecond')];
    return {
      name: 'mx',
      figure: round(figure),
      unit: 'emails/s',
      limit: round(limit),
      ratio: round(figure / limit, 3),
      hosts: HOSTS,
      directPerSecond: sent.direct.map(({ perSecond }) => round(perSecond)),
      relayPerSecond: sent.relay.map(({ perSecond }) => round(perSecond)),
      cpuMsPerMail: { direct: cpu('direct'), relay: cpu('relay') },
    };
  },
};
