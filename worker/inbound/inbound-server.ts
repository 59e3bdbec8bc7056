import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../shared/platform/logger.ts';
import { createClientLimits } from './client-limits.ts';
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
}

/** Reports are small; what is larger is not for us. */
const MESSAGE_BYTES_MAX = 1_048_576;
const CLIENTS_MAX = 100;
/** More than a relay opens to one destination, and never all. */
const CLIENTS_PER_ADDRESS_MAX = 50;
const RECIPIENTS_MAX = 10;
const UNPROVEN_PER_MINUTE = 600;
const IDLE_MS = 30_000;
/** However slowly a client sends, its place is free after this. */
const CONNECTION_MS_MAX = 10 * 60_000;
const CLOSE_MS = 2_000;

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
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
    connectionsAtOnce: CLIENTS_PER_ADDRESS_MAX,
  });
  const recipientsOf = new WeakMap<SMTPServerSession['envelope'], Map<string, InboundRecipient>>();
  /** The connections that were let in, by session, with the address they came from. */
  const inside = new Map<string, string>();

  async function acceptRecipient(address: string, session: SMTPServerSession): Promise<Error | null> {
    const known = recipientsOf.get(session.envelope) ?? new Map<string, InboundRecipient>();
    recipientsOf.set(session.envelope, known);
    if (known.size >= RECIPIENTS_MAX) return refusal(452, '4.5.3 Too many recipients');
    const recipient = await mail.findRecipient(address);
    if (!recipient) return refusal(550, '5.1.1 No such mailbox here');
    known.set(address, recipient);
    if (recipient.kind === 'mail') limits.prove(session.remoteAddress, recipient.emailId);
    return null;
  }

  /** A renewed certificate is there for the first connection after it was found. */
  async function admit(session: SMTPServerSession): Promise<Error | null> {
    if (!limits.enter(session.remoteAddress)) return refusal(421, '4.7.0 Too many connections, try again later');
    inside.set(session.id, session.remoteAddress);
    const renewed = await tls?.renewed();
    if (renewed) server.updateSecureContext({ ...renewed });
    return null;
  }

  async function takeMessage(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Error | null> {
    const raw = await readAll(stream);
    if (!raw) return refusal(552, `5.3.4 The message is larger than ${MESSAGE_BYTES_MAX} bytes`);
    const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
    await mail.take(raw, from, [...(recipientsOf.get(session.envelope)?.values() ?? [])]);
    return null;
  }

  function answer(work: Promise<Error | null>, callback: (error: Error | null) => void): void {
    work.then(callback, (error: unknown) => {
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
    maxClients: CLIENTS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    logger: false,
    onConnect: (session, callback) => answer(admit(session), callback),
    onClose(session) {
      const address = inside.get(session.id);
      if (inside.delete(session.id) && address !== undefined) limits.leave(address);
    },
    onMailFrom(_address, session, callback) {
      const mayBegin = limits.beginMessage(session.remoteAddress);
      callback(mayBegin ? null : refusal(421, '4.7.0 Too many messages, try again later'));
    },
    onRcptTo: (address, session, callback) => answer(acceptRecipient(address.address, session), callback),
    onData: (stream, session, callback) => answer(takeMessage(stream, session), callback),
  });
  server.on('error', (error: Error) => logger.debug({ reason: error.message }, 'an inbound connection failed'));
  server.server.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), CONNECTION_MS_MAX);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port, resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
