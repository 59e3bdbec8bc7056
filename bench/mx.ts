import { createDnsServer, type DnsServer } from '../tests/support/dns-server.ts';
import { createContacts } from './harness/campaign-audience.ts';
import type { Bench } from './harness/contract.ts';
import { measureSilentHosts } from './silent-hosts.ts';
import { compareInTurns } from './harness/timed-campaign.ts';

const HOSTS = 200;

/** Publishes a mail host of its own for each domain, each a provider; all of them are addresses of the sink. */
function publish(dns: DnsServer): void {
  for (let index = 0; index < HOSTS; index += 1) {
    dns.set(`d${index}.example.com`, { MX: [[10, `mx.host${index}.test`]] });
    dns.set(`mx.host${index}.test`, { A: [`127.0.1.${index + 1}`] });
  }
}

export const bench: Bench = {
  description:
    'Emails a second of a campaign straight to 200 mail hosts, against the same through one relay, in turns; with --silent, beside so many hosts that take no mail, against the same without them.',
  options: {
    recipients: { type: 'string', default: '30000' },
    turns: { type: 'string', default: '5' },
    /** Three quarters of them are for campaigns, so that each host can keep one. */
    connections: { type: 'string', default: '280' },
    silent: { type: 'string', default: '0' },
  },
  async run(context) {
    const sink = await context.startSink('own');
    const dns = await createDnsServer();
    context.onEnd(() => dns.close());
    publish(dns);
    const common = { DNS_SERVERS: dns.address, SMTP_CONNECTIONS: context.text('connections') };
    const stack = await context.startStack({ smtpUrl: sink.url, env: common });
    context.progress('Writing contacts');
    await createContacts(stack, context.number('recipients'), HOSTS);
    const direct = { SMTP_URL: `mx://?helo=mail.bench.test&port=${sink.port}&allow=127.0.0.0/8` };
    if (context.number('silent') > 0) return measureSilentHosts(context, { stack, sink, dns }, direct);
    const ways = [
      ['direct', direct],
      ['relay', { SMTP_URL: sink.url }],
    ] as const;
    return { name: 'mx', ...(await compareInTurns(context, stack, sink, ways, 'steadyPerSecond')), hosts: HOSTS };
  },
};
