import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import {
  createReceivedMessages,
  receivedMessage,
  type ReceivedMessage,
  type ReceivedMessages,
} from './received-messages.ts';
import { createSmtpScript, replyError, type ScriptedDrop, type ScriptedReply, type SmtpScript } from './smtp-script.ts';

export interface SmtpSinkOptions {
  onRecipient?: (address: string) => void;
  onMessage?: (message: ReceivedMessage) => void;
  /** Waits this long before the reply to a message. */
  delayMs?: number;
  /** Waits for this before the reply to a message. */
  beforeReply?: (recipient: string) => Promise<unknown> | undefined;
  /** False keeps only the counts, for runs with very many messages. */
  keepMessages?: boolean;
  /** Demands this login. */
  auth?: { user: string; pass: string };
  /** SIZE in bytes. */
  size?: number;
  /** TLS from the first octet, with a self-signed certificate. */
  secure?: boolean;
  /** Offers STARTTLS, with a self-signed certificate. */
  startTls?: boolean;
  pipelining?: boolean;
  /** Offers reports of delivery (RFC 3461), and sends none. */
  dsn?: boolean;
  /** False offers no SMTPUTF8 (RFC 6531). */
  utf8?: boolean;
}

export interface SmtpSink {
  readonly url: string;
  readonly port: number;
  messages(): ReceivedMessage[];
  /** Messages received so far, also when they are not kept. */
  messageCount(): number;
  /** How many messages each recipient has got. */
  recipientCounts(): ReadonlyMap<string, number>;
  /** Connections ever made. */
  connectionCount(): number;
  /** Connections open now. */
  openConnectionCount(): number;
  /** Resolves with the messages once there are `count`; rejects after `timeoutMs` (default 15,000). */
  waitForMessages(count: number, timeoutMs?: number): Promise<ReceivedMessage[]>;
  replyTo(address: string, reply: ScriptedReply): void;
  dropOn(address: string, drop: ScriptedDrop): void;
  /** Forgets what was scripted for an address. */
  clearFor(address: string): void;
  /** Greets with this code instead of 220; undefined greets normally again. */
  greetWith(code: number | undefined): void;
  /** True cuts all connections and refuses new ones; false listens on the same port again. */
  setUnavailable(unavailable: boolean): Promise<void>;
  /** Cuts the open connections and goes on listening. */
  dropConnections(): void;
  /** Forgets messages, counts and scripts. */
  clear(): void;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const WAIT_MS = 15_000;

/** The connections to the server, each by its port on the side of the client. */
interface Connections {
  sockets: Map<number, Socket>;
  /** Connections ever made. */
  count: number;
}

/** What the handlers of the server share. */
interface SinkContext {
  options: SmtpSinkOptions;
  script: SmtpScript;
  received: ReceivedMessages;
  connections: Connections;
  /** Greets with this code instead of 220. */
  greetingCode: number | undefined;
}

/** Cuts the connection when the script says so. */
function isDropped(
  { script, connections }: SinkContext,
  address: string,
  stage: ScriptedDrop['stage'],
  session: SMTPServerSession,
): boolean {
  if (!script.takeDrop(address, stage)) return false;
  connections.sockets.get(session.remotePort)?.destroy();
  return true;
}

type DataHandler = NonNullable<SMTPServerOptions['onData']>;

/** Reads a message to its end, then refuses it, or keeps it and answers. */
function createDataHandler(context: SinkContext): DataHandler {
  const { options, script, received } = context;
  return (stream, session, callback) => {
    const recipient = session.envelope.rcptTo[0]?.address ?? '';
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => {
      if (chunks.length === 0 && isDropped(context, recipient, 'content', session)) stream.removeAllListeners('data');
      chunks.push(chunk);
    });
    stream.once('end', () => {
      const error = script.takeReply(recipient, 'data');
      const answer = () => {
        if (error) {
          callback(error);
          return;
        }
        const message = receivedMessage(session, Buffer.concat(chunks));
        received.add(message);
        options.onMessage?.(message);
        if (!isDropped(context, recipient, 'reply', session)) callback(null);
      };
      const waiting = options.beforeReply?.(recipient);
      if (waiting) void waiting.then(answer);
      else if (options.delayMs) setTimeout(answer, options.delayMs);
      else answer();
    });
  };
}

