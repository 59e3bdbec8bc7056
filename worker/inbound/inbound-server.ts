import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Logger } from '../../shared/platform/logger.ts';
import { createGuestLimits, type GuestLimits } from '../../shared/platform/smtp/guest-limits.ts';
import { guardConnections, type ConnectionGuard } from '../../shared/platform/smtp/connection-guard.ts';
import { CONNECTION_BOUNDS, type ConnectionBounds } from '../../shared/platform/smtp/connection-watch.ts';
import type { InboundMail } from './inbound-mail.ts';
import type { InboundRecipient } from './inbound-recipients.ts';
import type { ReloadedTls } from '../../shared/platform/smtp/tls-identity.ts';

export interface InboundServer {
  readonly port: number;
  /** Accepts no new connections and waits briefly for those under way. */
  close: () => Promise<void>;
}

export interface InboundServerOptions {
  port: number;
  /** INBOUND_DOMAIN, for the greeting. */
  domain: string;
  mail: InboundMail;
  logger: Logger;
  /** Offers STARTTLS (RFC 3207). */
  tls?: ReloadedTls | undefined;
  /** Connections and messages per minute from one guest: about no email of ours. */
  unitsPerMinute?: number;
  /** Forwarders that send a PROXY header; networks in CIDR notation. */
  proxySources?: readonly string[];
  bounds?: Partial<ConnectionBounds>;
}

/** Reports are small; larger messages are refused. */
const MESSAGE_BYTES_MAX = 1_048_576;
const CONNECTIONS_MAX = 100;
/** All sockets, including those being refused or closed. */
const SOCKETS_MAX = 3 * CONNECTIONS_MAX;
const RECIPIENTS_MAX = 10;
const UNITS_PER_MINUTE = 120;
const IDLE_MS = 30_000;
const CLOSE_MS = 2_000;

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** Whether the client disconnected before its message was complete, so no reply is needed. */
function isHangUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNECTION';
}

/**
 * Reads a message.
 * @returns undefined when it is too large; then the rest is read and dropped, as SMTP requires
 */
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

/** The resources that the steps of a session share. */
interface Listener {
  mail: InboundMail;
  limits: GuestLimits;
  logger: Logger;
  recipientsOf: WeakMap<SMTPServerSession['envelope'], Map<string, InboundRecipient>>;
  guard: () => ConnectionGuard;
}

/** Whether a recipient may be in one message with the others: a message is for report mailboxes only, or for none. */
function mayJoin(recipient: InboundRecipient, known: ReadonlyMap<string, InboundRecipient>): boolean {
  return [...known.values()].every(({ kind }) => (kind === 'reports') === (recipient.kind === 'reports'));
}

async function acceptRecipient(listener: Listener, address: string, session: SMTPServerSession): Promise<Error | null> {
  const { mail, limits, recipientsOf, guard } = listener;
  const known = recipientsOf.get(session.envelope) ?? new Map<string, InboundRecipient>();
  recipientsOf.set(session.envelope, known);
  if (known.size >= RECIPIENTS_MAX) return refusal(452, '4.5.3 Too many recipients');
  const recipient = await mail.findRecipient(address, () => limits.mayGuess(session.remoteAddress));
  if (recipient === 'later') return refusal(421, '4.7.0 Too many unknown recipients, try again later');
  if (!recipient) {
    limits.countRefusal(session.remoteAddress);
    return refusal(550, '5.1.1 No such mailbox here');
  }
  if (!mayJoin(recipient, known)) return refusal(452, '4.5.3 This recipient needs a message of its own');
  known.set(address, recipient);
  if ('emailId' in recipient) limits.prove(session.remoteAddress, recipient.emailId);
  guard().recipientAccepted(session.id);
  return null;
}

async function takeMessage(
  { mail, limits, recipientsOf, guard }: Listener,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<Error | null> {
  const raw = await readAll(stream);
  guard().messageEnded(session.id);
  limits.countOctets(session.remoteAddress, stream.byteLength);
  if (!raw) return refusal(552, `5.3.4 The message is larger than ${MESSAGE_BYTES_MAX} bytes`);
  const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
  const client = { address: session.remoteAddress, name: session.hostNameAppearsAs || '' };
  const taken = await mail.take(raw, { from, client }, [...(recipientsOf.get(session.envelope)?.values() ?? [])]);
  for (const emailId of taken.proved) limits.prove(session.remoteAddress, emailId);
  return taken.refusal ? refusal(taken.refusal.code, taken.refusal.text) : null;
}

function answer(logger: Logger, work: Promise<Error | null>, callback: (error: Error | null) => void): void {
  work.then(callback, (error: unknown) => {
    if (isHangUp(error)) return callback(null);
    logger.error({ err: error }, 'inbound email could not be handled, its server is asked to try again');
    callback(refusal(451, '4.3.0 Try again later'));
  });
}

function createServer({ domain, tls, logger }: InboundServerOptions, listener: Listener): SMTPServer {
  /** Uses a renewed certificate from the next connection on. */
  async function renewCertificate(): Promise<null> {
    const renewed = await tls?.renewed();
    if (renewed) server.updateSecureContext({ ...renewed });
    return null;
  }

  const server = new SMTPServer({
    name: domain,
    banner: 'ready for bounces and replies',
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...tls?.identity,
    minVersion: 'TLSv1.2',
    disableReverseLookup: true,
    size: MESSAGE_BYTES_MAX,
    maxClients: CONNECTIONS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    logger: false,
    onConnect: (_session, callback) => answer(logger, renewCertificate(), callback),
    onClose: (session) => listener.guard().connectionClosed(session.id),
    onMailFrom(_address, session, callback) {
      const mayBegin = listener.limits.beginMessage(session.remoteAddress);
      callback(mayBegin ? null : refusal(421, '4.7.0 Too many messages, try again later'));
    },
    onRcptTo: (address, session, callback) =>
      answer(logger, acceptRecipient(listener, address.address, session), callback),
    onData: (stream, session, callback) => answer(logger, takeMessage(listener, stream, session), callback),
  });
  server.on('error', (error: Error) => logger.debug({ reason: error.message }, 'an inbound connection failed'));
  return server;
}

/**
 * Listens for email to INBOUND_DOMAIN: bounces, complaints and replies. It accepts only addresses of our emails, and of
 * the operator, to whom it forwards. A message that cannot be handled now is refused with 451, so that its server keeps
 * it.
 */
export async function startInboundServer(options: InboundServerOptions): Promise<InboundServer> {
  const { mail, logger } = options;
  const limits = createGuestLimits({
    unitsPerMinute: options.unitsPerMinute ?? UNITS_PER_MINUTE,
    connectionsMax: CONNECTIONS_MAX,
  });
  const server = createServer(options, { mail, limits, logger, recipientsOf: new WeakMap(), guard: () => guard });
  const guard = guardConnections({
    server,
    limits,
    socketsMax: SOCKETS_MAX,
    proxySources: options.proxySources ?? [],
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
