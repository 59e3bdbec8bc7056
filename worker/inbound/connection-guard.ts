import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { SMTPServer } from 'smtp-server';
import { clientOf, type ClientLimits } from './client-limits.ts';
import { takeProxyHeader } from './proxy-header.ts';

/** Times in milliseconds, sizes in octets. */
export interface ConnectionBounds {
  /** From the greeting, or the end of a message, to the next recipient that is accepted. */
  recipientWaitMs: number;
  /** From the first accepted recipient to the end of the message. */
  messageMs: number;
  /** In all; a client that has proved nothing gets less. */
  connectionMs: number;
  strangerConnectionMs: number;
  /** What a client may send while no recipient is accepted. */
  commandOctets: number;
  /** What a client may send from the first accepted recipient to the end of the message. */
  messageOctets: number;
  /** How often the bounds are checked. */
  checkMs: number;
}

export const CONNECTION_BOUNDS: ConnectionBounds = {
  recipientWaitMs: 60_000,
  messageMs: 120_000,
  connectionMs: 10 * 60_000,
  strangerConnectionMs: 4 * 60_000,
  commandOctets: 64 * 1024,
  messageOctets: 4 * 1024 * 1024,
  checkMs: 1_000,
};

export interface ConnectionGuardOptions {
  server: SMTPServer;
  limits: ClientLimits;
  /** Sockets in all, those that are being refused or closed included. */
  socketsMax: number;
  /** Forwarders whose connections begin with a PROXY header; networks in CIDR notation. */
  proxySources: readonly string[];
  bounds: ConnectionBounds;
  onRefused: (reason: string) => void;
}

export interface ConnectionGuard {
  /** The client of a session named a recipient that mail is taken for. */
  recipientAccepted: (sessionId: string) => void;
  /** A message has been read to its end. */
  messageEnded: (sessionId: string) => void;
  close: () => void;
}

interface Watched {
  socket: Socket;
  address: string;
  startedAt: number;
  /** When the phase began: waiting for a recipient, or a message. */
  since: number;
  octetsBefore: number;
  isInMessage: boolean;
}

/** A connection for which there is no place just now. */
interface Waiting {
  socket: Socket;
  address: string;
  port: number;
  until: number;
}

/** A relay that comes with many connections at once proves itself on the first ones; the others wait so long. */
const PLACE_WAIT_MS = 5_000;
const WAITING_MAX = 150;
const WAITING_PER_CLIENT_MAX = 50;
/** How long a refusal may take to reach its client. */
const REFUSAL_LINGER_MS = 1_000;
const TOO_MANY = '421 4.7.0 Too many connections, try again later\r\n';

function createTrust(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match([network, bits] as never));
  };
}

/**
 * Decides which connections reach an SMTP server and ends those that take too long or send too much, so that no client
 * holds its place for longer than it needs. The server's own listener is replaced: it knows neither clients nor PROXY
 * headers of version 2.
 */
export function guardConnections(options: ConnectionGuardOptions): ConnectionGuard {
  const { server, limits, bounds } = options;
  const isForwarder = createTrust(options.proxySources);
  const sockets = new Set<Socket>();
  const watched = new Map<string, Watched>();
  let waiting: Waiting[] = [];

  function refuse(socket: Socket): void {
    socket.end(TOO_MANY);
    setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS).unref();
  }

  /** False when the connection may wait for a place. */
  function admit({ socket, address, port }: Omit<Waiting, 'until'>): boolean {
    const verdict = limits.enter(address);
    if (verdict === 'full') return false;
    if (verdict === 'refused') {
      refuse(socket);
      return true;
    }
    const id = randomBytes(10).toString('hex');
    const startedAt = performance.now();
    watched.set(id, {
      socket,
      address,
      startedAt,
      since: startedAt,
      octetsBefore: socket.bytesRead,
      isInMessage: false,
    });
    socket.once('close', () => {
      watched.delete(id);
      limits.leave(address);
      admitWaiting();
    });
    server.connect(socket, { id, remoteAddress: address, remotePort: port });
    return true;
  }

  function admitWaiting(): void {
    waiting = waiting.filter((each) => !each.socket.destroyed && !admit(each));
  }

  function admitOrWait(connection: Omit<Waiting, 'until'>): void {
    if (admit(connection)) return;
    const client = clientOf(connection.address);
    const ofClient = waiting.filter((each) => clientOf(each.address) === client).length;
    if (waiting.length >= WAITING_MAX || ofClient >= WAITING_PER_CLIENT_MAX) return refuse(connection.socket);
    waiting.push({ ...connection, until: performance.now() + PLACE_WAIT_MS });
  }

  async function accept(socket: Socket): Promise<void> {
    const [own, port] = [socket.remoteAddress ?? '', socket.remotePort ?? 0];
    if (!isForwarder(own)) {
      admitOrWait({ socket, address: own, port });
      return;
    }
    const client = await takeProxyHeader(socket);
    if (!socket.destroyed) admitOrWait({ socket, ...(client ?? { address: own, port }) });
  }

  function onConnection(socket: Socket): void {
    socket.on('error', () => undefined);
    if (sockets.size >= options.socketsMax) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    accept(socket).catch((error: unknown) => {
      options.onRefused(error instanceof Error ? error.message : String(error));
      socket.destroy();
    });
  }

  function isOverdue(each: Watched, now: number): boolean {
    const phaseMs = each.isInMessage ? bounds.messageMs : bounds.recipientWaitMs;
    const phaseOctets = each.isInMessage ? bounds.messageOctets : bounds.commandOctets;
    const connectionMs = limits.isProven(each.address) ? bounds.connectionMs : bounds.strangerConnectionMs;
    return (
      now - each.since > phaseMs ||
      now - each.startedAt > connectionMs ||
      each.socket.bytesRead - each.octetsBefore > phaseOctets
    );
  }

  function end(id: string, socket: Socket): void {
    const connection = [...server.connections].find((each) => each.id === id);
    if (connection) connection.send(421, '4.4.2 This connection has taken too long or sent too much');
    else socket.destroy();
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const [id, each] of watched) if (isOverdue(each, now)) end(id, each.socket);
    for (const each of waiting) if (each.until < now) refuse(each.socket);
    waiting = waiting.filter((each) => each.until >= now);
  }, bounds.checkMs);
  timer.unref();

  function turn(sessionId: string, isInMessage: boolean): void {
    const each = watched.get(sessionId);
    if (!each || (isInMessage && each.isInMessage)) return;
    Object.assign(each, { isInMessage, since: performance.now(), octetsBefore: each.socket.bytesRead });
  }

  server.server.removeAllListeners('connection');
  server.server.on('connection', onConnection);
  return {
    recipientAccepted(sessionId) {
      turn(sessionId, true);
      admitWaiting();
    },
    messageEnded: (sessionId) => turn(sessionId, false),
    close() {
      clearInterval(timer);
      const served = new Set([...watched.values()].map((each) => each.socket));
      for (const socket of sockets) if (!served.has(socket)) socket.destroy();
    },
  };
}
