import { createDnsServer, type DnsServer } from '../tests/support/dns-server.ts';
import { createContacts } from './harness/campaign-audience.ts';
import { round, type Bench } from './harness/contract.ts';
import { timeCampaign, type TimedCampaign } from './harness/timed-campaign.ts';

const HOSTS = 200;
/** Three quarters of them are for campaigns, so that each host can keep one. */
const CONNECTIONS = 280;

/** Publishes a mail host of its own for each domain, each a provider; all of them are addresses of the sink. */
function publish(dns: DnsServer): void {
  for (let index = 0; index < HOSTS; index += 1) {
    dns.set(`d${index}.example.com`, { MX: [[10, `mx.host${index}.test`]] });
    dns.set(`mx.host${index}.test`, { A: [`127.0.1.${index + 1}`] });
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
    const sent: Record<'relay' | 'direct', TimedCampaign[]> = { relay: [], direct: [] };
    for (let turn = 0; turn < context.number('turns'); turn += 1) {
      for (const [way, url] of [
        ['relay', sink.url],
        ['direct', direct],
      ] as const) {
        await stack.worker()?.stop();
        await stack.startWorker({ SMTP_URL: url });
        context.progress(`Turn ${turn + 1}: ${way}`);
        sent[way].push(await timeCampaign(context, stack, sink, recipients));
      }
    }
    const of = (way: 'relay' | 'direct', name: keyof TimedCampaign): number =>
      middle(sent[way].map((each) => each[name]));
    const cpu = (way: 'relay' | 'direct') => [of(way, 'workerMs'), of(way, 'postgresMs')].map((ms) => round(ms, 3));
    const [figure, limit] = [of('direct', 'steadyPerSecond'), of('relay', 'steadyPerSecond')];
    return {
      name: 'mx',
      figure: round(figure),
      unit: 'emails/s',
      limit: round(limit),
      ratio: round(figure / limit, 3),
      hosts: HOSTS,
      directPerSecond: sent.direct.map((each) => round(each.steadyPerSecond)),
      relayPerSecond: sent.relay.map((each) => round(each.steadyPerSecond)),
      cpuMsPerMail: { direct: cpu('direct'), relay: cpu('relay') },
    };
  },
};
