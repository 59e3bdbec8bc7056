import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { TlsaData } from 'dns-packet';
import type { LookUp } from '../../platform/dns/lookups.ts';
import { shuffle } from '../../platform/shuffle.ts';
import type { SmtpOutcome } from '../transport/message.ts';

/** A host that takes mail for a domain. */
export interface MailHost {
  name: string;
  /** The lower, the sooner it is tried (RFC 5321 section 5.1). */
  preference: number;
  addresses: string[];
  /** Its TLSA records, if DNSSEC proves them (RFC 7672). */
  dane?: { name: string; records: TlsaData[] };
}

/** The outcome of a message that no host can be asked to take. */
export type Unroutable = Extract<SmtpOutcome, { kind: 'rejected' | 'deferred' }>;

export interface MailHostsOptions {
  lookUp: LookUp;
  /** Whether connections to an address are allowed. */
  isAllowed: (address: string) => boolean;
  /** Whether the resolver validates, so that its AD bit counts. */
  isValidating: boolean;
  port: number;
  /** Gets the name of each host that is not used because DNS withholds its TLSA records. */
  onWithheld?: (host: string) => void;
}

/** A domain may name any number of hosts. So many are looked up at a time, until some of them have addresses. */
const HOSTS_AT_ONCE = 10;
const HOSTS_MAX = 50;
const ADDRESSES_MAX = 4;

/** The outcome of a message to a domain. `status` decides between a bounce and a later try. */
export function unroutable(status: string, replyCode: number, words: string): Unroutable {
  const kind = replyCode < 500 ? 'deferred' : 'rejected';
  const reply = `${replyCode} ${status} ${words}`;
  return { kind, stage: 'rcpt', replyCode, enhancedCode: status, reply, isOurs: true };
}

export const isUnroutable = (found: object): found is Unroutable => 'replyCode' in found;

const noAnswer = (domain: string, reason: string): Unroutable =>
  unroutable('4.4.3', 451, `DNS gives no answer about ${domain} (${reason})`);

/** What DNS says about a host: `withheld` are its TLSA records. */
type HostState = MailHost | 'unknown' | 'unanswered' | 'withheld' | 'forbidden';

/**
 * The TLSA records of a host (RFC 7672 section 2.2), at the end of the aliases of its name or at the name itself.
 * @returns 'failed' when DNS does not tell; then the host must not be used
 */
async function tlsaOf(
  { lookUp, port }: MailHostsOptions,
  names: readonly string[],
): Promise<MailHost['dane'] | 'failed' | undefined> {
  for (const name of new Set(names)) {
    const found = await lookUp('TLSA', `_${port}._tcp.${name}`);
    if (found.kind === 'failed') return 'failed';
    if (found.kind === 'found' && found.isAuthentic) return { name, records: found.records };
  }
  return undefined;
}

async function hostOf(
  options: MailHostsOptions,
  name: string,
  preference: number,
  isSecure: boolean,
): Promise<HostState> {
  const { lookUp, isAllowed, isValidating } = options;
  const [four, six] = await Promise.all([lookUp('A', name), lookUp('AAAA', name)]);
  const answers = [four, six];
  const found = answers.map((answer) => (answer.kind === 'found' ? answer.records : []));
  const addresses = shuffle(found.flatMap((records) => records.filter(isAllowed).slice(0, ADDRESSES_MAX)));
  if (addresses.length === 0) {
    if (found.flat().length > 0) return 'forbidden';
    return answers.some(({ kind }) => kind === 'failed') ? 'unanswered' : 'unknown';
  }
  // An answer that somebody suppressed proves nothing, so it does not turn the others into unproved ones.
  const isProved = answers.every(({ kind, isAuthentic }) => isAuthentic || kind === 'failed');
  if (!isValidating || !isSecure || !isProved) return { name, preference, addresses };
  const aliased = answers.flatMap((answer) => (answer.kind === 'found' ? [answer.name] : []));
  const dane = await tlsaOf(options, [...aliased, name]);
  if (dane === 'failed') {
    options.onWithheld?.(name);
    return 'withheld';
  }
  return { name, preference, addresses, ...(dane && { dane }) };
}

/** The hosts that MX records name, best first and shuffled among equals, or the domain itself where there are none. */
async function namedHosts(
  lookUp: LookUp,
  domain: string,
): Promise<{ hosts: { preference: number; exchange: string }[]; isSecure: boolean } | Unroutable> {
  const mx = await lookUp('MX', domain);
  if (mx.kind === 'failed') return noAnswer(domain, mx.reason);
  const { isAuthentic: isSecure } = mx;
  if (mx.kind === 'absent') {
    if (mx.isNameUnknown) return unroutable('5.1.2', 550, `The domain ${domain} does not exist`);
    return { hosts: [{ preference: 0, exchange: domain }], isSecure };
  }
  const hosts = mx.records.filter(({ exchange }) => exchange !== '');
  if (hosts.length === 0) return unroutable('5.1.10', 556, `The domain ${domain} takes no mail (null MX, RFC 7505)`);
  const sorted = shuffle(hosts).sort((a, b) => a.preference - b.preference);
  return { hosts: sorted.slice(0, HOSTS_MAX), isSecure };
}

/**
 * Finds the hosts that take mail for a domain, the best first (RFC 5321 section 5.1). A name that certainly does not
 * exist is refused for good; what DNS does not tell now is tried later.
 * @param domain in ASCII, as an envelope has it
 */
export async function findMailHosts(options: MailHostsOptions, domain: string): Promise<MailHost[] | Unroutable> {
  if (domain.startsWith('[') || isIP(domain) !== 0) {
    return unroutable('5.1.2', 550, 'Mail to an address literal is not sent');
  }
  if (domainToASCII(domain) === '') return unroutable('5.1.2', 550, `${domain} is no domain name`);
  const named = await namedHosts(options.lookUp, domain);
  if (isUnroutable(named)) return named;
  const { hosts, isSecure } = named;
  const states: HostState[] = [];
  for (let at = 0; at < hosts.length; at += HOSTS_AT_ONCE) {
    const some = hosts.slice(at, at + HOSTS_AT_ONCE);
    const found = some.map(({ exchange, preference }) => hostOf(options, exchange, preference, isSecure));
    states.push(...(await Promise.all(found)));
    const usable = states.filter((state) => typeof state === 'object');
    if (usable.length > 0) return usable;
  }
  if (states.includes('withheld')) return noAnswer(`the TLSA records of the mail hosts of ${domain}`, 'no answer');
  if (states.includes('unanswered')) return noAnswer(`the mail hosts of ${domain}`, 'no answer');
  if (states.includes('forbidden')) {
    return unroutable('4.4.4', 451, `The mail hosts of ${domain} are not on the public internet`);
  }
  return unroutable('5.4.4', 550, `The domain ${domain} has no mail host with an address`);
}
