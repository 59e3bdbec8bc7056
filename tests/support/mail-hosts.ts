import { createHash, X509Certificate } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { TlsaData } from 'dns-packet';
import { createTestAuthority, type TestAuthority, type TestCertificate } from './certificate.ts';
import { createDnsServer, type DnsServer } from './dns-server.ts';
import { createFaultyRelay, type FaultyRelay, type FaultyRelayOptions } from './faulty-relay.ts';

/** Mail hosts at 127.0.0.2 and so on, all at one port, with a DNS server and an authority of their own. */
export interface MailWorld {
  dns: DnsServer;
  authority: TestAuthority;
  port: number;
  /** An entry of SMTP_URL that reaches them. */
  url: string;
  /** Starts a host and names it in DNS. With `certificate`, or `tls: true` for a good one, it offers STARTTLS. */
  host: (name: string, options?: HostOptions) => Promise<MailHost>;
  /** Publishes the hosts of a domain; with one preference for all, or each its own. */
  domain: (domain: string, ...hosts: (string | readonly [preference: number, host: string])[]) => void;
  close: () => Promise<void>;
}

interface HostOptions extends Omit<FaultyRelayOptions, 'address'> {
  tls?: boolean;
}

export interface MailHost extends FaultyRelay {
  address: string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

export async function createMailWorld(): Promise<MailWorld> {
  const dns = await createDnsServer();
  const authority = createTestAuthority();
  const port = await freePort();
  const hosts: MailHost[] = [];
  return {
    dns,
    authority,
    port,
    url: `mx://?helo=mail.everpost.test&port=${port}&allow=127.0.0.0/8`,
    async host(name, { tls = false, ...options } = {}) {
      const address = `127.0.0.${hosts.length + 2}`;
      const certificate = options.certificate ?? (tls ? authority.issue(name) : undefined);
      const relay = await createFaultyRelay({
        extensions: (_connection, isSecure) => (certificate && !isSecure ? ['PIPELINING', 'STARTTLS'] : ['PIPELINING']),
        ...options,
        ...(certificate && { certificate }),
        address: { host: address, port },
      });
      const host = { ...relay, address };
      hosts.push(host);
      dns.set(name, { A: [address] });
      return host;
    },
    domain(domain, ...names) {
      const records = names.map((each) => (typeof each === 'string' ? ([10, each] as const) : each));
      dns.set(domain, { MX: records });
    },
    async close() {
      await Promise.all([dns.close(), ...hosts.map((host) => host.close())]);
    },
  };
}

/** A TLSA record for the key of a certificate (selector 1), or for all of it (selector 0), as SHA-256 or SHA-512. */
export function tlsaFor(
  { cert }: Pick<TestCertificate, 'cert'>,
  usage: number,
  selector = 1,
  matchingType: 1 | 2 = 1,
): TlsaData {
  const certificate = new X509Certificate(cert);
  const content = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' });
  const digest = createHash(matchingType === 1 ? 'sha256' : 'sha512')
    .update(content)
    .digest();
  return { usage, selector, matchingType, certificate: digest };
}
