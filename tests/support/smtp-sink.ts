import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A message the sink has taken over. */
export interface ReceivedMessage {
  from: string;
  to: string[];
  /** The octets after dot-unstuffing. */
  raw: Buffer;
  receivedAt: Date;
  /** What report was asked for (RFC 3461); each undefined where nothing was. */
  receipt: { id: string | undefined; content: string | undefined; notify: string[] | undefined };
  /** Parses the message when asked to, once. */
  parsed(): Promise<ParsedMail>;
}

/** How often a scripted answer is given; for ever when left out. */
interface Repetition {
  times?: number;
}

export interface ScriptedReply extends Repetition {
  code: number;
  /** Text after the code, such as `5.1.1 No such user`. */
  text?: string;
  /** `mail` goes by the envelope sender, `rcpt` and `data` (after the content) by the recipient. */
  stage: 'mail' | 'rcpt' | 'data';
}

export interface ScriptedDrop extends Repetition {
  /**
   * When the connection is cut: at MAIL FROM (by envelope sender), at RCPT TO, at the first octets of the content, or
   * in place of the last reply, when the message has been received and counted.
   */
  stage: 'mail' | 'rcpt' | 'content' | 'reply';
}

export interface SmtpSinkOptions {
  onRecipient?: (address: string) => void;
  onMessage?: (message: ReceivedMessage) => void;
  /** Waits this long before the reply to a message. */
  delayMs?: number;
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
  /** Resolves with the messages once there are `count`; rejects after `timeoutMs` (default 5,000). */
  waitForMessages(count: number, timeoutMs?: number): Promise<ReceivedMessage[]>;
  replyTo(address: string, reply: ScriptedReply): void;
  dropOn(address: string, drop: ScriptedDrop): void;
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

type Script = (ScriptedReply & { kind: 'reply' }) | (ScriptedDrop & { kind: 'drop' });

const HOST = '127.0.0.1';

function replyError(code: number, text = 'scripted'): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

/** Starts a real SMTP server on a free port of this machine that keeps what it gets and answers as scripted. */
export async function createSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const { keepMessages = true } = options;
  const received: ReceivedMessage[] = [];
  const counts = new Map<string, number>();
  const scripts = new Map<string, Script[]>();
  const sockets = new Map<number, Socket>();
  const waiters = new Set<() => void>();
  let messageCount = 0;
  let connectionCount = 0;
  let greetingCode: number | undefined;

  function addScript(address: string, script: Script): void {
    const key = address.toLowerCase();
    scripts.set(key, [...(scripts.get(key) ?? []), { ...script }]);
  }

  /** The script that is due, counted down; undefined in the usual case that there is none. */
  function takeScript(address: string, kind: Script['kind'], stage: Script['stage']): Script | undefined {
    const script = scripts
      .get(address.toLowerCase())
      ?.find((candidate) => candidate.kind === kind && candidate.stage === stage && candidate.times !== 0);
    if (script?.times !== undefined) {
      script.times -= 1;
    }
    return script;
  }

  function isDropped(address: string, stage: ScriptedDrop['stage'], session: SMTPServerSession): boolean {
    if (scripts.size === 0 || !takeScript(address, 'drop', stage)) {
      return false;
    }
    sockets.get(session.remotePort)?.destroy();
    return true;
  }

  function scriptedError(address: string, stage: ScriptedReply['stage']): Error | null {
    const script = scripts.size === 0 ? undefined : takeScript(address, 'reply', stage);
    return script?.kind === 'reply' ? replyError(script.code, script.text) : null;
  }

  function store(session: SMTPServerSession, raw: Buffer): void {
    const to = session.envelope.rcptTo.map((recipient) => recipient.address);
    const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
    let parsed: Promise<ParsedMail> | undefined;
    const message: ReceivedMessage = {
      from,
      to,
      raw,
      receivedAt: new Date(),
      receipt: {
        id: session.envelope.dsn?.envid ?? undefined,
        content: session.envelope.dsn?.ret ?? undefined,
        notify: session.envelope.rcptTo[0]?.dsn?.notify ?? undefined,
      },
      parsed: () => (parsed ??= simpleParser(raw)),
    };
    messageCount += 1;
    for (const address of to) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    if (keepMessages) {
      received.push(message);
    }
    options.onMessage?.(message);
    for (const check of waiters) {
      check();
    }
  }

