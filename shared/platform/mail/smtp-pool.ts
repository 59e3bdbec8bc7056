import { setMaxListeners } from 'node:events';
import type { RawMessage } from './data-content.ts';
import type {
  ConversationError,
  ConversationHooks,
  MessageState,
  SmtpEnvelope,
  SmtpMessage,
  SmtpOutcome,
} from './smtp-conversation.ts';
import { openSmtpSession, SmtpUnavailableError, toUnavailable, type SmtpSession } from './smtp-session.ts';
import { parseSmtpUrl, type SmtpServerOptions } from './smtp-url.ts';
import { toWireAddress, UnsendableAddressError } from './wire-address.ts';

export { SmtpUnavailableError } from './smtp-session.ts';
export type { SmtpEnvelope, SmtpOutcome } from './smtp-conversation.ts';

interface SmtpPoolLogger {
  warn(fields: object, message: string): void;
}

export interface SmtpPoolOptions {
  /** One or several servers, see {@link parseSmtpUrl}; connections are spread over them. */
  urls: readonly string[];
  /** Open connections at most, over all servers together. */
  maxConnections: number;
  /** From the DNS query to the end of the TLS upgrade. Default 30,000. */
  connectionTimeoutMs?: number;
  /** Silence of a server while it owes a reply. Default 300,000 (RFC 5321 §4.5.3.2). */
  replyTimeoutMs?: number;
  /** Messages after which a connection is replaced. Default 500. */
  messagesPerConnection?: number;
  /** Idle time after which a connection is closed. Default 10,000. */
  idleTimeoutMs?: number;
  /** The name given in EHLO; default this machine's. */
  ehloName?: string;
  logger: SmtpPoolLogger;
}

export interface SmtpPool {
  /** Messages to hand over at the same time so that no connection ever waits for one. */
  readonly capacity: number;
  /** For metrics: open connections, messages on the wire, messages waiting for a connection. */
  usage(): { connections: number; sending: number; queued: number };
  /**
   * Hands one message to a server. Callers beyond the capacity wait in line; `signal` takes a waiting one out of it
   * (the promise rejects with the signal's reason) and does nothing to a message on the wire.
   *
   * @throws SmtpUnavailableError (as a rejection) when no server can be reached or the conversation breaks; read
   *   `mayHaveBeenAccepted` before sending again
   */
  send(envelope: SmtpEnvelope, raw: RawMessage, options?: { signal?: AbortSignal }): Promise<SmtpOutcome>;
  /** Refuses what waits, lets what is on the wire finish for `timeoutMs` (default 10,000), then cuts the rest. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

interface Job extends SmtpMessage {
  isRetry: boolean;
  resolve(outcome: SmtpOutcome): void;
  reject(error: unknown): void;
  /** Those that wait under the same signal; only a waiting job is among them. */
  companions: Set<Job> | undefined;
}

interface PoolServer extends SmtpServerOptions {
  /** Sessions open or being opened. */
  sessionCount: number;
  failureCount: number;
  downUntil: number;
}

/** One whose content is under way, one announced behind it, and one to follow when both move up. */
const MESSAGES_PER_CONNECTION_AT_ONCE = 3;
const CONNECTION_TIMEOUT_MS = 30_000;
const REPLY_TIMEOUT_MS = 300_000;
const MESSAGES_PER_CONNECTION = 500;
const IDLE_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 10_000;
const SOCKET_CLOSE_TIMEOUT_MS = 1000;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5000;

function rejectedAddress(stage: 'mail' | 'rcpt', address: string): SmtpOutcome {
  const reply = `The address ${address.slice(0, 320)} cannot be used in an SMTP envelope`;
  return { kind: 'rejected', stage, replyCode: 553, enhancedCode: stage === 'rcpt' ? '5.1.3' : '5.1.7', reply };
}

/** The envelope in ASCII, or the refusal of an address that has no ASCII form. */
function toWireEnvelope(envelope: SmtpEnvelope): SmtpEnvelope | SmtpOutcome {
  let stage: 'mail' | 'rcpt' = 'mail';
  try {
    const from = envelope.from === '' ? '' : toWireAddress(envelope.from);
    stage = 'rcpt';
    return { ...envelope, from, to: toWireAddress(envelope.to) };
  } catch (error) {
    if (error instanceof UnsendableAddressError) {
      return rejectedAddress(stage, stage === 'mail' ? envelope.from : envelope.to);
    }
    throw error;
  }
}

/**
 * Creates a pool of SMTP connections. Connections are opened when messages need them, used again, and replaced after
 * a number of messages. A server that cannot be reached is left alone for 250 ms to 5 s while the others work on;
 * when none is left, messages fail at once with an SmtpUnavailableError.
 *
 * @throws Error when a URL is not an SMTP URL
 */
