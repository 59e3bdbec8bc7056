import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countDropped, type Strangers } from './strangers.ts';

/** The state of a connection. */
interface Connection {
  /** Requests that are not yet answered. */
  openRequests: number;
  lastResponse: ServerResponse | undefined;
  /** Whether a request on it had a valid key. */
  isProven: boolean;
  /** The connections of its client that have shown no valid key; undefined for a proxy, which has many clients. */
  strangerConnections: Set<Socket> | undefined;
}

export interface ConnectionLimits {
  /** Connections of the process. */
  connectionsMax: number;
  /** How long a connection without a valid key may be idle between requests, in milliseconds. */
  strangerIdleMs: number;
  strangers: Strangers;
}

/** Unanswered requests on one connection; a client that sends more of them ahead is disconnected. */
const PIPELINED_MAX = 8;
/** The share of all connections that one client may have without a valid key. */
const STRANGER_PART = 0.1;
/** One client may always have this many. */
const STRANGER_CONNECTIONS_MIN = 10;
/** How long the rest of an unwanted body is read and dropped, so that the client gets to read the answer. */
const LINGER_MS = 2_000;
/** How slowly an answer may be read: the grace is for every answer, the speed for large ones. */
const ANSWER_GRACE_MS = 30_000;
const ANSWER_BYTES_PER_MS = 50;

const connections = new WeakMap<Socket, Connection>();

/** Notes that a request with a valid key came over a connection. Strangers are clients that have shown none. */
export function proveConnection(socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  connection.isProven = true;
  connection.strangerConnections?.delete(socket);
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
    const timer = setTimeout(() => socket.destroy(), ANSWER_GRACE_MS + socket.writableLength / ANSWER_BYTES_PER_MS);
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

/** The connection to close for a new one; undefined when all of them have a valid key and a request under way. */
function leastWanted(open: ReadonlySet<Socket>): Socket | undefined {
  let stranger: Socket | undefined;
  let idle: Socket | undefined;
  for (const socket of open) {
    const connection = connections.get(socket);
    if (!connection?.isProven) {
      if (!connection?.openRequests) return socket;
      stranger ??= socket;
    } else if (connection.openRequests === 0) idle ??= socket;
  }
  return stranger ?? idle;
}

/**
 * Counts the connections without a valid key by client. When a client has too many, its oldest is closed; a client that
 * floods gets no more.
 * @returns the client's connections with the new one; undefined for a proxy; `refused` for a client that floods
 */
function createStrangerCount({ connectionsMax, strangers }: ConnectionLimits) {
  const perClientMax = Math.max(STRANGER_CONNECTIONS_MIN, Math.floor(connectionsMax * STRANGER_PART));
  const byClient = new Map<string, Set<Socket>>();
  return (socket: Socket): Set<Socket> | undefined | 'refused' => {
    const client = strangers.clientBehind(socket);
    if (client === undefined) return undefined;
    const own = byClient.get(client) ?? new Set();
    const [oldest] = own;
    if (own.size >= perClientMax && oldest) {
      if (strangers.isFlooding(client)) return 'refused';
      oldest.destroy();
      own.delete(oldest);
    }
    byClient.set(client, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0 && byClient.get(client) === own) byClient.delete(client);
    });
    return own;
  };
}

/**
 * Bounds what connections can cost. When there are too many, those without a valid key are closed first, the oldest
 * before the others, so strangers cannot keep out callers with a key.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  /** All connections, the oldest first. */
  const open = new Set<Socket>();
  const countStranger = createStrangerCount(limits);

  function admit(socket: Socket): boolean {
    const strangerConnections = countStranger(socket);
    if (strangerConnections === 'refused') return false;
    if (open.size >= limits.connectionsMax) {
      const unwanted = leastWanted(open);
      if (!unwanted) return false;
      unwanted.destroy();
      open.delete(unwanted);
    }
    open.add(socket);
    connections.set(socket, { openRequests: 0, lastResponse: undefined, isProven: false, strangerConnections });
    socket.once('close', () => open.delete(socket));
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
    connection.openRequests += 1;
    connection.lastResponse = res;
    if (connection.openRequests > PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    res.once('close', () => {
      connection.openRequests -= 1;
      const isIdle = connection.openRequests === 0 && !socket.destroyed;
      if (isIdle && !connection.isProven) socket.setTimeout(limits.strangerIdleMs);
    });
    limitAnswer(socket, res);
    limitRest(socket, req, res);
  });
}
