import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../shared/platform/logger.ts';
import { createClientLimits } from './client-limits.ts';
import { guardConnections } from './connection-guard.ts';
import { CONNECTION_BOUNDS, type ConnectionBounds } from './connection-watch.ts';
import type { InboundMail, InboundRecipient } from './inbound-mail.ts';
import type { InboundTls } from './inbound-tls.ts';

export interface InboundServer {
  readonly port: number;
  /** Takes no new connections and waits a moment for those at work. */
  close: () => Promise<void>;
}

export interface InboundServerOptions {
  port: number;
  /** INBOUND_DOMAIN, for the greeting. */
  domain: string;
  mail: InboundMail;
  logger: Logger;
  /** Offers STARTTLS (RFC 3207). */
  tls?: InboundTls | undefined;
  /** Connections and messages a minute from one address that are about no mail of ours. */
  unprovenPerMinute?: number;
  /** Forwarders that say who their clients are (PROXY protocol); networks in CIDR notation. */
  proxySources?: readonly string[];
  bounds?: Partial<ConnectionBounds>;
}

/** Reports are small; what is larger is not for us. */
const MESSAGE_BYTES_MAX = 1_048_576;
const CONNECTIONS_MAX = 100;
/** With those that are being refused or closed. */
const SOCKETS_MAX = 3 * CONNECTIONS_MAX;
const RECIPIENTS_MAX = 10;
const UNPROVEN_PER_MINUTE = 120;
const IDLE_MS = 30_000;
const CLOSE_MS = 2_000;

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** The client is gone before its message is: nobody is left to answer. */
function isHangUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNECTION';
}

/** The message, or undefined when it is too large; then the rest is read and thrown away, as SMTP wants it. */
async function readAll(stream: SMTPServerDataStream): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MESSAGE_BYTES_MAX) chunks.push(chunk);
    else chunks.length = 0;
  }
  return length <= MESSAGE_BYTES_MAX ? Buffer.concat(chunks) : undefined;
}

/**
 * Listens for mail to INBOUND_DOMAIN: bounces, complaints and answers. Only addresses that we gave out are taken, and
 * nothing is ever passed on. A message that cannot be recorded just now is refused with 451, so that its server keeps it.
 */
export async function startInboundServer(options: InboundServerOptions): Promise<InboundServer> {
  const { mail, logger, tls } = options;
  const limits = createClientLimits({
    unprovenPerMinute: options.unprovenPerMinute ?? UNPROVEN_PER_MINUTE,
    connectionsMax: CONNECTIONS_MAX,
  });
  const recipientsOf = new WeakMap<SMTPServerSession['envelope'], Map<string, InboundRecipient>>();

  async function acceptRecipient(address: string, session: SMTPServerSession): Promise<Error | null> {
    const known = recipientsOf.get(session.envelope) ?? new Map<string, InboundRecipient>();
    recipientsOf.set(session.envelope, known);
    if (known.size >= RECIPIENTS_MAX) return refusal(452, '4.5.3 Too many recipients');
    const recipient = await mail.findRecipient(address, () => limits.mayGuess(session.remoteAddress));
    if (recipient === 'later') return refusal(421, '4.7.0 Too many unknown recipients, try again later');
    if (!recipient) {
      limits.countRefusal(session.remoteAddress);
      return refusal(550, '5.1.1 No such mailbox here');
    }
    known.set(address, recipient);
    if ('emailId' in recipient) limits.prove(session.remoteAddress, recipient.emailId);
    guard.recipientAccepted(session.id);
    return null;
  }

  /** A renewed certificate is there for the first connection after it was found. */
  async function renewCertificate(): Promise<null> {
    const renewed = await tls?.renewed();
    if (renewed) server.updateSecureContext({ ...renewed });
    return null;
  }

  async function takeMessage(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Error | null> {
    const raw = await readAll(stream);
    guard.messageEnded(session.id);
    limits.countOctets(session.remoteAddress, stream.byteLength);
    if (!raw) return refusal(552, `5.3.4 The message is larger than ${MESSAGE_BYTES_MAX} bytes`);
    const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
    const proved = await mail.take(raw, from, [...(recipientsOf.get(session.envelope)?.values() ?? [])]);
    for (const emailId of proved) limits.prove(session.remoteAddress, emailId);
    return null;
  }

  function answer(work: Promise<Error | null>, callback: (error: Error | null) => void): void {
    work.then(callback, (error: unknown) => {
      if (isHangUp(error)) return callback(null);
      logger.error({ err: error }, 'inbound mail could not be taken, its server is asked to come back');
      callback(refusal(451, '4.3.0 Try again later'));
    });
  }

  const server = new SMTPServer({
    name: options.domain,
    banner: 'ready for bounces and replies',
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...tls?.identity,
    minVersion: 'TLSv1.2',
    disableReverseLookup: true,
    hideSMTPUTF8: true,
    size: MESSAGE_BYTES_MAX,
    maxClients: CONNECTIONS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    logger: false,
    onConnect: (_session, callback) => answer(renewCertificate(), callback),
    onMailFrom(_address, session, callback) {
      const mayBegin = limits.beginMessage(session.remoteAddress);
      callback(mayBegin ? null : refusal(421, '4.7.0 Too many messages, try again later'));
    },
    onRcptTo: (address, session, callback) => answer(acceptRecipient(address.address, session), callback),
    onData: (stream, session, callback) => answer(takeMessage(stream, session), callback),
  });
  server.on('error', (error: Error) => logger.debug({ reason: error.message }, 'an inbound connection failed'));
  const guard = guardConnections({
    ...{ server, limits, socketsMax: SOCKETS_MAX, proxySources: options.proxySources ?? [] },
    bounds: { ...CONNECTION_BOUNDS, ...options.bounds },
    onRefused: (reason) => logger.debug({ reason }, 'an inbound connection was refused'),
  });

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port, resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close() {
      guard.close();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
