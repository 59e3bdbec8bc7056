import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../../shared/platform/config.ts';
import { createDnsLookups } from '../../shared/platform/dns/lookups.ts';
import { reversedAddress, type DnsResolver } from '../../shared/platform/dns/resolver.ts';
import { openSmtpConnection } from '../../shared/sending/transport/connect.ts';
import { mxSourcesOf } from '../../shared/sending/route/mail-pool.ts';
import { SmtpUnavailableError } from '../../shared/sending/transport/errors.ts';
import { parseMxUrl, type MxSource } from '../../shared/sending/transport/mx-url.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';
import { isPublicAddress, isSame, nameFinding } from './relay-probe.ts';

const AREA = 'source';
const { fail } = findingsAbout(AREA);
const CONNECT_MS = 4_000;

/** Whether this machine has an address: a server can listen on it. */
async function isOwn(address: string): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(0, address);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

async function addressFinding({ name, localAddress }: MxSource): Promise<Finding[]> {
  if (localAddress === undefined || (await isOwn(localAddress))) return [];
  return [fail(`${name} is no address of this machine`, 'Give the machine the address, or correct source.')];
}

/** Checks that the name in EHLO leads to the address of the source (RFC 5321 section 4.1.4). */
async function heloFinding(resolver: DnsResolver, { helo, name, localAddress }: MxSource): Promise<Finding> {
  const { ok, warn, fail } = findingsAbout('HELO');
  const found = await resolver.addresses(helo);
  if (found.kind === 'failed') return warn(`DNS does not answer about ${helo}`, 'Run it again later.');
  const addresses = found.kind === 'found' ? found.records : [];
  if (addresses.some((each) => localAddress === undefined || isSame(each, localAddress))) {
    return ok(`${name}: ${helo} leads to it`);
  }
  return fail(`${name}: ${helo} does not lead to it`, `Set an A or AAAA record of ${helo} with the address.`);
}

/** Lists answer with 127.0.0.0/8 (RFC 5782); 127.255.255.0/24 says that they do not serve this resolver. */
async function blocklistFinding(resolver: DnsResolver, address: string, list: string): Promise<Finding> {
  const { ok, warn, fail } = findingsAbout('blocklist');
  const answer = await resolver.addresses(`${reversedAddress(address)}.${list}`);
  if (answer.kind === 'absent') return ok(`${address} is not in ${list}`);
  const codes = answer.kind === 'found' ? answer.records.filter((code) => code.startsWith('127.')) : [];
  if (codes.length === 0 || codes.some((code) => code.startsWith('127.255.255.'))) {
    return warn(`${list} does not tell about ${address}`, 'Ask with a resolver of your own (DNS_SERVERS).');
  }
  return fail(`${address} is in ${list} (${codes.join(', ')})`, `Find out why, and ask ${list} to remove it.`);
}

/** A zone that is signed, as is the way to it from the root. */
const SIGNED_ZONE = 'arpa';

/** Checks that a resolver validates: one that does not turns DANE off without a word. */
async function dnssecFinding(server: string): Promise<Finding> {
  const { ok, warn, fail } = findingsAbout('DNSSEC');
  const answer = await createDnsLookups({ servers: [server] })('TXT', SIGNED_ZONE);
  if (answer.isAuthentic) return ok(`${server} validates`);
  if (answer.kind === 'failed') return warn(`${server} does not answer (${answer.reason})`, 'Run it again later.');
  const action = 'Turn validation on there, or name another resolver in DNSSEC_SERVERS.';
  return fail(`${server} does not validate, so DANE protects nothing`, action);
}

/** Connects to port 25 of a host from each source. */
async function portFinding(source: MxSource, host: string, signal: AbortSignal): Promise<Finding> {
  const { ok, fail } = findingsAbout('port 25');
  const { name, helo, localAddress } = source;
  try {
    const { socket } = await openSmtpConnection(
      {
        source,
        label: host,
        host,
        port: 25,
        isSecure: false,
        startTls: 'never',
        allowsInsecureAuth: false,
        tls: {},
        name: helo,
        connectionTimeoutMs: CONNECT_MS,
        replyTimeoutMs: CONNECT_MS,
        ...(localAddress !== undefined && { localAddress }),
      },
      signal,
    );
    socket.on('error', () => undefined).end('QUIT\r\n');
    return ok(`${name}: ${host} answers`);
  } catch (error) {
    if (!(error instanceof SmtpUnavailableError)) throw error;
    return fail(`${name}: ${error.message}`, 'Ask the provider of the address to open port 25 outwards.');
  }
}

/**
 * Checks the sources of the `mx://` entries: that no two are the same, that the machine has their addresses, that their
 * names lead forward and back, that no blocklist has them, and that the resolvers for DANE validate.
 * @param portHost the host at whose port 25 to knock; undefined knocks nowhere
 */
export function mxProbe(
  urls: readonly string[],
  resolver: DnsResolver,
  { DNS_BLOCKLISTS: lists, DNSSEC_SERVERS: validating }: Pick<Config, 'DNS_BLOCKLISTS' | 'DNSSEC_SERVERS'>,
  portHost?: string,
): Probe {
  async function examine(source: MxSource, signal: AbortSignal): Promise<Finding[]> {
    const { name, localAddress } = source;
    const isPublic = localAddress !== undefined && isPublicAddress(localAddress);
    const findings = await Promise.all([
      addressFinding(source),
      heloFinding(resolver, source),
      ...(localAddress === undefined ? [] : [nameFinding(resolver, name, localAddress)]),
      ...(isPublic ? lists.map((list) => blocklistFinding(resolver, localAddress, list)) : []),
      ...(portHost === undefined ? [] : [portFinding(source, portHost, signal)]),
    ]);
    return findings.flat();
  }
  return {
    area: AREA,
    async run(signal) {
      let sources: MxSource[];
      try {
        sources = mxSourcesOf(urls);
      } catch (error) {
        return [fail((error as Error).message, 'Correct SMTP_URL.')];
      }
      const findings = [...sources.map((source) => examine(source, signal)), ...validating.map(dnssecFinding)];
      return (await Promise.all(findings)).flat();
    },
  };
}

/** The addresses of the sources of an `mx://` entry, for SPF. */
export function sourceAddresses(url: string): string[] {
  return parseMxUrl(url).flatMap(({ localAddress }) => localAddress ?? []);
}