function serverOptions(context: SinkContext): SMTPServerOptions {
  const { options, script } = context;
  return {
    secure: options.secure ?? false,
    disabledCommands: [...(options.startTls ? [] : ['STARTTLS']), ...(options.auth ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    authOptional: !options.auth,
    disableReverseLookup: true,
    hidePIPELINING: options.pipelining === false,
    hideDSN: options.dsn !== true,
    hideENHANCEDSTATUSCODES: true,
    hideSMTPUTF8: options.utf8 === false,
    logger: false,
    closeTimeout: 200,
    ...(options.size !== undefined && { size: options.size }),

    onConnect(_session, callback) {
      callback(context.greetingCode === undefined ? null : replyError(context.greetingCode));
    },
    onAuth(auth, _session, callback) {
      const isRight = auth.username === options.auth?.user && auth.password === options.auth?.pass;
      callback(
        isRight ? null : replyError(535, '5.7.8 Wrong credentials'),
        isRight ? { user: auth.username } : undefined,
      );
    },
    onMailFrom({ address }, session, callback) {
      if (!isDropped(context, address, 'mail', session)) callback(script.takeReply(address, 'mail'));
    },
    onRcptTo({ address }, session, callback) {
      options.onRecipient?.(address);
      if (!isDropped(context, address, 'rcpt', session)) callback(script.takeReply(address, 'rcpt'));
    },
    onData: createDataHandler(context),
  };
}

function followConnections(server: SMTPServer, connections: Connections): void {
  server.server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    connections.count += 1;
    connections.sockets.set(port, socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => connections.sockets.delete(port));
  });
}

/** Starts a real SMTP server on a free port of this machine. It keeps its messages and answers as scripted. */
export async function createSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const script = createSmtpScript();
  const received = createReceivedMessages(options.keepMessages ?? true);
  const connections: Connections = { sockets: new Map(), count: 0 };
  const context: SinkContext = { options, script, received, connections, greetingCode: undefined };
  const server = new SMTPServer(serverOptions(context));
  server.on('error', () => {
    // Clients that disconnect in the middle of a command are a part of the tests.
  });
  followConnections(server, connections);

  async function listen(port: number): Promise<void> {
    server.server.listen(port, HOST);
    await once(server.server, 'listening');
  }
  function dropConnections(): void {
    for (const socket of connections.sockets.values()) socket.destroy();
  }
  async function stop(): Promise<void> {
    if (!server.server.listening) return;
    const closed = once(server.server, 'close');
    server.server.close();
    dropConnections();
    await closed;
  }

  await listen(0);
  const { port } = server.server.address() as AddressInfo;
  const credentials = options.auth
    ? `${encodeURIComponent(options.auth.user)}:${encodeURIComponent(options.auth.pass)}@`
    : '';

  return {
    url: `${options.secure ? 'smtps' : 'smtp'}://${credentials}${HOST}:${port}`,
    port,
    messages: received.all,
    messageCount: received.count,
    recipientCounts: received.recipientCounts,
    connectionCount: () => connections.count,
    openConnectionCount: () => connections.sockets.size,
    waitForMessages: (count, timeoutMs = WAIT_MS) => received.waitFor(count, timeoutMs),
    replyTo: script.replyTo,
    dropOn: script.dropOn,
    clearFor: script.clearFor,
    greetWith(code) {
      context.greetingCode = code;
    },
    setUnavailable: (unavailable) => (unavailable ? stop() : listen(port)),
    dropConnections,
    clear() {
      received.clear();
      script.clear();
    },
    close: stop,
  };
}
