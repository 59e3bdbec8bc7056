import type { Socket } from 'node:net';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import {
  createConversation,
  type Conversation,
  type ConversationError,
  type ConversationHooks,
  type SmtpCapabilities,
  type SmtpMessage,
} from './smtp-conversation.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

/** No server could be talked to, or the conversation broke: it says nothing about the message itself. */
export class SmtpUnavailableError extends Error {
  /** True when the connection broke after the whole message was handed over and before the server's answer. */
  readonly mayHaveBeenAccepted: boolean;
  /** A system or SMTP client code where there is one, such as ECONNREFUSED, ETIMEDOUT, EAUTH. */
  readonly code: string | undefined;

  constructor(message: string, options: { mayHaveBeenAccepted?: boolean; code?: string | undefined } = {}) {
    super(message);
    this.name = 'SmtpUnavailableError';
    this.mayHaveBeenAccepted = options.mayHaveBeenAccepted ?? false;
    this.code = options.code;
  }
}

/** One open connection to a server. Messages go over it one after another. */
export interface SmtpSession extends Omit<Conversation, 'quit' | 'fail'> {
  /** Says goodbye; the connection is cut when the server does not answer soon. */
  quit: () => void;
  /** Cuts the connection; messages on it fail. */
  destroy: () => void;
}

const QUIT_TIMEOUT_MS = 1000;

/** What a failed conversation means to who wanted to send. Passwords that a server repeats are left out. */
export function toUnavailable(
  server: SmtpServerOptions,
  error: ConversationError & { originalCode?: string },
  mayHaveBeenAccepted = false,
): SmtpUnavailableError {
  let reason = error.message;
  const { auth } = server;
  if (auth) {
    const secrets = [auth.pass, Buffer.from(auth.pass).toString('base64')];
    secrets.push(Buffer.from(`\0${auth.user}\0${auth.pass}`).toString('base64'));
    for (const secret of secrets.filter((candidate) => candidate !== '')) {
      reason = reason.replaceAll(secret, '***');
    }
  }
  return new SmtpUnavailableError(`SMTP server ${server.label}: ${reason}`, {
    mayHaveBeenAccepted,
    code: error.originalCode ?? error.code,
  });
}

const SOCKET_LISTENERS = {
  data: '_onSocketData',
  error: '_onSocketError',
  close: '_onSocketClose',
  end: '_onSocketEnd',
  timeout: '_onSocketTimeout',
} as const;

/** What nodemailer keeps to itself; its version is pinned, and the tests of the pool fail where this changes. */
type ConnectionInternals = {
  _socket: Socket;
  _supportedExtensions: string[];
  _maxAllowedSize: number;
} & Record<(typeof SOCKET_LISTENERS)[keyof typeof SOCKET_LISTENERS], (...values: unknown[]) => void>;

/**
 * The socket of a connection that is set up, freed from the client. The client is good at everything that comes before
 * the first message; its way of handing over a message costs several times what our own conversation does.
 */
function takeSocket(connection: SMTPConnection): { socket: Socket; capabilities: SmtpCapabilities } {
  const internals = connection as unknown as ConnectionInternals;
  const { _socket: socket, _supportedExtensions: extensions, _maxAllowedSize: sizeMax } = internals;
  for (const [event, name] of Object.entries(SOCKET_LISTENERS)) socket.off(event, internals[name]);
  const capabilities = {
    hasPipelining: extensions.includes('PIPELINING'),
    hasDsn: extensions.includes('DSN'),
    hasSize: extensions.includes('SIZE'),
    sizeMax,
  };
  return { socket, capabilities };
}

/**
 * Opens a connection and logs in where the server asks for it and credentials are given. `onEnd` is called once when
 * an opened session is over, whoever ended it.
 *
 * @throws SmtpUnavailableError (as a rejection) when there is no usable connection, or `signal` is aborted
 */
export function openSmtpSession<Message extends SmtpMessage>(
  server: SmtpServerOptions,
  signal: AbortSignal,
  hooksFor: (session: SmtpSession) => ConversationHooks<Message> & { ended: () => void },
): Promise<SmtpSession> {
  return new Promise((resolve, reject) => {
    const connection = new SMTPConnection(server.connection);

    const fail = (error: ConversationError) => {
      signal.removeEventListener('abort', abort);
      reject(toUnavailable(server, error));
      connection.close();
    };
    const abort = () => fail(new Error('the connection is not needed any more'));
    const onEnd = () => fail(new Error('the connection closed unexpectedly'));
    const succeed = () => {
      signal.removeEventListener('abort', abort);
      connection.off('end', onEnd);
      if (connection.destroyed) onEnd();
      else resolve(createSession(connection, hooksFor));
    };

    signal.addEventListener('abort', abort, { once: true });
    connection.on('error', fail);
    connection.once('end', onEnd);
    connection.connect((error) => {
      if (error) {
        fail(error);
      } else if (server.auth && connection.allowsAuth) {
        connection.login({ ...server.auth }, (loginError) => (loginError ? fail(loginError) : succeed()));
      } else {
        succeed();
      }
    });
  });
}

function createSession<Message extends SmtpMessage>(
  connection: SMTPConnection,
  hooksFor: (session: SmtpSession) => ConversationHooks<Message> & { ended: () => void },
): SmtpSession {
  const { socket, capabilities } = takeSocket(connection);
  const session: SmtpSession = {
    get isAlive() {
      return conversation.isAlive;
    },
    get messageCount() {
      return conversation.messageCount;
    },
    wake: () => conversation.wake(),
    finish: () => conversation.finish(),
    quit() {
      const timer = setTimeout(() => socket.destroy(), QUIT_TIMEOUT_MS);
      timer.unref();
      socket.once('close', () => clearTimeout(timer));
      conversation.quit();
    },
    destroy: () => conversation.fail(new Error('the connection was cut because the sender shuts down')),
  };
  const hooks = hooksFor(session);
  const conversation = createConversation(socket, capabilities, hooks);
  socket.once('close', hooks.ended);
  return session;
}
