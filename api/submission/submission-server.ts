import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { LIMITS } from '../../shared/pure/limits.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { listenFault } from '../../shared/platform/listen-fault.ts';
import { createGuestLimits, type GuestLimits } from '../../shared/platform/smtp/guest-limits.ts';
import {
  guardConnections,
  type ConnectionGuard,
  type ServedConnection,
} from '../../shared/platform/smtp/connection-guard.ts';
import type { ConnectionBounds } from '../../shared/platform/smtp/connection-watch.ts';
import { openTls, tlsFilesOf, type ReloadedTls } from '../../shared/platform/smtp/tls-identity.ts';
import { createSubmissionQueue } from '../../shared/domain/emails/submission-queue.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { isLoopback } from '../../shared/sending/transport/smtp-url.ts';
import type { SharedParts } from '../app.ts';
import type { ApiDeps } from '../http/context.ts';
import { createLogins, LOG_IN_FIRST, type Logins } from './logins.ts';
import { isRefusal, refusal, refusalOf, TRY_LATER } from './refusals.ts';
import { createSessions, type Sessions } from './submission-session.ts';

export interface Submission {
  /** The ports that listen; undefined for one that is off. */
  readonly port: number | undefined;
  readonly tlsPort: number | undefined;
  /** Accepts no new connections, ends idle ones, and waits briefly for messages under way. */
  close: () => Promise<void>;
}

export interface SubmissionDeps extends Pick<ApiDeps, 'config' | 'orm' | 'logger'>, SharedParts {
  /** For tests. */
  bounds?: Partial<ConnectionBounds>;
  wrongKeyMs?: number;
}

const CONNECTIONS_MAX = 500;
/** All sockets, including those being refused or closed. */
const SOCKETS_MAX = 2 * CONNECTIONS_MAX;
/** Connections per minute of a client that has not logged in. */
const UNITS_PER_MINUTE = 120;
/** RFC 5321 section 4.5.3.2 has servers wait for five minutes. */
const IDLE_MS = 300_000;
const CLOSE_MS = 10_000;
const WRONG_KEY_MS = 1_000;
const MESSAGE_MARGIN_BYTES = 1024 * 1024;

/** @param bytesMax the largest message */
function boundsFor(bytesMax: number): ConnectionBounds {
  return {
    recipientWaitMs: IDLE_MS,
    messageMs: 15 * 60_000,
    connectionMs: 60 * 60_000,
    guestConnectionMs: 60_000,
    commandOctets: 64 * 1024,
    messageOctets: bytesMax + MESSAGE_MARGIN_BYTES,
    replies: LIMITS.recipients + 500,
    checkMs: 1_000,
  };
}

/** Answers a command with its result, or with its refusal. */
function answer<Result>(
  logger: Logger,
  work: () => Result | Promise<Result>,
  callback: (error?: Error | null, result?: Result) => void,
): void {
  Promise.resolve()
    .then(work)
    .then(
      (result) => callback(null, result),
      (error: unknown) => {
        const known =
          (error as NodeJS.ErrnoException).code === 'ECONNECTION' ? refusal(451, TRY_LATER) : refusalOf(error);
        if (!isRefusal(error)) logger[known ? 'debug' : 'error']({ err: error }, 'a submitted message is refused');
        callback(known ?? refusal(451, TRY_LATER));
      },
    );
}

/** A text that begins with an enhanced status code (RFC 3463). The server would write one before it. */
const HAS_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/** Keys cross a network only encrypted. In clear, a login is neither offered nor read, except on this machine. */
function guardLogin(connection: ServedConnection): void {
  const mayLogIn = () => connection.secure || isLoopback(connection.remoteAddress);
  const send = connection.send.bind(connection);
  connection.send = (code, data, context) => {
    const isOffer = (line: unknown) => typeof line === 'string' && line.startsWith('AUTH ') && !mayLogIn();
    const shown = Array.isArray(data) ? data.filter((line) => !isOffer(line)) : data;
    send(code, shown, typeof data === 'string' && HAS_ENHANCED_CODE.test(data) ? false : context);
  };
  const logIn = connection.handler_AUTH.bind(connection);
  connection.handler_AUTH = (command, callback) => {
    if (mayLogIn()) return logIn(command, callback);
    connection.send(538, '5.7.11 Begin TLS before you log in: the password is a key');
    callback();
  };
}

interface Listening {
  variable: 'SUBMISSION_PORT' | 'SUBMISSION_TLS_PORT';
  port: number;
  tls: ReloadedTls | undefined;
}

/** What the listeners of a process share. */
interface Shared {
  config: Config;
  logger: Logger;
  limits: GuestLimits;
  logins: Logins;
  sessions: Sessions;
  bounds: ConnectionBounds;
}