  const serverOptions: SMTPServerOptions = {
    secure: options.secure ?? false,
    disabledCommands: [...(options.startTls ? [] : ['STARTTLS']), ...(options.auth ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    authOptional: !options.auth,
    disableReverseLookup: true,
    hidePIPELINING: options.pipelining === false,
    hideDSN: options.dsn !== true,
    hideENHANCEDSTATUSCODES: true,
    logger: false,
    closeTimeout: 200,
    ...(options.size !== undefined && { size: options.size }),

    onConnect(_session, callback) {
      callback(greetingCode === undefined ? null : replyError(greetingCode));
    },
    onAuth(auth, _session, callback) {
      const isRight = auth.username === options.auth?.user && auth.password === options.auth?.pass;
      callback(
        isRight ? null : replyError(535, '5.7.8 Wrong credentials'),
        isRight ? { user: auth.username } : undefined,
      );
    },
    onMailFrom(address, session, callback) {
      if (!isDropped(address.address, 'mail', session)) {
        callback(scriptedError(address.address, 'mail'));
      }
    },
    onRcptTo(address, session, callback) {
      options.onRecipient?.(address.address);
      if (!isDropped(address.address, 'rcpt', session)) {
        callback(scriptedError(address.address, 'rcpt'));
      }
    },
    onData(stream, session, callback) {
      const recipient = session.envelope.rcptTo[0]?.address ?? '';
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        if (chunks.length === 0 && isDropped(recipient, 'content', session)) {
          stream.removeAllListeners('data');
        }
        chunks.push(chunk);
      });
      stream.once('end', () => {
        const error = scriptedError(recipient, 'data');
        const answer = () => {
          if (error) {
            callback(error);
            return;
          }
          store(session, Buffer.concat(chunks));
          if (!isDropped(recipient, 'reply', session)) {
            callback(null);
          }
        };
        if (options.delayMs) {
          setTimeout(answer, options.delayMs);
        } else {
          answer();
        }
      });
    },
  };
  const server = new SMTPServer(serverOptions);
  server.on('error', () => {
    // A client that goes away in mid-sentence is a part of the tests.
  });
  server.server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    connectionCount += 1;
    sockets.set(port, socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(port));
  });

  async function listen(port: number): Promise<void> {
    server.server.listen(port, HOST);
    await once(server.server, 'listening');
  }
  function dropConnections(): void {
    for (const socket of sockets.values()) {
      socket.destroy();
    }
  }
  async function stop(): Promise<void> {
    if (!server.server.listening) {
      return;
    }
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
    messages: () => received,
    messageCount: () => messageCount,
    recipientCounts: () => counts,
    connectionCount: () => connectionCount,
    openConnectionCount: () => sockets.size,

    waitForMessages(count, timeoutMs = 5000) {
      return new Promise((resolve, reject) => {
        const check = () => {
          if (messageCount >= count) {
            finish();
            resolve(received);
          }
        };
        const timer = setTimeout(() => {
          finish();
          reject(new Error(`The SMTP sink has ${messageCount} of ${count} messages after ${timeoutMs} ms`));
        }, timeoutMs);
        const finish = () => {
          clearTimeout(timer);
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      });
    },

    replyTo: (address, reply) => addScript(address, { kind: 'reply', ...reply }),
    dropOn: (address, drop) => addScript(address, { kind: 'drop', ...drop }),
    greetWith(code) {
      greetingCode = code;
    },
    setUnavailable: (unavailable) => (unavailable ? stop() : listen(port)),
    dropConnections,
    clear() {
      received.length = 0;
      messageCount = 0;
      counts.clear();
      scripts.clear();
    },
    close: stop,
  };
}
