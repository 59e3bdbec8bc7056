import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '../../platform/config.ts';

/** How a connection without TLS upgrades to TLS. */
export type StartTls =
  /** The connection fails without TLS. */
  | 'required'
  /** As `required` for a server on the public internet, as `offered` on this machine and in private networks. */
  | 'expected'
  /** TLS is used if the server offers it, and then it must succeed. */
  | 'offered'
  /** As `offered`, but if the server then refuses it the connection stays unencrypted. */
  | 'attempted'
  | 'never';

/**
 * One way out: an entry of `SMTP_URL`, or one local address of an `mx://` entry. Rules, pools and warm-up are about
 * sources.
 */
export interface Source {
  /** Unique among the sources of an installation. */
  name: string;
  kind: 'relay' | 'mx';
  pool: string;
  /** The plan by which it warms up when it is new. */
  warmUp?: string;
}

/** One SMTP server and the options of its connections. Times are in milliseconds. */
export interface SmtpServerOptions {
  source: Source;
  /** `host:port`, safe to log. */
  label: string;
  host: string;
  port: number;
  /** The name of a mail host that takes mail for its domain, when `host` is its address. */
  exchange?: string;
  /** Servers with a lower one are used first. Missing when it does not matter. */
  preference?: number;
  /** TLS from the first octet (RFC 8314). */
  isSecure: boolean;
  startTls: StartTls;
  /** Options of Node's `tls.connect`. */
  tls: ConnectionOptions;
  auth?: { user: string; pass: string; method?: string };
  /** Whether the login may go over the network unencrypted. */
  allowsInsecureAuth: boolean;
  /** The name given in EHLO. */
  name?: string;
  localAddress?: string;
  /** From the DNS query to the end of the TLS upgrade. */
  connectionTimeoutMs?: number;
  greetingTimeoutMs?: number;
  /** The time limit of each reply, instead of those of RFC 5321. */
  replyTimeoutMs?: number;
}

const URL_FORM_MESSAGE = 'An SMTP URL has the form smtp://host:port or smtps://user:password@host:port';
const CLEAR_LOGIN_MESSAGE =
  'An SMTP URL with a login and ignoreTLS sends the password in clear; add allowInsecureAuth=true to permit that';
const TLS_TEXTS = ['servername', 'minVersion', 'maxVersion', 'ciphers', 'ecdhCurve'];
const TLS_FLAGS = ['rejectUnauthorized'];
const OPTIONS: readonly string[] = [
  'name',
  'pool',
  'localAddress',
  'servername',
  'requireTLS',
  'ignoreTLS',
  'opportunisticTLS',
  'allowInsecureAuth',
  'authMethod',
  ...[...TLS_TEXTS, ...TLS_FLAGS].map((name) => `tls.${name}`),
  'connectionTimeout',
  'greetingTimeout',
  'socketTimeout',
];

/** Options of Nodemailer that Everpost decides itself. They have no effect, so that a URL written for it works. */
const NODEMAILER_OPTIONS = [
  'secure',
  'maxConnections',
  'maxMessages',
  'rateDelta',
  'rateLimit',
  'dnsTimeout',
  'logger',
  'debug',
  'transactionLog',
];

/** A misspelt option would be left out, such as one that requires TLS. @param scheme of the URL, for the message */
export function assertOptions(query: URLSearchParams, options: readonly string[], scheme: string): void {
  const unknown = [...query.keys()].find((name) => !options.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`${unknown} in ${scheme} URL is unknown; it takes ${options.join(', ')}`);
}

/** Whether data sent to this address or name stays on the machine. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^::ffff:/i, '');
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

const PRIVATE_RANGES = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/** Whether messages to a server may go out in clear if it offers no TLS. */
export function mayGoInClear(
  { startTls, allowsInsecureAuth }: Pick<SmtpServerOptions, 'startTls' | 'allowsInsecureAuth'>,
  address: string,
): boolean {
  if (startTls !== 'expected') return startTls !== 'required';
  return allowsInsecureAuth || (ipaddr.isValid(address) && PRIVATE_RANGES.has(ipaddr.process(address).range()));
}

function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (!['true', '1', '', 'false', '0'].includes(value))
    throw new ConfigError(`${name} in an SMTP URL is true or false`);
  return !['false', '0'].includes(value);
}

function tlsOptions(query: URLSearchParams): ConnectionOptions {
  const options: Record<string, unknown> = {};
  for (const name of TLS_TEXTS) {
    const value = query.get(`tls.${name}`);
    if (value !== null) options[name] = value;
  }
  for (const name of TLS_FLAGS) {
    if (query.has(`tls.${name}`)) options[name] = isSet(query, `tls.${name}`);
  }
  const servername = query.get('servername');
  if (servername !== null) options.servername = servername;
  return options;
}

function startTlsOf(query: URLSearchParams): StartTls {
  if (isSet(query, 'ignoreTLS')) return 'never';
  if (isSet(query, 'requireTLS')) return 'required';
  if (isSet(query, 'opportunisticTLS')) return 'attempted';
  return query.has('requireTLS') ? 'offered' : 'expected';
}

