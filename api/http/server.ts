import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type Server,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import { AppError, badRequest } from '../../shared/pure/app-error.ts';
import type { Config } from '../../shared/platform/config.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createLinkReader } from '../feedback/link-requests.ts';
import { isAnswerable, keepForLink, limitConnections, setRefused, startInOrder } from './connections.ts';
import { errorEnvelope } from './error-envelope.ts';
import { createGuestTurns, createHttpGuests, type HttpGuestOptions } from './guests.ts';

/** Request line and headers together. */
const HEADERS_BYTES_MAX = 16 * 1024;
const HEADERS_COUNT_MAX = 200;
const HEADERS_TIMEOUT_MS = 10_000;
/** For a whole request. Bodies have a lowest speed in addition (`json-body.ts`). */
const REQUEST_TIMEOUT_MS = 300_000;
const CHECK_MS = 1_000;
/** Longer than load balancers keep idle connections, so that we never close one on which a request is arriving. */
const KEEP_ALIVE_MS = 65_000;
const GUEST_IDLE_MS = 5_000;
/** How long a request of a flood waits for its refusal, which slows down a client that waits for answers. */
const REFUSAL_DELAY_MS = 500;
const RETRY_AFTER_SECONDS = 1;
/** Refusing these would make a load balancer take the process out of service. In a flood, their answers are late. */
const NEVER_REFUSED = new Set(['/health', '/ready']);

export interface ServerLimits {
  /** The most connections that the process accepts. */
  connectionsMax: number;
  guests: HttpGuestOptions;
}

/** The limits that operators have set, and the links that are not counted against them. */
export function serverLimitsOf(config: Config, logger: Logger): ServerLimits {
  return {
    connectionsMax: config.API_CONNECTIONS_MAX,
    guests: {
      unitsPerSecond: config.API_KEYLESS_RATE_PER_SECOND,
      proxySources: config.API_PROXY_SOURCES,
      emailOfLink: createLinkReader(linkSignerOf(config)),
      onUnnamedProxy: (address) =>
        logger.warn(
          { address },
          'a client sends X-Forwarded-For and is not in API_PROXY_SOURCES; if it is a proxy, all clients behind it share ' +
            'the limits of one',
        ),
    },
  };
}

/** The error for bytes that are not HTTP, or that come too slowly. */
function faultOf(error: NodeJS.ErrnoException): AppError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new AppError('HEADERS_TOO_LARGE');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('REQUEST_TIMEOUT');
  return badRequest('The request is not well-formed HTTP');
}

/** Writes the answer to the socket itself, because there is no request to answer. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!isAnswerable(socket) || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const fault = faultOf(error);
  const requestId = randomUUID();
  const body = JSON.stringify(errorEnvelope(fault, requestId));
  const head = [
    `HTTP/1.1 ${fault.statusCode} ${STATUS_CODES[fault.statusCode] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Refuses a request of a guest that has no units left, and closes its connection. */
function refuseRequest(res: ServerResponse): void {
  const fault = new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'Too many requests without a valid API key from this address',
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Send the header Authorization: Bearer <API_KEY>, or fewer requests',
  });
  const requestId = randomUUID();
  const body = JSON.stringify(errorEnvelope(fault, requestId));
  res.writeHead(fault.statusCode, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestId,
    'Retry-After': RETRY_AFTER_SECONDS,
    Connection: 'close',
  });
  res.end(body);
}

/**
 * Creates the HTTP server of the API, not yet listening. Even bytes that are not HTTP are answered in the error
 * envelope where an answer can be written; otherwise the connection is closed.
 */
export function createHttpServer(app: RequestListener, limits: ServerLimits): Server {
  const server = createServer({
    maxHeaderSize: HEADERS_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The application answers these itself, in the envelope.
    requireHostHeader: false,
  });
  server.maxHeadersCount = HEADERS_COUNT_MAX;
  const guests = createHttpGuests(limits.guests);
  limitConnections(server, { connectionsMax: limits.connectionsMax, guestIdleMs: GUEST_IDLE_MS, guests });
  const inGuestsTurn = createGuestTurns();

  const handle = (req: IncomingMessage, res: ServerResponse, isSecondTry = false): void => {
    const proof = guests.proofOf(req);
    if (proof === 'link') keepForLink(req.socket, res);
    const start = (): void => {
      // Nobody reads the answer when the connection has ended while the request waited.
      if (req.socket.destroyed) return;
      if (guests.accept(req, res, proof)) {
        setRefused(req.socket, false);
        app(req, res);
      } else if (!isSecondTry) {
        setRefused(req.socket, true);
        setTimeout(handle, REFUSAL_DELAY_MS, req, res, true);
      } else if (NEVER_REFUSED.has(req.url ?? '')) app(req, res);
      else refuseRequest(res);
    };
    if (proof !== undefined) start();
    else inGuestsTurn(start);
  };
  server.on('request', (req, res) => startInOrder(req, () => handle(req, res)));
  // The body reader writes `100 Continue`; other expectations need not be met (RFC 9110 section 10.1.1).
  for (const name of ['checkContinue', 'checkExpectation'] as const) {
    server.on(name, (req, res) => server.emit('request', req, res));
  }
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket && guests.acceptFault(socket)) refuseSocket(error, socket);
    else socket.destroy();
  });
  return server;
}
