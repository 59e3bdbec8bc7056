import ipaddr from 'ipaddr.js';
import type { DnsResolver } from '../../shared/platform/dns/resolver.ts';
import { readSpf } from '../../shared/pure/emails/spf.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

const UNANSWERED = 'Check the name servers of the domain and DNS_SERVERS, then run this again.';

function unanswered(area: string, reason: string): Finding {
  return findingsAbout(area).warn(`DNS does not answer (${reason})`, UNANSWERED);
}

async function mxFindings(resolver: DnsResolver, domain: string): Promise<Finding[]> {
  const area = 'inbound MX';
  const { ok, fail } = findingsAbout(area);
  const answer = await resolver.mx(domain);
  if (answer.kind === 'failed') return [unanswered(area, answer.reason)];
  if (answer.kind === 'absent') {
    return [
      fail(`${domain} has no MX record: bounces and complaints do not come in`, `Set one that leads to this host.`),
    ];
  }
  return Promise.all(
    answer.records.map(async ({ exchange }) => {
      const addresses = await resolver.addresses(exchange);
      if (addresses.kind === 'failed') return unanswered(area, addresses.reason);
      if (addresses.kind === 'found') return ok(`${domain} leads to ${exchange}`);
      return fail(`${domain} leads to ${exchange || '.'}, which has no address`, 'Set an A or AAAA record for it.');
    }),
  );
}

/**
 * Terms that refer to further records, or depend on the sender. This probe does not look up the hosts that they cover.
 */
const LEADS_ELSEWHERE = /^[+?~-]?(?:a|mx|include|exists|ptr)(?:[:/]|$)|^redirect=/i;

function covers(term: string, address: string): boolean {
  const network = /^\+?ip[46]:(.+)$/i.exec(term)?.[1] ?? '';
  if (!ipaddr.isValidCIDR(network)) return ipaddr.isValid(network) && network === address;
  const [range, bits] = ipaddr.parseCIDR(network);
  const parsed = ipaddr.process(address);
  return parsed.kind() === range.kind() && parsed.match(range, bits);
}

/**
 * Judges the SPF records of the inbound domain, which those of all sender domains include (RFC 7208).
 * @param addresses public addresses of relays
 */
export function judgeSpf(domain: string, texts: readonly string[], addresses: readonly string[]): Finding {
  const { ok, warn, fail } = findingsAbout('SPF');
  const { count, terms } = readSpf(texts);
  if (count === 0) {
    return fail(`${domain} has no SPF record`, 'Publish "v=spf1 ip4:<address of your relay> ~all" as TXT.');
  }
  if (count > 1) {
    return fail(`${domain} has ${count} SPF records`, 'Keep only one: receivers treat several as an error.');
  }
  if (terms.some((term) => /^\+?all$/.test(term))) {
    return fail(`the SPF record of ${domain} lets everybody send`, 'End it with "~all" or "-all".');
  }
  if (terms.length === 0 || (terms.length === 1 && /^[?~-]all$/.test(terms[0] ?? ''))) {
    return fail(
      `the SPF record of ${domain} names no host that sends`,
      'Name your relays in it, such as ip4:<address>.',
    );
  }
  const missing = terms.some((term) => LEADS_ELSEWHERE.test(term))
    ? undefined
    : addresses.find((address) => !terms.some((term) => covers(term, address)));
  if (missing !== undefined) {
    return warn(
      `the SPF record of ${domain} does not name the relay ${missing}`,
      'Add the address that your relay sends from.',
    );
  }
  if (!terms.some((term) => /^[~-]all$|^redirect=/.test(term))) {
    return warn(`the SPF record of ${domain} says nothing of other hosts`, 'End it with "~all" or "-all".');
  }
  return ok(`${domain}: v=spf1 ${terms.join(' ')}`);
}

/** Whether bounces can come in, and whether SPF names the servers that send for this instance. */
export function inboundProbe(
  domain: string | undefined,
  resolver: DnsResolver,
  relays: () => Promise<string[]>,
): Probe {
  return {
    area: 'inbound MX',
    async run() {
      if (domain === undefined) {
        return [
          findingsAbout('inbound MX').warn(
            'INBOUND_DOMAIN is not set: bounces, complaints and replies are not seen',
            'Set INBOUND_DOMAIN and INBOUND_SMTP_PORT.',
          ),
        ];
      }
      const [mx, texts, addresses] = await Promise.all([mxFindings(resolver, domain), resolver.txt(domain), relays()]);
      if (texts.kind === 'failed') return [...mx, unanswered('SPF', texts.reason)];
      return [...mx, judgeSpf(domain, texts.kind === 'found' ? texts.records : [], addresses)];
    },
  };
}
