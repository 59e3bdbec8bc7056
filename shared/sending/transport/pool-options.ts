import type { MessageLimits } from './message.ts';
import type { SmtpUrgency } from './message-queue.ts';
import type { SmtpConnection } from './connect.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import type { Backoff, SmtpPoolLogger } from './server-health.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

export interface SmtpPoolOptions {
  /** One or several servers, see {@link parseSmtpUrl}; connections are spread over them. */
  urls: readonly string[];
  /** The maximum of open connections, over all servers together. */
  maxConnections: number;
  /** From the DNS query to the end of the TLS upgrade, in milliseconds. Default 30,000. */
  connectionTimeoutMs?: number;
  /**
   * The time limit of each reply, the greeting included, in milliseconds. Default 2 to 10 minutes (RFC 5321 section
   * 4.5.3.2).
   */
  replyTimeoutMs?: number;
  /** The number of messages after which a connection is replaced. Default 500. */
  messagesPerConnection?: number;
  /** The idle time after which a connection is closed, in milliseconds. Default 10,000. */
  idleTimeoutMs?: number;
  /** The name in EHLO. Default: the name of this machine. */
  ehloName?: string;
  logger: SmtpPoolLogger;
}

export interface PoolOptions extends Omit<SmtpPoolOptions, 'urls'> {
  servers: readonly SmtpServerOptions[];
  /** Opens a connection; by default `openSmtpConnection`. */
  open?: (server: SmtpServerOptions, signal: AbortSignal) => Promise<SmtpConnection>;
  /** What this pool and others together may open. */
  budget?: ConnectionBudget;
  backoff?: Backoff;
}

export interface SendOptions {
  /**
   * Removes a waiting message from the queue: the promise rejects with the reason of the signal. A message on the wire
   * is not affected.
   */
  signal?: AbortSignal;
  /** Default transactional. */
  urgency?: SmtpUrgency;
  /**
   * The message was interrupted or deferred before, so no other message is sent with it, see {@link
   * SmtpMessage.isAlone}.
   */
  isAlone?: boolean;
  /** The labels of servers that must not get the message. */
  avoid?: ReadonlySet<string> | undefined;
  limits?: MessageLimits | undefined;
  /** Called once when the message waits for a server that is silent, however long that takes. */
  onSilence?: () => void;
}