export function createSmtpPool(options: SmtpPoolOptions): SmtpPool {
  const { maxConnections, logger } = options;
  const messagesPerConnection = options.messagesPerConnection ?? MESSAGES_PER_CONNECTION;
  const idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  const connectionTimeoutMs = options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS;

  const servers: PoolServer[] = options.urls.map((url) => {
    const server = parseSmtpUrl(url);
    const connection = {
      connectionTimeout: connectionTimeoutMs,
      greetingTimeout: connectionTimeoutMs,
      dnsTimeout: connectionTimeoutMs,
      socketTimeout: options.replyTimeoutMs ?? REPLY_TIMEOUT_MS,
      socketCloseTimeout: SOCKET_CLOSE_TIMEOUT_MS,
      ...(options.ehloName !== undefined && { name: options.ehloName }),
      ...server.connection,
    };
    return { ...server, connection, sessionCount: 0, failureCount: 0, downUntil: 0 };
  });

  /** Every session that can still carry a message, with its server. */
  const sessions = new Map<SmtpSession, PoolServer>();
  const quitting = new Set<SmtpSession>();
  const idle: { session: SmtpSession; since: number }[] = [];
  const queue = new Set<Job>();
  const retries: Job[] = [];
  /** One listener for a signal, whatever the number of messages that wait under it. */
  const jobsBySignal = new WeakMap<AbortSignal, Set<Job>>();
  const openings = new AbortController();
  setMaxListeners(0, openings.signal);
  let openingCount = 0;
  let sendingCount = 0;
  let latestFailure: SmtpUnavailableError | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  let onDrained: (() => void) | undefined;

  function checkDrained(): void {
    if (onDrained && sessions.size === 0 && quitting.size === 0 && openingCount === 0) {
      onDrained();
    }
  }

  /** Takes a session out of service. */
  function retire(session: SmtpSession, how: 'quit' | 'destroy'): void {
    const server = sessions.get(session);
    if (server) {
      server.sessionCount -= 1;
      sessions.delete(session);
    }
    if (session.isAlive && how === 'quit') {
      quitting.add(session);
      session.quit();
    } else {
      session.destroy();
    }
  }

  function onSessionEnd(session: SmtpSession): void {
    quitting.delete(session);
    if (sessions.has(session)) {
      const index = idle.findIndex((entry) => entry.session === session);
      if (index >= 0) {
        idle.splice(index, 1);
        retire(session, 'destroy');
        pump();
      }
    }
    checkDrained();
  }

  function retireIdle(isDue: (entry: { session: SmtpSession; since: number }) => boolean, how: 'quit' | 'destroy') {
    const due = idle.filter(isDue);
    for (const entry of due) {
      idle.splice(idle.indexOf(entry), 1);
    }
    for (const { session } of due) {
      retire(session, how);
    }
  }

  function sweepIdle(): void {
    idleTimer = undefined;
    const oldest = Date.now() - idleTimeoutMs;
    retireIdle((entry) => entry.since <= oldest, 'quit');
    scheduleSweep();
  }

  function scheduleSweep(): void {
    const first = idle[0];
    if (first && !idleTimer) {
      idleTimer = setTimeout(sweepIdle, Math.max(first.since + idleTimeoutMs - Date.now(), 1));
      idleTimer.unref();
    }
  }

  function pickServer(): PoolServer | undefined {
    const now = Date.now();
    let picked: PoolServer | undefined;
    for (const server of servers) {
      if (server.downUntil <= now && (!picked || server.sessionCount < picked.sessionCount)) {
        picked = server;
      }
    }
    return picked;
  }

  function onOpenFailed(server: PoolServer, error: SmtpUnavailableError): void {
    const now = Date.now();
    latestFailure = error;
    // Connections tried together fail together; that is one failure of the server, not twenty.
    if (server.downUntil <= now) {
      server.failureCount += 1;
      const backoffMs = Math.min(BACKOFF_MS_MIN * 2 ** (server.failureCount - 1), BACKOFF_MS_MAX);
      server.downUntil = now + backoffMs;
      logger.warn({ server: server.label, code: error.code, backoffMs }, `No connection: ${error.message}`);
    }
  }

  async function open(server: PoolServer): Promise<void> {
    openingCount += 1;
    server.sessionCount += 1;
    try {
      const session = await openSmtpSession(server, openings.signal, (opened) => hooksFor(opened, server));
      openingCount -= 1;
      server.failureCount = 0;
      server.downUntil = 0;
      sessions.set(session, server);
      session.wake();
    } catch (error) {
      openingCount -= 1;
      server.sessionCount -= 1;
      if (!closing) {
        onOpenFailed(server, error as SmtpUnavailableError);
        pump();
      }
      checkDrained();
    }
  }

  function nextJob(): Job | undefined {
    const retry = retries.shift();
    if (retry) {
      return retry;
    }
    for (const job of queue) {
      queue.delete(job);
      job.companions?.delete(job);
      return job;
    }
    return undefined;
  }

  function jobsUnder(signal: AbortSignal): Set<Job> {
    const known = jobsBySignal.get(signal);
    if (known) {
      return known;
    }
    const jobs = new Set<Job>();
    jobsBySignal.set(signal, jobs);
    const leave = () => {
      const reason: unknown = signal.reason;
      for (const job of jobs) {
        queue.delete(job);
        job.reject(reason instanceof Error ? reason : new Error('The message is not wanted any more'));
      }
      jobs.clear();
    };
    signal.addEventListener('abort', leave, { once: true });
    return jobs;
  }

  function refuseWaiting(error: SmtpUnavailableError): void {
    for (let job = nextJob(); job; job = nextJob()) {
      job.reject(error);
    }
  }

  /** Gives waiting messages to idle sessions and opens sessions for the rest, as far as both go. */
  function pump(): void {
    while (queue.size + retries.length > 0) {
      const free = idle.pop();
      if (!free) break;
      free.session.wake();
    }
    const waiting = queue.size + retries.length;
    while (openingCount < waiting && sessions.size + openingCount < maxConnections) {
      const server = pickServer();
      if (!server) {
        break;
      }
      void open(server);
    }
    if (waiting > 0 && sessions.size + openingCount === 0) {
      refuseWaiting(latestFailure ?? new SmtpUnavailableError('There is no SMTP server to send to'));
    }
  }

  /** Puts a session that has nothing to do aside, or out of service. */
  function release(session: SmtpSession): void {
    if (!session.isAlive || closing || session.messageCount >= messagesPerConnection) {
      retire(session, 'quit');
      pump();
      checkDrained();
      return;
    }
    idle.push({ session, since: Date.now() });
    scheduleSweep();
  }

  function onFailed(session: SmtpSession, server: PoolServer, job: Job, error: ConversationError, state: MessageState) {
    sendingCount -= 1;
    retire(session, 'destroy');
    if (state.isReused && !job.isRetry && !state.hasContentStarted && !closing) {
      // The server had closed the connection before, so its other idle connections are likely dead as well.
      retireIdle((entry) => sessions.get(entry.session) === server, 'destroy');
      retries.push({ ...job, isRetry: true });
    } else {
      job.reject(toUnavailable(server, error, state.mayHaveBeenAccepted));
    }
  }

  function hooksFor(session: SmtpSession, server: PoolServer): ConversationHooks<Job> & { ended: () => void } {
    return {
      next(isBehindAnother) {
        if (closing || session.messageCount >= messagesPerConnection) return undefined;
        // As long as connections can be had, no message waits behind another.
        if (isBehindAnother && sessions.size < maxConnections) return undefined;
        const job = nextJob();
        if (job) {
          sendingCount += 1;
        }
        return job;
      },
      done(job, outcome) {
        sendingCount -= 1;
        job.resolve(outcome);
      },
      failed(job, error, state) {
        onFailed(session, server, job, error, state);
        pump();
        checkDrained();
      },
      idle: () => release(session),
      ended: () => onSessionEnd(session),
    };
  }

  async function drain(timeoutMs: number): Promise<void> {
    refuseWaiting(new SmtpUnavailableError('The SMTP pool is closed'));
    clearTimeout(idleTimer);
    openings.abort();
    const drained = new Promise<void>((resolve) => {
      onDrained = resolve;
    });
    retireIdle(() => true, 'quit');
    for (const session of sessions.keys()) session.finish();
    checkDrained();
    const timer = setTimeout(() => {
      for (const session of [...sessions.keys(), ...quitting]) {
        session.destroy();
      }
      onDrained?.();
    }, timeoutMs);
    await drained;
    clearTimeout(timer);
  }

  return {
    capacity: maxConnections * MESSAGES_PER_CONNECTION_AT_ONCE,

    usage: () => ({ connections: sessions.size, sending: sendingCount, queued: queue.size + retries.length }),

    send(envelope, raw, { signal } = {}) {
      return new Promise((resolve, reject) => {
        if (closing) {
          throw new SmtpUnavailableError('The SMTP pool is closed');
        }
        signal?.throwIfAborted();
        const wireEnvelope = toWireEnvelope(envelope);
        if ('kind' in wireEnvelope) {
          resolve(wireEnvelope);
          return;
        }
        const companions = signal && jobsUnder(signal);
        const job: Job = { envelope: wireEnvelope, raw, isRetry: false, resolve, reject, companions };
        companions?.add(job);
        queue.add(job);
        pump();
      });
    },

    close({ timeoutMs = CLOSE_TIMEOUT_MS } = {}) {
      // Set before draining starts, for draining releases sessions, which asks for it.
      closing ??= Promise.resolve().then(() => drain(timeoutMs));
      return closing;
    },
  };
}
