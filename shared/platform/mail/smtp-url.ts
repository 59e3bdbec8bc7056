import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import { parseConnectionUrl } from 'nodemailer/lib/shared';

/** One SMTP server and how to talk to it. */
export interface SmtpServerOptions {
  /** `host:port`, safe to log. */
  label: string;
  connection: SMTPConnectionOptions;
  auth?: { user: string; pass: string; method?: string };
}

type ConnectionOption = keyof SMTPConnectionOptions;

/** What may stand in the query of a URL; `logger` and `debug` may not, for they would print messages. */
const TEXT_OPTIONS: readonly ConnectionOption[] = ['name', 'localAddress', 'servername'];
const FLAG_OPTIONS: readonly ConnectionOption[] = ['requireTLS', 'ignoreTLS', 'opportunisticTLS'];
const NUMBER_OPTIONS: readonly ConnectionOption[] = [
  'connectionTimeout',
  'greetingTimeout',
  'socketTimeout',
  'dnsTimeout',
];

/**
 * Reads `smtp://` or `smtps://` `user:password@host:port?option=value`. Options are those of nodemailer: `name`,
 * `requireTLS`, `ignoreTLS`, `opportunisticTLS`, `tls.<option>`, `authMethod`, `localAddress`, `servername` and the
 * timeouts in milliseconds; others are ignored.
 *
 * @throws Error for another kind of URL; the text of the URL is not repeated, since it may hold a password
 */
export function parseSmtpUrl(url: string): SmtpServerOptions {
  if (!/^smtps?:\/\/./i.test(url) || !URL.canParse(url)) {
    throw new Error('An SMTP URL has the form smtp://host:port or smtps://user:password@host:port');
  }
  const parsed = parseConnectionUrl(url);
  const secure = parsed.secure === true;
  const host = (parsed.host ?? 'localhost').replace(/^\[|\]$/g, '');
  const port = parsed.port ?? (secure ? 465 : 587);
  const connection: Record<string, unknown> = { secure, host, port };
  for (const name of TEXT_OPTIONS) {
    const value: unknown = parsed[name];
    if (typeof value === 'string' || typeof value === 'number') {
      connection[name] = String(value);
    }
  }
  for (const name of FLAG_OPTIONS) {
    if (parsed[name] !== undefined) {
      connection[name] = parsed[name] === true || parsed[name] === 1;
    }
  }
  for (const name of NUMBER_OPTIONS) {
    if (typeof parsed[name] === 'number') {
      connection[name] = parsed[name];
    }
  }
  if (parsed.tls) {
    connection.tls = parsed.tls;
  }
  const { auth, authMethod } = parsed;
  return {
    label: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    connection,
    ...(auth && { auth: { ...auth, ...(typeof authMethod === 'string' && { method: authMethod }) } }),
  };
}
