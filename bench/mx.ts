import { createDnsServer, type DnsServer } from '../tests/support/dns-server.ts';
import { createContacts } from './harness/campaign-audience.ts';
import type { Bench } from './harness/contract.ts';
import { compareInTurns } from './harness/timed-campaign.ts';

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

export const bench: Bench = {
  description:
    'Emails a second of a campaign straight to 200 mail hosts, against the same through one relay, in turns.',
  options: { recipients: { type: 'string', default: '30000' }, turns: { type: 'string', default: '5' } },
  async run(context) {
    const sink = await context.startSink('own');
    const dns = await createDnsServer();
    context.onEnd(() => dns.close());
    publish(dns);
    const common = { DNS_SERVERS: dns.address, SMTP_CONNECTIONS: String(CONNECTIONS) };
    const stack = await context.startStack({ smtpUrl: sink.url, env: common });
    context.progress('Writing contacts');
    await createContacts(stack, context.number('recipients'), HOSTS);
    const ways = [
      ['direct', { SMTP_URL: `mx://?helo=mail.bench.test&port=${sink.port}&allow=127.0.0.0/8` }],
      ['relay', { SMTP_URL: sink.url }],
    ] as const;
    return { name: 'mx', ...(await compareInTurns(context, stack, sink, ways, 'steadyPerSecond')), hosts: HOSTS };
  },
};
