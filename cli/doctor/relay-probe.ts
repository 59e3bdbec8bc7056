import ipaddr from 'ipaddr.js';
import { TLSSocket } from 'node:tls';
import type { Config } from '../../shared/platform/config.ts';
import type { DnsResolver } from '../../shared/platform/dns/resolver.ts';
import { openSmtpConnection, type SmtpConnection } from '../../shared/sending/transport/connect.ts';
import { SmtpUnavailableError } from '../../shared/sending/transport/errors.ts';
import { isLoopback, parseSmtpUrl, type SmtpServerOptions } from '../../shared/sending/transport/smtp-url.ts';
import { redactText } from '../../shared/pure/redact.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

const AREA = 'relay';
const { ok, warn, fail } = findingsAbout(AREA);
const CONNECT_MS = 4_000;
const REPLY_MS = 4_000;

/** What to do about each code of a failed connection; other codes are faults of the network. */
const ACTIONS: Record<string, string> = {
  EAUTH: 'Check user and password in SMTP_URL, and which ways to log in the relay allows.',
  EINSECUREAUTH: 'Let the relay offer STARTTLS, or permit it with ?allowInsecureAuth=true in SMTP_URL.',
  EINSECURE: 'Let the relay offer STARTTLS, use smtps://, or permit clear text with ?requireTLS=false in SMTP_URL.',
  EPROTOCOL: 'The log of the relay says why it refuses this client.',
};

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

function securityFinding(server: SmtpServerOptions, { socket, isLoggedIn }: SmtpConnection): Finding {
  const { label, host, auth } = server;
  if (auth && !isLoggedIn) {
    return warn(`${label}: SMTP_URL has a login, and the relay offers none`, 'Check the port: 587 is for logins.');
  }
  const login = isLoggedIn ? ', login accepted' : '';
  if (socket instanceof TLSSocket) return ok(`${label}: ${socket.getProtocol() ?? 'TLS'}${login}`);
  if (isLoopback(host)) return ok(`${label}: on this machine${login}`);
  return warn(`${label}: messages go out in clear`, 'Let the relay offer STARTTLS, or use smtps://.');
}

function sizeFindings(
  { label }: SmtpServerOptions,
  { sizeMax }: SmtpConnection['capabilities'],
  bytesMax: number,
): Finding[] {
  if (sizeMax === 0 || sizeMax >= bytesMax) return [];
  return [
    warn(
      `${label}: takes messages of ${sizeMax} octets at most, and MESSAGE_MAX_BYTES is ${bytesMax}`,
      `Set MESSAGE_MAX_BYTES to ${sizeMax}, so that callers learn at once what is too large.`,
    ),
  ];
}

/**
 * Checks that the address of a relay has a name, and that the name leads back to the address (RFC 1912 section 2.1):
 * large providers refuse other mail. A relay with a private address sends from another one, which cannot be seen here.
 */
export async function nameFinding(resolver: DnsResolver, label: string, address: string): Promise<Finding> {
  const { ok, warn, fail } = findingsAbout('PTR');
  if (!isPublicAddress(address)) return ok(`${label}: not a public address, so nothing to look up`);
  const action = 'Set the PTR record at the provider of the address, to a name that leads back to it.';
  const answer = await resolver.names(address);
  if (answer.kind === 'failed') return warn(`${label}: DNS does not answer (${answer.reason})`, 'Run it again later.');
  if (answer.kind === 'absent') return fail(`${label}: ${address} has no PTR record`, action);
  for (const name of answer.records) {
    const forward = await resolver.addresses(name);
    if (forward.kind === 'found' && forward.records.some((other) => isSame(other, address))) {
      return ok(`${label}: ${address} is ${name}`);
    }
  }
  return fail(`${label}: ${address} is ${answer.records[0] ?? ''}, which does not lead back to it`, action);
}

/** Whether two texts are the same address. */
export function isSame(left: string, right: string): boolean {
  return ipaddr.isValid(left) && ipaddr.process(left).toString() === ipaddr.process(right).toString();
}

function unreachable({ label }: SmtpServerOptions, error: unknown): Finding {
  if (!(error instanceof SmtpUnavailableError)) throw error;
  const reply = error.response === undefined ? '' : ` (${redactText(error.response)})`;
  const action = ACTIONS[error.code ?? ''] ?? 'Check host and port in SMTP_URL, and the firewall between.';
  const words = error.message.replace(`SMTP server ${label}: `, '');
  return fail(`${label}: ${redactText(words)}${reply}`, action);
}

/** Connects like a worker, up to the first message: greeting, EHLO, STARTTLS, login. */
export function relayProbe(
  url: string,
  resolver: DnsResolver,
  { MESSAGE_MAX_BYTES: bytesMax }: Pick<Config, 'MESSAGE_MAX_BYTES'>,
): Probe {
  return {
    area: AREA,
    async run(signal) {
      let server: SmtpServerOptions;
      try {
        server = { ...parseSmtpUrl(url), connectionTimeoutMs: CONNECT_MS, replyTimeoutMs: REPLY_MS };
      } catch (error) {
        return [fail((error as Error).message, 'Correct SMTP_URL.')];
      }
      try {
        const connection = await openSmtpConnection(server, signal);
        const { socket } = connection;
        const address = socket.remoteAddress ?? '';
        const findings = [
          securityFinding(server, connection),
          ...sizeFindings(server, connection.capabilities, bytesMax),
        ];
        socket.on('error', () => undefined).end('QUIT\r\n');
        return [...findings, await nameFinding(resolver, server.label, address)];
      } catch (error) {
        return [unreachable(server, error)];
      }
    },
  };
}
