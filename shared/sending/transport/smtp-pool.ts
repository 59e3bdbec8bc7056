import type { RawMessage } from './data-content.ts';
import type { SmtpEnvelope, SmtpOutcome } from './message.ts';
import { Pool } from './pool.ts';
import { parseSmtpUrl, withUniqueNames } from './smtp-url.ts';
import type { SendOptions, SmtpPoolOptions } from './pool-options.ts';
import type { RelayState } from './relay-state.ts';
import { toWireEnvelope } from './wire-envelope.ts';

export { NoOtherServerError, NoWayError, SmtpUnavailableError, StalePermitError } from './errors.ts';
export type { SendOptions, SmtpPoolOptions } from './pool-options.ts';
export type { RelayState } from './relay-state.ts';
export type { SmtpEnvelope, SmtpOutcome } from './message.ts';
export type { SmtpUrgency } from './message-queue.ts';
export { MESSAGE_MS_MAX } from './reply-timeouts.ts';

export interface SmtpPool {
  /** The number of concurrent calls of `send` with which no connection ever waits for a message. */
  readonly capacity: number;
  /** For metrics: open connections, messages on the wire, messages waiting for a connection. */
  usage(): { connections: number; sending: number; queued: number };
  /** For metrics: the state of each server, and its messages by outcome. */
  relays(): RelayState[];
  /**
   * Sends one message over a connection. When the connections are busy, messages wait, the more urgent first. Each
   * message has its own outcome, whatever happens to its connection: a message under which a fresh connection broke is
   * `interrupted`; a message that did not cause the break is sent over another connection.
   *
   * @throws SmtpUnavailableError (as a rejection) when no server can be connected to
   * @throws NoOtherServerError (as a rejection) when only servers that the message avoids can be connected to
   * @throws NoWayError (as a rejection) when only sources that the message avoids reach the addresses of its mail hosts
   * @throws StalePermitError (as a rejection) when the message waited too long for what its traffic rules let go then
   * @throws Utf8NotOfferedError (as a rejection) when the message needs SMTPUTF8 and the chosen server does not offer it
   */
  send(envelope: SmtpEnvelope, raw: RawMessage, options?: SendOptions): Promise<SmtpOutcome>;
  /** What must be done before it closes, such as storing what was counted of its messages. */
  readonly beforeClose: (() => Promise<void>)[];
  /** Rejects waiting messages, lets those on the wire finish for `timeoutMs` (default 10,000), then cuts the others. */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Whether the pool was closed and sends nothing any more. */
  isClosed(): boolean;
}

/** The message whose content is under way, the one announced behind it, and the one after that. */
export const MESSAGES_PER_CONNECTION_AT_ONCE = 3;
export const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Creates a pool of SMTP connections. Connections are opened when messages need them, reused, and replaced after a
 * number of messages. After a failed connection the server is not tried for 250 ms to 5 s, while the others work on.
 * When no server is left, messages fail at once with an SmtpUnavailableError. A share of the connections is reserved
 * for more urgent messages, see {@link ConnectionShare}.
 *
 * @throws Error when a URL is not an SMTP URL
 */
export function createSmtpPool(options: SmtpPoolOptions): SmtpPool {
  const servers = options.urls.map((url) => ({
    ...(options.connectionTimeoutMs !== undefined && { connectionTimeoutMs: options.connectionTimeoutMs }),
    ...(options.replyTimeoutMs !== undefined && { replyTimeoutMs: options.replyTimeoutMs }),
    ...(options.ehloName !== undefined && { name: options.ehloName }),
    ...parseSmtpUrl(url),
  }));
  const pool = new Pool({ ...options, servers: withUniqueNames(servers) });
  const beforeClose: SmtpPool['beforeClose'] = [];
  return {
    beforeClose,
    capacity: options.maxConnections * MESSAGES_PER_CONNECTION_AT_ONCE,
    usage: () => pool.usage(),
    relays: () => pool.relays(),
    async send(envelope, raw, sendOptions = {}) {
      const wire = toWireEnvelope(envelope);
      return 'kind' in wire ? wire : pool.send(wire, raw, sendOptions);
    },
    async close({ timeoutMs = CLOSE_TIMEOUT_MS } = {}) {
      await Promise.all(beforeClose.splice(0).map((work) => work()));
      await pool.close(timeoutMs);
    },
    isClosed: () => pool.isClosed(),
  };
}
