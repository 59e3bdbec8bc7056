import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SMTPServer } from 'smtp-server';
import { createNetworkTest } from '../client-address.ts';
import type { GuestLimits } from './guest-limits.ts';
import { createConnectionQueue, type ClientConnection, type ConnectionQueue } from './connection-queue.ts';
import { createConnectionWatch, type ConnectionBounds, type ConnectionWatch } from './connection-watch.ts';
import { takeProxyHeader } from './proxy-header.ts';

/** A connection of the server, which exports no name for it. */
export type ServedConnection = SMTPServer['connections'] extends Set<infer Connection> ? Connection : never;

export interface ConnectionGuardOptions {
  server: SMTPServer;
  limits: GuestLimits;
  /** All sockets, including those being refused or closed. */
  socketsMax: number;
  /** Forwarders whose connections begin with a PROXY header; networks in CIDR notation. */
  proxySources: readonly string[];
  bounds: ConnectionBounds;
  onRefused: (reason: string) => void;
  /** Sees each connection before its greeting. */
  onServed?: (connection: ServedConnection) => void;
}

/** The resources that the steps of an admission share. */
interface Admission {
  server: SMTPServer;
  limits: GuestLimits;
  watch: ConnectionWatch;
  queue: ConnectionQueue;
  /** All sockets, including those being refused or closed. */
  sockets: Set<Socket>;
  isForwarder: (address: string) => boolean;
  onServed: ((connection: ServedConnection) => void) | undefined;
}

const STARTS_TLS = 220;
/** How long a refusal may take to reach its client. */
const REFUSAL_LINGER_MS = 1_000;
const TOO_MANY = '421 4.7.0 Too many connections, try again later\r\n';

function refuse(socket: Socket): void {
  socket.end(TOO_MANY);
  setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS).unref();
}

/**
 * Admits or refuses a connection.
 * @returns false when the connection must wait for a place
 */
function admit(admission: Admission, { socket, address, port }: ClientConnection): boolean {
  const { server, limits, watch } = admission;
  const verdict = limits.enter(address);
  if (verdict === 'full') return false;
  if (verdict === 'refused') {
    refuse(socket);
    return true;
  }
  const id = randomBytes(10).toString('hex');
  watch.add(id, socket, address);
  socket.once('close', () => release(admission, id));
  server.connect(socket, { id, remoteAddress: address, remotePort: port });
  const connection = [...server.connections].find((each) => each.id === id);
  if (connection) {
    watchReplies(admission, connection);
    admission.onServed?.(connection);
  }
  return true;
}

/** Gives back the place of a connection, once. */
function release(admission: Admission, id: string): void {
  const closed = admission.watch.remove(id);
  if (!closed) return;
  admission.sockets.delete(closed.socket);
  admission.limits.leave(closed.address);
  admitWaiting(admission);
}

/** Replies to commands that came together leave together (RFC 2920 section 3.2). Nothing may follow the one to STARTTLS. */
function sendTogether({ _socket: socket }: ServedConnection, code: number): void {
  if (code === STARTS_TLS) socket.uncork();
  else if (socket.writableCorked === 0) {
    socket.cork();
    setImmediate(() => socket.uncork());
  }
}

/** Ends a connection that goes on with commands and completes no message, such as thousands of NOOP. */
function watchReplies({ watch }: Admission, connection: ServedConnection): void {
  const send = connection.send.bind(connection);
  let isEnded = false;
  connection.send = (...reply) => {
    if (isEnded) return;
    sendTogether(connection, reply[0]);
    isEnded = !watch.countReply(connection.id);
    if (isEnded) send(421, '4.7.0 Too many commands without a message', false);
    else send(...reply);
  };
}

function admitWaiting(admission: Admission): void {
  admission.queue.admit((connection) => admit(admission, connection));
}

function admitOrWait(admission: Admission, connection: ClientConnection): void {
  if (!admit(admission, connection) && !admission.queue.add(connection)) refuse(connection.socket);
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}

/** How long the handshake of a connection that begins with TLS may take. */
const HANDSHAKE_MS = 10_000;

/** Makes TLS of a connection (RFC 8314 section 3.3). @throws when the handshake fails or takes too long */
function secured(server: SMTPServer, socket: Socket): Promise<TLSSocket> {
  const tls = new TLSSocket(socket, { isServer: true, secureContext: server.secureContext.get('*') });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the TLS handshake took too long')), HANDSHAKE_MS);
    const end = (error?: Error) => {
      clearTimeout(timer);
      reject(error ?? new Error('the TLS handshake was broken off'));
    };
    tls.on('error', end).once('close', () => end());
    tls.once('secure', () => {
      clearTimeout(timer);
      resolve(tls);
    });
  });
}

/** Finds the client of a connection, then admits it. */
async function accept(admission: Admission, socket: Socket): Promise<void> {
  const own = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
  const client = (admission.isForwarder(own.address) && (await takeProxyHeader(socket))) || own;
  const { server, sockets } = admission;
  if (socket.destroyed) return;
  if (!server.options.secure) {
    admitOrWait(admission, { socket, ...client });
    return;
  }
  const tls = await secured(server, socket);
  sockets.delete(socket);
  track(sockets, tls);
  admitOrWait(admission, { socket: tls, ...client });
}

function end(server: SMTPServer, id: string, socket: Socket): void {
  const connection = [...server.connections].find((each) => each.id === id);
  if (connection) connection.send(421, '4.4.2 This connection has taken too long or sent too much');
  else socket.destroy();
}

/**
 * Decides which connections reach an SMTP server. It ends those that take too long or send too much, so that no client
 * occupies a place for longer than necessary. It replaces the listener of the server, which does not support limits per
 * client, nor the PROXY protocol version 2.
 */
export function guardConnections(options: ConnectionGuardOptions) {
  const { server, limits, bounds } = options;
  const watch = createConnectionWatch(bounds, limits.hasProof);
  const queue = createConnectionQueue();
  const sockets = new Set<Socket>();
  const isForwarder = createNetworkTest(options.proxySources);
  const admission: Admission = { server, limits, watch, queue, sockets, isForwarder, onServed: options.onServed };

  function onConnection(socket: Socket): void {
    socket.on('error', () => undefined);
    if (sockets.size >= options.socketsMax) {
      socket.destroy();
      return;
    }
    track(sockets, socket);
    accept(admission, socket).catch((error: unknown) => {
      options.onRefused(error instanceof Error ? error.message : String(error));
      socket.destroy();
    });
  }

  const timer = setInterval(() => {
    for (const [id, socket] of watch.overdue()) end(server, id, socket);
    for (const { socket } of queue.takeExpired()) refuse(socket);
  }, bounds.checkMs);
  timer.unref();

  server.server.removeAllListeners('connection');
  server.server.on('connection', onConnection);
  return {
    recipientAccepted(sessionId: string) {
      watch.beginMessage(sessionId);
      admitWaiting(admission);
    },
    /** Notes that a message has been read to its end. */
    messageEnded: (sessionId: string) => watch.endMessage(sessionId),
    /** Notes that a connection was closed. STARTTLS removes all listeners of its socket, so the server has to say it. */
    connectionClosed: (sessionId: string) => release(admission, sessionId),
    close() {
      clearInterval(timer);
      for (const socket of sockets) {
        if (!watch.isServed(socket)) socket.destroy();
      }
    },
  };
}

export type ConnectionGuard = ReturnType<typeof guardConnections>;