function createServer({ variable, tls }: Listening, shared: Shared, guard: () => ConnectionGuard): SMTPServer {
  const { config, logger, logins, sessions } = shared;

  /** Uses a renewed certificate from the next connection on. */
  async function renewCertificate(): Promise<void> {
    const renewed = await tls?.renewed();
    if (renewed) server.updateSecureContext({ ...renewed });
  }

  const server = new SMTPServer({
    name: new URL(config.publicUrl).hostname,
    banner: 'Everpost',
    secure: variable === 'SUBMISSION_TLS_PORT',
    ...tls?.identity,
    minVersion: 'TLSv1.2',
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    authRequiredMessage: LOG_IN_FIRST,
    disabledCommands: ['XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', ...(tls ? [] : ['STARTTLS'])],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    hideDSN: true,
    hideREQUIRETLS: true,
    // The envelope sender is not used: each email gets its own, which names it.
    lenientAddressParsing: true,
    size: config.MESSAGE_MAX_BYTES,
    maxClients: CONNECTIONS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    logger: false,
    onConnect: (_session, callback) => answer(logger, renewCertificate, (error) => callback(error)),
    onAuth(auth, session, callback) {
      const logIn = () => logins.logIn(auth, session);
      answer(logger, logIn, (error) => (error ? callback(asLoginFault(error)) : callback(null, { user: session.id })));
    },
    onMailFrom(address, session, callback) {
      answer(
        logger,
        () => sessions.beginMessage(address, session),
        (error) => callback(error),
      );
    },
    onRcptTo(address, session, callback) {
      const add = () => {
        sessions.addRecipient(address, session);
        guard().recipientAccepted(session.id);
      };
      answer(logger, add, (error) => callback(error));
    },
    onData(stream, session, callback) {
      const onRead = () => guard().messageEnded(session.id);
      answer(logger, () => sessions.takeMessage(stream, session, onRead), callback);
    },
    onClose(session) {
      logins.end(session);
      guard().connectionClosed(session.id);
    },
  });
  server.on('error', (error: Error) => logger.debug({ reason: error.message }, 'a connection for submission failed'));
  return server;
}

/** A login that cannot be checked now has a code of its own (RFC 4954 section 6). */
function asLoginFault(error: Error): Error {
  return 'responseCode' in error && error.responseCode === 451 ? refusal(454, `4.7.0${error.message.slice(5)}`) : error;
}

/** Ends a connection without a message under way; others end when they have their reply. */
function endIdle({ connections }: SMTPServer): void {
  for (const connection of connections) {
    if (!connection.session.envelope.mailFrom) connection.send(421, '4.3.2 Everpost is stopping, connect again');
  }
}

async function listen(listening: Listening, shared: Shared) {
  const { config, logger, limits, bounds } = shared;
  const server = createServer(listening, shared, () => guard);
  const guard = guardConnections({
    server,
    limits,
    bounds,
    socketsMax: SOCKETS_MAX,
    proxySources: [],
    onServed: guardLogin,
    onRefused: (reason) => logger.debug({ reason }, 'a connection for submission was refused'),
  });
  server.listen(listening.port, config.HOST);
  await once(server.server, 'listening').catch((error: unknown) => {
    throw listenFault(error, listening.variable, config.HOST, listening.port);
  });
  const { port } = server.server.address() as AddressInfo;
  logger.info({ port, tls: listening.tls !== undefined }, 'listening for submission by SMTP');
  return {
    port,
    close: () =>
      new Promise<void>((resolve) => {
        guard.close();
        server.close(() => resolve());
        endIdle(server);
      }),
  };
}

/**
 * Starts to listen for programs that send by SMTP (RFC 6409), on the ports that the configuration names. A message is
 * stored with an email for each recipient before it is accepted. Nobody sends without a key.
 * @throws ConfigError when the files for TLS cannot be used
 */
export async function startSubmission(deps: SubmissionDeps): Promise<Submission> {
  const { config, orm, load, logger } = deps;
  const { SUBMISSION_PORT: port, SUBMISSION_TLS_PORT: tlsPort } = config;
  const files = tlsFilesOf(config, 'SUBMISSION');
  const tls = files && (await openTls({ listener: 'SUBMISSION', files, logger }));
  const writes = { em: () => orm.em.fork(), slots: load.slots };
  const limits = createGuestLimits({ unitsPerMinute: UNITS_PER_MINUTE, connectionsMax: CONNECTIONS_MAX });
  const logins = createLogins({ ...deps, limits, wrongKeyMs: deps.wrongKeyMs ?? WRONG_KEY_MS });
  const sessions = createSessions({
    config,
    load,
    logins,
    queue: createSubmissionQueue({ ...writes, links: linkSignerOf(config), ttlHours: config.IDEMPOTENCY_TTL_HOURS }),
  });
  const bounds = { ...boundsFor(config.MESSAGE_MAX_BYTES), ...deps.bounds };
  const shared = { config, logger, limits, logins, sessions, bounds };
  const start = async (variable: Listening['variable'], at: number | undefined) =>
    at === undefined ? undefined : listen({ variable, port: at, tls }, shared);
  const [open, secure] = [await start('SUBMISSION_PORT', port), await start('SUBMISSION_TLS_PORT', tlsPort)];
  return {
    port: open?.port,
    tlsPort: secure?.port,
    async close() {
      await Promise.all([open?.close(), secure?.close()]);
    },
  };
}
