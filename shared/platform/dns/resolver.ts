import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type { MxRecord } from 'node:dns';
import { withTimeLimit } from '../time-limit.ts';

export type { MxRecord } from 'node:dns';

/**
 * A DNS answer. Only `found` and `absent` say something about the name. `failed` means that no answer came (time-out,
 * SERVFAIL, REFUSED, no server), so it proves nothing.
 */
export type DnsAnswer<Record> =
  | { kind: 'found'; records: Record[] }
  | { kind: 'absent'; isNameUnknown: boolean }
  | { kind: 'failed'; reason: string };

export interface DnsResolverOptions {
  /** Name servers as ip:port; empty means those of the system. */
  servers: readonly string[];
  /** The longest wait for one lookup, repetitions and further servers included, in milliseconds. */
  timeoutMs?: number;
}

const LOOKUP_TIMEOUT_MS = 4_000;
/** A lost packet is sent again after this time. */
const PACKET_TIMEOUT_MS = 1_200;
const TRIES = 3;

/** NXDOMAIN and NOERROR without such a record, as c-ares calls them. */
const NAME_UNKNOWN = 'ENOTFOUND';
const NO_SUCH_RECORD = 'ENODATA';

function answerOf(error: unknown): DnsAnswer<never> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'UNKNOWN';
  if (code === NAME_UNKNOWN || code === NO_SUCH_RECORD) return { kind: 'absent', isNameUnknown: code === NAME_UNKNOWN };
  return { kind: 'failed', reason: code };
}

/** The parts of an address in the order of DNS, joined by dots, without the zone (RFC 1035 section 3.5, RFC 5782). */
export function reversedAddress(address: string): string {
  const octets = ipaddr.process(address).toByteArray();
  if (octets.length === 4) return octets.reverse().join('.');
  const digits = octets.map((octet) => octet.toString(16).padStart(2, '0')).join('');
  return Array.from(digits).reverse().join('.');
}

/** The name to ask for the host names of an address (RFC 1035 section 3.5, RFC 3596 section 2.5). */
function reverseName(address: string): string {
  const zone = ipaddr.process(address).kind() === 'ipv4' ? 'in-addr.arpa' : 'ip6.arpa';
  return `${reversedAddress(address)}.${zone}`;
}

/**
 * Creates a DNS resolver whose lookups are bounded in time. It never throws: an error is an answer of kind `failed`.
 */
export function createDnsResolver({ servers, timeoutMs = LOOKUP_TIMEOUT_MS }: DnsResolverOptions) {
  const resolver = new Resolver({ timeout: Math.min(PACKET_TIMEOUT_MS, timeoutMs), tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);

  async function lookUp<Record>(work: () => Promise<Record[]>): Promise<DnsAnswer<Record>> {
    const answer = Promise.resolve()
      .then(work)
      .then((records): DnsAnswer<Record> =>
        records.length > 0 ? { kind: 'found', records } : { kind: 'absent', isNameUnknown: false },
      )
      .catch(answerOf);
    return withTimeLimit(answer, timeoutMs, () => ({ kind: 'failed', reason: 'ETIMEOUT' }));
  }

  return {
    /**
     * The texts of TXT records, with the strings of each record joined (RFC 7208 section 3.3, RFC 6376 section 3.6.2.2).
     */
    txt: (name: string): Promise<DnsAnswer<string>> =>
      lookUp(async () => (await resolver.resolveTxt(name)).map((strings) => strings.join(''))),
    mx: (name: string): Promise<DnsAnswer<MxRecord>> => lookUp(() => resolver.resolveMx(name)),
    ns: (name: string): Promise<DnsAnswer<string>> => lookUp(() => resolver.resolveNs(name)),
    /** The host names of an IPv4 or IPv6 address (PTR). */
    names: (address: string): Promise<DnsAnswer<string>> => lookUp(() => resolver.resolvePtr(reverseName(address))),
    /** IPv4 and IPv6 addresses; `found` when there is one of either kind. */
    async addresses(name: string): Promise<DnsAnswer<string>> {
      const [four, six] = await Promise.all([
        lookUp(() => resolver.resolve4(name)),
        lookUp(() => resolver.resolve6(name)),
      ]);
      if (four.kind === 'found' && six.kind === 'found') {
        return { kind: 'found', records: [...four.records, ...six.records] };
      }
      if (four.kind === 'found') return four;
      if (six.kind === 'found') return six;
      return four.kind === 'failed' ? four : six;
    },
  };
}

export type DnsResolver = ReturnType<typeof createDnsResolver>;
