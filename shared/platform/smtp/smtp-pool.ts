import type { RawMessage } from './data-content.ts';
import type { SmtpEnvelope, SmtpOutcome } from './message.ts';
import type { SmtpUrgency } from './message-queue.ts';
import { Pool } from './pool.ts';
import type { SmtpPoolLogger } from './server-health.ts';

export { NoOtherServerError, SmtpUnavailableError } from './errors.ts';
export type { SmtpEnvelope, SmtpOutcome } from './message.ts';
export type { SmtpUrgency } from './message-queue.ts';
export { MESSAGE_MS_MAX } from './reply-timeouts.ts';

export interface SmtpPoolOptions {
  /** One or several servers, see {@link parseSmtpUrl}; connections are spread over them. */
  urls: readonly string[];
  /** Open connections at most, over all servers together. */
  maxConnections: number;
  /** From the DNS query to the end of the TLS upgrade. Default 30,000. */
  connectionTimeoutMs?: number;
  /** The time limit of each reply, the greeting included. Default as RFC 5321 section 4.5.3.2 asks: 2 to 10 minutes. */
  replyTimeoutMs?: number;
  /** Messages after which a connection is replaced. Default 500. */
  messagesPerConnection?: number;
  /** Idle time after which a connection is closed. Default 10,000. */
  idleTimeoutMs?: number;
  /** The name given in EHLO; default this machine's. */
  ehloName?: string;
  /** The clock that says how long messages of campaigns take, in milliseconds. Default `performance.now`. */
  now?: () => number;
  logger: SmtpPoolLogger;
}

export interface SendOptions {
  /**
   * Takes a waiting message out of the line (the promise rejects with the signal's reason); nothing on the wire ends.
   */
  signal?: AbortSignal;
  /** Default transactional. */
  urgency?: SmtpUrgency;
  /** The message was interrupted or deferred before: it goes without company, see {@link SmtpMessage.isAlone}. */
  isAlone?: boolean;
  /** The labels of servers that are not to get the message. */
  avoid?: ReadonlySet<string> | undefined;
}

export interface RelayState {
  /** `host:port`. */
  label: string;
  connections: number;
  isDown: boolean;
  outcomes: Readonly<Record<SmtpOutcome['kind'], number>>;
}

export interface SmtpPool {
  /** Messages to hand over at the same time so that no connection ever waits for one. */
  readonly capacity: number;
  /** For metrics: open connections, messages on the wire, messages waiting for a connection. */
  usage(): { connections: number; sending: number; queued: number };
  /** For metrics: each server with its connections, whether it is left alone, and what it made of messages. */
  relays(): RelayState[];
  /**
   * Hands one message to a server. Callers beyond the capacity wait in line, the more urgent first. Whatever happens to
   * a connection on the way, the message has an outcome of its own: one that broke a fresh connection is `interrupted`,
   * one that was not what the connection broke at goes over another.
   *
   * @throws SmtpUnavailableError (as a rejection) when no server can be connected to
   * @throws NoOtherServerError (as a rejection) when none can that the message does not avoid
   */
  send(envelope: SmtpEnvelope, raw: RawMessage, options?: SendOptions): Promise<SmtpOutcome>;
  /** Refuses waiting messages, lets those on the wire finish for `timeoutMs` (default 10,000), then cuts the rest. */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Whether the pool was closed, so nothing is sent any more. */
  isClosed(): boolean;
}

/** One whose content is under way, one announced behind it, and one to follow when both move up. */
const MESSAGES_PER_CONNECTION_AT_ONCE = 3;
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Creates a pool of SMTP connections. Connections are opened when messages need them, used again, and replaced after
 * a number of messages. A server that cannot be connected to is left alone for 250 ms to 5 s while the others work on;
 * when none is left, messages fail at once with an SmtpUnavailableError. A part of the connections is kept for the more
 * urgent kinds of messages, see {@link ConnectionShare}.
 *
 * @throws Error when a URL is not an SMTP URL
 */
export function createSmtpPool(options: SmtpPoolOptions): SmtpPool {
  const pool = new Pool(options);
  return {
    capacity: options.maxConnections * MESSAGES_PER_CONNECTION_AT_ONCE,
    usage: () => pool.usage(),
    relays: () => pool.relays(),
    send: (envelope, raw, sendOptions = {}) => pool.send(envelope, raw, sendOptions),
    close: ({ timeoutMs = CLOSE_TIMEOUT_MS } = {}) => pool.close(timeoutMs),
    isClosed: () => pool.isClosed(),
  };
}
