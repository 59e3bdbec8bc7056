import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createRankedConnections, RANKS, type Rank, type RankedConnections } from './ranked-connections.ts';
import { readingTimeMs } from './streamed-reply.ts';
import { countDropped, type HttpGuests } from './guests.ts';

/** The state of a connection. */
interface Connection {
  /** Requests that are not yet answered. */
  openRequests: number;
  /** Those of them that have the token of a link. */
  linkRequests: number;
  lastResponse: ServerResponse | undefined;
  /** Starts the requests that came while others were open, in their order. */
  waiting: (() => void)[];
  /** Whether a request on it had a valid key. */
  isProved: boolean;
  /** Whether it waits for the refusal of a request. */
  isRefused: boolean;
  all: RankedConnections;
  /** The connections of its client that have shown no valid key; undefined for a proxy, which has many clients. */
  ofGuest: RankedConnections | undefined;
}

export interface ConnectionLimits {
  /** Connections of the process. */
  connectionsMax: number;
  /** How long a connection without a valid key may be idle between requests, in milliseconds. */
  guestIdleMs: number;
  guests: HttpGuests;
}

/** Unanswered requests on one connection; a client that sends more of them ahead is disconnected. */
const PIPELINED_MAX = 8;
/** The share of all connections that one client may have without a valid key. */
const GUEST_PART = 0.1;
/** One client may always have this many. */
const GUEST_CONNECTIONS_MIN = 10;
/** How long the rest of an unwanted body is read and dropped, so that the client gets to read the answer. */
const LINGER_MS = 2_000;

const connections = new WeakMap<Socket, Connection>();

function rankOf({ isProved, linkRequests, openRequests, isRefused }: Connection): Rank {
  if (linkRequests > 0) return RANKS.proved;
  if (isProved) return openRequests > 0 ? RANKS.proved : RANKS.idleProved;
  if (isRefused) return RANKS.refused;
  return openRequests > 0 ? RANKS.guest : RANKS.idleGuest;
}

/** Notes what has changed about a connection. */
function change(socket: Socket, changes: (connection: Connection) => void): void {
  const connection = connections.get(socket);
  if (!connection) return;
  changes(connection);
  if (socket.destroyed) return;
  const rank = rankOf(connection);
  connection.all.put(socket, rank);
  if (connection.isProved) connection.ofGuest?.delete(socket);
  else connection.ofGuest?.put(socket, rank);
}

/** Notes that a request with a valid key came over a connection, so it is no guest's. */
export function proveConnection(socket: Socket): void {
  change(socket, (connection) => {
    connection.isProved = true;
    if (!connection.lastResponse?.headersSent) connection.lastResponse?.removeHeader('Keep-Alive');
  });
}

/** Keeps a connection open for a request with the token of a link. */
export function keepForLink(socket: Socket, res: ServerResponse): void {
  change(socket, (connection) => (connection.linkRequests += 1));
  res.once('close', () => change(socket, (connection) => (connection.linkRequests -= 1)));
}

/** Notes whether a connection waits for the refusal of a request, after which it is closed. */
export function setRefused(socket: Socket, isRefused: boolean): void {
  change(socket, (connection) => (connection.isRefused = isRefused));
}

/**
 * Starts a request when the requests before it on its connection have been answered. Node would start all of those that
 * a client sends without waiting for answers (pipelining, RFC 9112 section 9.3.2) in one turn of the event loop.
 */
export function startInOrder({ socket }: IncomingMessage, start: () => void): void {
  const connection = connections.get(socket);
  if (connection && connection.openRequests > 1) connection.waiting.push(start);
  else start();
}

/** Whether an answer can be written to a connection without mixing with another answer. */
export function isAnswerable(socket: Socket): boolean {
  const { openRequests = 0, lastResponse } = connections.get(socket) ?? {};
  return socket.writable && (openRequests === 0 || (openRequests === 1 && lastResponse?.headersSent === false));
}

/** Ends a connection whose client does not read its answer. */
function limitAnswer(socket: Socket, res: ServerResponse): void {
  res.once('prefinish', () => {
    // The answer has closed already when its client has left, so nothing would clear the timer.
    if (socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), readingTimeMs(socket.writableLength));
    res.once('close', () => clearTimeout(timer));
  });
}

