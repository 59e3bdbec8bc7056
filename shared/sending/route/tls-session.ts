import { DEFAULT_CIPHERS, TLSSocket, type DetailedPeerCertificate } from 'node:tls';
import { openSmtpConnection, type SmtpConnection } from '../transport/connect.ts';
import { SmtpUnavailableError } from '../transport/errors.ts';
import type { SmtpServerOptions } from '../transport/smtp-url.ts';
import { checkDane, isUsable } from './dane.ts';
import type { MailHost } from './mail-hosts.ts';
import { namesHost, type StsPolicy } from './mta-sts.ts';

/** The result of a session, in the words of RFC 8460 section 4.3, or `success`. */
export type TlsResultType =
  | 'success'
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-not-trusted'
  | 'certificate-expired'
  | 'validation-failure'
  | 'tlsa-invalid'
  | 'dnssec-invalid'
  | 'sts-policy-invalid'
  | 'sts-policy-fetch-error'
  | 'sts-webpki-invalid';

/** What is required of TLS to one host of a domain. */
export interface TlsDemand {
  domain: string;
  dane?: NonNullable<MailHost['dane']>;
  sts?: StsPolicy;
}

export interface TlsSessionResult {
  type: TlsResultType;
  host?: string;
  address?: string;
  reason?: string;
}

/** The code of the error when a host does not fulfil the policy of its domain. */
export const TLS_POLICY_CODE = 'ETLSPOLICY';

const EXPIRED = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const CHAIN_MAX = 10;
/** Old TLS, where the choice is between it and none (RFC 9325 section 5.2). */
const ANY_TLS = { minVersion: 'TLSv1', ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` } as const;
const OLD_VERSIONS: readonly (string | null)[] = ['TLSv1', 'TLSv1.1'];

/** How binding the demand is: a proven certificate, TLS of any kind, or neither (RFC 7672 section 2.2, RFC 8461). */
function levelOf({ dane, sts }: TlsDemand): 'verified' | 'encrypted' | 'opportunistic' {
  if (dane) return dane.records.some(isUsable) ? 'verified' : 'encrypted';
  return sts?.mode === 'enforce' ? 'verified' : 'opportunistic';
}

function chainOf(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let certificate: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  // That of an authority issues itself.
  for (let raw = certificate.raw; raw && chain.length < CHAIN_MAX; raw = certificate?.raw) {
    if (chain.some((each) => each.equals(raw))) break;
    chain.push(raw);
    certificate = certificate?.issuerCertificate;
  }
  return chain;
}

/** What is wrong with the certificate of a host for the authorities of the web (RFC 8461 section 4.2). */
function webFaultOf(socket: TLSSocket): TlsSessionResult | undefined {
  // Node looks at the common name of a certificate without DNS names, which the RFC does not allow.
  const hasNames = /(?:^|, )DNS:/.test(socket.getPeerCertificate().subjectaltname ?? '');
  if (socket.authorized && hasNames) return undefined;
  const code = hasNames ? String(socket.authorizationError) : 'ERR_TLS_CERT_ALTNAME_INVALID';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { type: 'certificate-host-mismatch', reason: code };
  return { type: EXPIRED.has(code) ? 'certificate-expired' : 'certificate-not-trusted', reason: code };
}

/** What a connection lacks; undefined when it is as the demand wants it. */
function faultOf(socket: SmtpConnection['socket'], demand: TlsDemand, host: string): TlsSessionResult | undefined {
  const { dane, sts, domain } = demand;
  if (!(socket instanceof TLSSocket)) return { type: 'starttls-not-supported' };
  if (dane) {
    if (!dane.records.some(isUsable)) return { type: 'tlsa-invalid' };
    const type = checkDane(dane.records, chainOf(socket), [dane.name, host, domain], Date.now());
    return type && { type };
  }
  if (!sts) return undefined;
  if (!namesHost(sts, host)) return { type: 'validation-failure', reason: 'the policy does not name it' };
  const version = socket.getProtocol();
  if (OLD_VERSIONS.includes(version)) return { type: 'validation-failure', reason: `${version}` };
  return webFaultOf(socket);
}

/** How the TLS of hosts failed where nothing requires it: they get mail without TLS. */
export interface BrokenTls {
  get: (host: string) => TlsSessionResult | undefined;
  set: (host: string, failure: TlsSessionResult) => unknown;
}

/**
 * Opens a connection to a host with the TLS that its domain demands: DANE before MTA-STS (RFC 8461 section 2), and
 * without either whatever TLS there is, or none (RFC 7435).
 * @param note gets the result of the session
 * @throws SmtpUnavailableError when the host cannot be connected to, or does not fulfil the demand
 */
export async function openByDemand(
  server: SmtpServerOptions,
  demand: TlsDemand,
  signal: AbortSignal,
  broken: BrokenTls,
  note: (result: TlsSessionResult) => void,
): Promise<SmtpConnection> {
  const { exchange: host = server.host } = server;
  const about = { host, address: server.host };
  const level = levelOf(demand);
  const tls = { ...server.tls, ...(level === 'opportunistic' && ANY_TLS) };
  const known = level === 'opportunistic' ? broken.get(host) : undefined;
  let connection: SmtpConnection;
  try {
    connection = await openSmtpConnection({ ...server, tls, startTls: known ? 'never' : 'attempted' }, signal);
  } catch (error) {
    if (!(error instanceof SmtpUnavailableError) || !error.hasTlsFailed || signal.aborted) throw error;
    const failure: TlsSessionResult = { type: 'validation-failure', ...about, reason: error.code ?? 'TLS' };
    note(failure);
    if (level !== 'opportunistic') throw new SmtpUnavailableError(error.message, { code: TLS_POLICY_CODE });
    const plain = await openSmtpConnection({ ...server, startTls: 'never' }, signal);
    // A host that fails without TLS, too, may have been away for a moment.
    broken.set(host, failure);
    return plain;
  }
  if (known) {
    // Each session in clear counts for the report of the domain (RFC 8460 section 4.1).
    note({ ...known, ...about });
    return connection;
  }
  const { socket } = connection;
  const fault = faultOf(socket, demand, host);
  note({ ...about, ...(fault ?? { type: 'success' }) });
  const isEnough = level === 'opportunistic' || (level === 'encrypted' && socket instanceof TLSSocket);
  if (!fault || isEnough) return connection;
  socket.on('error', () => undefined).end('QUIT\r\n');
  const words = [fault.type, fault.reason].filter((part) => part !== undefined).join(', ');
  throw new SmtpUnavailableError(
    `SMTP server ${host}: it does not fulfil the TLS policy of ${demand.domain} (${words})`,
    {
      code: TLS_POLICY_CODE,
    },
  );
}
