import type { SmtpOutcome } from './message.ts';
import type { SmtpUrgency } from './message-queue.ts';
import type { Source } from './smtp-url.ts';
import type { SmtpPoolLogger } from './server-health.ts';

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
}

export interface RelayState {
  /** `host:port`. */
  label: string;
  source: Source;
  connections: number;
  isDown: boolean;
  /** Whether messages leave this machine unencrypted. */
  isInClear: boolean;
  outcomes: Readonly<Record<SmtpOutcome['kind'], number>>;
}
