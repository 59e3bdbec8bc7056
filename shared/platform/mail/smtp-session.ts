import type { Duplex, Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { toDataContent } from './data-content.ts';
import { parseSmtpReply, type SmtpReply } from './smtp-reply.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

/** MAIL FROM and RCPT TO (RFC 5321): the envelope sender, empty for none, and the one envelope recipient. */
export interface SmtpEnvelope {
  from: string;
  to: string;
}

/** The command a server refused a message at: MAIL FROM, RCPT TO, or DATA and the content after it. */
export type SmtpStage = 'mail' | 'rcpt' | 'data';

/**
 * What a server made of a message: taken over, refused for good (5xx), or not now (4xx). Only a refusal at `rcpt`
 * speaks of the recipient; one at `mail` is about the sender and one at `data` about the content.
 */
export type SmtpOutcome =
  { kind: 'accepted'; reply: string } | ({ kind: 'rejected' | 'deferred'; stage: SmtpStage } & SmtpReply);

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

/** One open connection. Messages go over it one after another. */
export interface SmtpSession {
  readonly label: string;
  /** Messages tried on this connection. */
  readonly messageCount: number;
  readonly isAlive: boolean;
  /** True when the content of the latest message had begun to leave. */
  readonly hasContentStarted: boolean;
  /** @throws SmtpUnavailableError (as a rejection), after which the session is not alive any more */
  send(envelope: SmtpEnvelope, raw: Buffer): Promise<SmtpOutcome>;
  /** True when the latest transaction was cut short and `reset` has to end it before the next one. */
  readonly needsReset: boolean;
  /** RSET. Resolves to false when the connection is of no use any more. */
  reset(): Promise<boolean>;
  /** Says goodbye; the connection is cut when the server does not answer soon. */
  quit(): void;
  /** Cuts the connection; a message on it fails. */
  destroy(): void;
}

interface ClientError extends Error {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
}

const QUIT_TIMEOUT_MS = 1000;
const SERVICE_CLOSING = 421;
/** RFC 4954 §6: the server wants another login. That is between the operator and the server. */
const LOGIN_REPLY_CODES = new Set([530, 534, 535, 538]);
const STAGES: Readonly<Record<string, SmtpStage>> = { 'MAIL FROM': 'mail', 'RCPT TO': 'rcpt', DATA: 'data' };

/** Reads a refusal of the message from a client error; undefined when the error is about the connection. */
function toRefusal(error: ClientError, raw: Buffer): SmtpOutcome | undefined {
  const stage = STAGES[error.command ?? ''];
  if (!stage || (error.code !== 'EENVELOPE' && error.code !== 'EMESSAGE')) {
    return undefined;
  }
  if (error.response === undefined) {
    const limit = /(\d+)$/.exec(error.message)?.[1];
    const reply = `The message has ${raw.length} bytes, more than the ${limit ?? ''} bytes this SMTP server takes`;
    return stage === 'mail' ? { kind: 'rejected', stage, replyCode: 552, enhancedCode: '5.3.4', reply } : undefined;
  }
  const reply = parseSmtpReply(error.response);
  if (!reply || reply.replyCode === SERVICE_CLOSING || LOGIN_REPLY_CODES.has(reply.replyCode)) {
    return undefined;
  }
  if (reply.replyCode >= 400 && reply.replyCode < 600) {
    return { kind: reply.replyCode >= 500 ? 'rejected' : 'deferred', stage, ...reply };
  }
  return undefined;
}

function toUnavailable(server: SmtpServerOptions, error: ClientError, mayHaveBeenAccepted: boolean) {
  let reason = error.message;
  const { auth } = server;
  if (auth) {
    // Some servers repeat what they were sent; no password may reach a log by that way.
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

/**
 * Opens a connection and logs in where the server asks for it and credentials are given. `onEnd` is called once when
 * an opened session is over, whoever ended it.
 *
 * @throws SmtpUnavailableError (as a rejection) when there is no usable connection, or `signal` is aborted
 */
export function openSmtpSession(
  server: SmtpServerOptions,
  signal: AbortSignal,
  onEnd: (session: SmtpSession) => void,
): Promise<SmtpSession> {
  return new Promise((resolve, reject) => {
    const connection = new SMTPConnection(server.connection);
    let isOpen = false;

    const fail = (error: ClientError) => {
      signal.removeEventListener('abort', abort);
      if (!isOpen) {
        reject(toUnavailable(server, error, false));
      }
      connection.close();
    };
    const abort = () => fail(new Error('the connection is not needed any more'));
    const succeed = () => {
      signal.removeEventListener('abort', abort);
      if (connection.destroyed) {
        fail(new Error('the connection closed unexpectedly'));
        return;
      }
      isOpen = true;
      const session = createSmtpSession(connection, server);
      connection.once('end', () => onEnd(session));
      resolve(session);
    };

    signal.addEventListener('abort', abort, { once: true });
    connection.on('error', fail);
    connection.once('end', () => fail(new Error('the connection closed unexpectedly')));
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

function createSmtpSession(connection: SMTPConnection, server: SmtpServerOptions): SmtpSession {
  let messageCount = 0;
  let progress: 'envelope' | 'content' | 'sent' = 'envelope';
  let needsReset = false;
  let failPending: ((error: ClientError) => void) | undefined;

  return {
    label: server.label,
    get messageCount() {
      return messageCount;
    },
    get isAlive() {
      return !connection.destroyed;
    },
    get hasContentStarted() {
      return progress !== 'envelope';
    },
    get needsReset() {
      return needsReset;
    },

    send(envelope, raw) {
      messageCount += 1;
      progress = 'envelope';
      // The client pipes a message once the server has asked for it: the one moment that tells a failure before the
      // content from one within it. A real stream would say the same at several times the cost.
      const source = {
        pipe(destination: Duplex) {
          progress = 'content';
          destination.once('end', () => {
            progress = 'sent';
          });
          const content = toDataContent(raw);
          if (content) {
            // Past the client's own transformation, which looks at every octet again.
            destination.push(content);
            destination.push(null);
          } else {
            destination.write(raw);
            destination.end();
          }
        },
      };
      return new Promise((resolve, reject) => {
        failPending = (error) => {
          failPending = undefined;
          connection.close();
          reject(toUnavailable(server, error, progress === 'sent' && error.response === undefined));
        };
        const message = source as unknown as Readable;
        connection.send({ from: envelope.from, to: envelope.to, size: raw.length }, message, (error, info) => {
          if (!failPending) {
            return;
          }
          if (!error) {
            failPending = undefined;
            needsReset = false;
            resolve({ kind: 'accepted', reply: parseSmtpReply(info.response)?.reply ?? '' });
            return;
          }
          const refusal = toRefusal(error, raw);
          if (!refusal) {
            failPending(error);
            return;
          }
          failPending = undefined;
          needsReset = progress === 'envelope' && (error as ClientError).response !== undefined;
          resolve(refusal);
        });
      });
    },

    reset() {
      return new Promise((resolve) => {
        const onEnd = () => resolve(false);
        connection.once('end', onEnd);
        connection.reset((error) => {
          connection.removeListener('end', onEnd);
          needsReset = false;
          if (error) {
            connection.close();
          }
          resolve(!error);
        });
      });
    },

    quit() {
      if (connection.destroyed) {
        return;
      }
      const timer = setTimeout(() => connection.close(), QUIT_TIMEOUT_MS);
      timer.unref();
      connection.once('end', () => clearTimeout(timer));
      connection.quit();
    },

    destroy() {
      if (failPending) {
        failPending(new Error('the connection was cut because the sender shuts down'));
      } else {
        connection.close();
      }
    },
  };
}
