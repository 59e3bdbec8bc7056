import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../shared/platform/logger.ts';
import type { InboundMail, InboundRecipient } from './inbound-mail.ts';

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
  /** Connections a minute from one address; the default is plenty for a big provider's bounces. */
  connectionsPerMinute?: number;
}

/** Reports are small; what is larger is not for us. */
const MESSAGE_BYTES_MAX = 1_048_576;
const CLIENTS_MAX = 50;
const RECIPIENTS_MAX = 10;
const MESSAGES_PER_CONNECTION_MAX = 100;
const CONNECTIONS_PER_MINUTE = 120;
const IDLE_MS = 30_000;
/** However slowly a client sends, its place is free after this. */
const CONNECTION_MS_MAX = 10 * 60_000;
const CLOSE_MS = 2_000;

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** Counts connections by address in windows of a minute; forgets everything with the window. */
function createConnectionLimit(perMinute: number): (address: string) => boolean {
  let window = 0;
  const counts = new Map<string, number>();
  return (address) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== window) {
      window = now;
      counts.clear();
    }
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    return count <= perMinute;
  };
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
  const { mail, logger } = options;
  const isWithinLimit = createConnectionLimit(options.connectionsPerMinute ?? CONNECTIONS_PER_MINUTE);
  const recipientsOf = new WeakMap<SMTPServerSession['envelope'], Map<string, InboundRecipient>>();
  const messageCounts = new Map<string, number>();

  async function acceptRecipient(address: string, session: SMTPServerSession): Promise<Error | null> {
    const known = recipientsOf.get(session.envelope) ?? new Map<string, InboundRecipient>();
    recipientsOf.set(session.envelope, known);
    if (known.size >= RECIPIENTS_MAX) return refusal(452, '4.5.3 Too many recipients');
    const recipient = await mail.findRecipient(address);
    if (!recipient) return refusal(550, '5.1.1 No such mailbox here');
    known.set(address, recipient);
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
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    hideSMTPUTF8: true,
    size: MESSAGE_BYTES_MAX,
    maxClients: CLIENTS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    logger: false,
    onConnect(session, callback) {
      callback(
        isWithinLimit(session.remoteAddress) ? null : refusal(421, '4.7.0 Too many connections, try again later'),
      );
    },
    onClose(session) {
      messageCounts.delete(session.id);
    },
    onMailFrom(_address, session, callback) {
      const count = (messageCounts.get(session.id) ?? 0) + 1;
      messageCounts.set(session.id, count);
      callback(count <= MESSAGES_PER_CONNECTION_MAX ? null : refusal(421, '4.5.3 Too many messages, connect again'));
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