function times(query: URLSearchParams): Partial<SmtpServerOptions> {
  const read = (name: string): number | undefined => {
    const value = Number(query.get(name) ?? 1);
    if (!(value > 0 && Number.isFinite(value)))
      throw new ConfigError(`${name} in an SMTP URL is a number of milliseconds`);
    return query.has(name) ? value : undefined;
  };
  const [connectionTimeoutMs, greetingTimeoutMs] = [read('connectionTimeout'), read('greetingTimeout')];
  const replyTimeoutMs = read('socketTimeout');
  return {
    ...(connectionTimeoutMs !== undefined && { connectionTimeoutMs }),
    ...(greetingTimeoutMs !== undefined && { greetingTimeoutMs }),
    ...(replyTimeoutMs !== undefined && { replyTimeoutMs }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(URL_FORM_MESSAGE);
  }
}

function authOf(parsed: URL): SmtpServerOptions['auth'] {
  if (parsed.username === '' && parsed.password === '') return undefined;
  const method = parsed.searchParams.get('authMethod');
  return { user: decode(parsed.username), pass: decode(parsed.password), ...(method !== null && { method }) };
}

/** The pool of sources whose URL names none. */
export const DEFAULT_POOL = 'default';
const POOL_NAME = /^[\w.-]{1,63}$/;

/** The pool that a URL names. @throws ConfigError when it is no word */
export function poolOf(query: URLSearchParams): string {
  const pool = query.get('pool') ?? DEFAULT_POOL;
  if (!POOL_NAME.test(pool))
    throw new ConfigError('pool in an SMTP URL takes 1 to 63 letters, digits, ".", "_" and "-"');
  return pool;
}

/**
 * Servers whose names are not their own are named by host and port, so that each name means one source. The entries of a
 * server in several pools are servers of their own, so that mail of a pool goes over no other one.
 */
export function withUniqueNames<Server extends Pick<SmtpServerOptions, 'label' | 'source'>>(
  servers: readonly Server[],
): Server[] {
  return servers.map((entry) => {
    const { pool } = entry.source;
    const isApart = servers.some((each) => each.label === entry.label && each.source.pool !== pool);
    const label = isApart ? `${entry.label}/${pool}` : entry.label;
    const server = { ...entry, label };
    const { source } = server;
    const isOwn = servers.every(
      (each) => each.source.name !== source.name || (each.label === entry.label && each.source.pool === pool),
    );
    return isOwn ? server : { ...server, source: { ...source, name: label } };
  });
}

/**
 * Reads `smtp://` or `smtps://` `user:password@host:port?option=value`. Options: `name` (in EHLO, and of the
 * source), `pool`, `localAddress`, `servername`,
 * `requireTLS`, `ignoreTLS`, `opportunisticTLS`, `allowInsecureAuth`, `authMethod` (PLAIN, LOGIN, CRAM-MD5, XOAUTH2),
 * `tls.rejectUnauthorized`, `tls.servername`, `tls.minVersion`, `tls.maxVersion`, `tls.ciphers`, `tls.ecdhCurve`, and
 * in milliseconds `connectionTimeout`, `greetingTimeout`, `socketTimeout` (of each reply). Without
 * one of the three TLS options a server on the public internet must offer TLS; `requireTLS=false` permits it not to.
 *
 * @throws ConfigError when it is no SMTP URL, or when it would send a login unencrypted and does not permit that. The
 *   message does not repeat the URL, which may contain a password.
 */
export function parseSmtpUrl(url: string): SmtpServerOptions {
  if (!/^smtps?:\/\/./i.test(url) || !URL.canParse(url)) throw new ConfigError(URL_FORM_MESSAGE);
  // `URL` keeps the case and the brackets of a host when it does not know the scheme.
  const parsed = new URL(url);
  const isSecure = parsed.protocol === 'smtps:';
  const host = decode(parsed.hostname).replace(/^\[|\]$/g, '') || 'localhost';
  const defaultPort = isSecure ? 465 : 587;
  const port = parsed.port === '' ? defaultPort : Number(parsed.port);
  if (port === 0) throw new ConfigError(URL_FORM_MESSAGE);
  const query = parsed.searchParams;
  for (const option of NODEMAILER_OPTIONS) query.delete(option);
  assertOptions(query, OPTIONS, 'an SMTP');
  const auth = authOf(parsed);
  const allowsInsecureAuth = isSet(query, 'allowInsecureAuth');
  const startTls = startTlsOf(query);
  if (auth && !isSecure && startTls === 'never' && !allowsInsecureAuth && !isLoopback(host)) {
    throw new ConfigError(CLEAR_LOGIN_MESSAGE);
  }
  const [name, localAddress] = [query.get('name') || null, query.get('localAddress')];
  return {
    source: { name: name ?? host, kind: 'relay', pool: poolOf(query) },
    label: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    host,
    port,
    isSecure,
    startTls,
    allowsInsecureAuth,
    tls: tlsOptions(query),
    ...(auth && { auth }),
    ...(name !== null && { name }),
    ...(localAddress !== null && { localAddress }),
    ...times(query),
  };
}