/** Frees the memory of octets at once. Left to V8, some megabytes of them make it collect the garbage of the whole heap. */
function free(octets: Buffer<ArrayBuffer>): void {
  if (octets.byteLength === octets.buffer.byteLength) octets.buffer.transfer(0);
}

/** Reads and drops the rest of a body after the answer, for a limited time. */
function limitRest(socket: Socket, req: IncomingMessage, res: ServerResponse): void {
  // On `finish`, Node itself would begin to drop the rest, without a limit.
  res.once('prefinish', () => {
    if (req.complete || socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    req.once('close', () => clearTimeout(timer));
    req.on('error', () => undefined);
    // A reader of the body may still hold on to what comes.
    req.unpipe();
    req.removeAllListeners('data');
    req.on('data', (chunk: Buffer<ArrayBuffer>) => {
      if (!countDropped(req, chunk.length)) socket.destroy();
      free(chunk);
    });
    req.resume();
  });
}

/**
 * Closes a connection for a new one when there are too many.
 * @returns false when all of them are wanted more than the new one
 */
function makeRoom(connectionsOf: RankedConnections, max: number): boolean {
  if (connectionsOf.size() < max) return true;
  const unwanted = connectionsOf.leastWanted();
  if (!unwanted) return false;
  unwanted.destroy();
  forget(unwanted);
  return true;
}

function forget(socket: Socket): void {
  const connection = connections.get(socket);
  connection?.all.delete(socket);
  connection?.ofGuest?.delete(socket);
}

/** Creates the function that finds the connections of a new one's client, which have shown no valid key. */
function createGuestConnections(guests: HttpGuests) {
  const byClient = new Map<string, RankedConnections>();
  return (socket: Socket): RankedConnections | undefined => {
    const client = guests.clientBehind(socket);
    if (client === undefined) return undefined;
    const own = byClient.get(client) ?? createRankedConnections();
    byClient.set(client, own);
    socket.once('close', () => {
      own.delete(socket);
      if (own.size() === 0 && byClient.get(client) === own) byClient.delete(client);
    });
    return own;
  };
}

/**
 * Bounds what connections can cost. When there are too many, of all clients or of one without a valid key, those that
 * are wanted least are closed. So guests keep out neither callers with a key nor those who follow a link.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { connectionsMax, guests } = limits;
  const perGuestMax = Math.max(GUEST_CONNECTIONS_MIN, Math.floor(connectionsMax * GUEST_PART));
  const all = createRankedConnections();
  const guestConnectionsOf = createGuestConnections(guests);

  function admit(socket: Socket): boolean {
    const ofGuest = guestConnectionsOf(socket);
    if (ofGuest && !makeRoom(ofGuest, perGuestMax)) return false;
    if (!makeRoom(all, connectionsMax)) return false;
    const noRequests = { openRequests: 0, linkRequests: 0, lastResponse: undefined, waiting: [] };
    connections.set(socket, { ...noRequests, isProved: false, isRefused: false, all, ofGuest });
    change(socket, () => undefined);
    socket.once('close', () => forget(socket));
    return true;
  }

  // Node's own listeners create a parser, so they see only connections that are admitted.
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (admit(socket)) for (const listener of listeners) listener.call(server, socket);
    else socket.destroy();
  });

  server.on('request', (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    if (!connection) return;
    change(socket, () => (connection.openRequests += 1));
    connection.lastResponse = res;
    // Node would say how long connections with a key stay open. A client that believed it would write to a closed one.
    if (!connection.isProved) res.setHeader('Keep-Alive', `timeout=${limits.guestIdleMs / 1_000 - 1}`);
    if (connection.openRequests > PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    res.once('close', () => {
      change(socket, () => (connection.openRequests -= 1));
      const next = connection.waiting.shift();
      // In a turn of its own, because an answer may be there at once.
      if (next) setImmediate(next);
      const isIdle = connection.openRequests === 0 && !socket.destroyed;
      if (isIdle && !connection.isProved) socket.setTimeout(limits.guestIdleMs);
    });
    limitAnswer(socket, res);
    limitRest(socket, req, res);
  });
}
