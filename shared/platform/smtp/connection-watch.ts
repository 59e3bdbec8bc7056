import type { Socket } from 'node:net';

/** Times in milliseconds, sizes in octets. */
export const CONNECTION_BOUNDS = {
  /** From the greeting, or the end of a message, to the next accepted recipient. */
  recipientWaitMs: 60_000,
  /** From the first accepted recipient to the end of the message. */
  messageMs: 120_000,
  /** The whole connection; less for a client that has proved nothing. */
  connectionMs: 10 * 60_000,
  guestConnectionMs: 4 * 60_000,
  /** What a client may send before a recipient is accepted. */
  commandOctets: 64 * 1024,
  /** What a client may send from the first accepted recipient to the end of the message. */
  messageOctets: 4 * 1024 * 1024,
  /**
   * Replies from the greeting, or the end of a message, to the end of the next one. A message may name 100 recipients
   * (RFC 5321 section 4.5.3.1.8), each with a reply.
   */
  replies: 150,
  /** How often the bounds are checked. */
  checkMs: 1_000,
};
export type ConnectionBounds = typeof CONNECTION_BOUNDS;

interface WatchedConnection {
  socket: Socket;
  address: string;
  startedAt: number;
  /** The start of the phase: waiting for a recipient, or for a message. */
  since: number;
  octetsBefore: number;
  /** Replies since the greeting, or since the end of the last message. */
  replies: number;
  isInMessage: boolean;
}

/** Creates a watch for connections, which may last longer when `hasProof` holds for their client. */
export function createConnectionWatch(
  bounds: ConnectionBounds,
  hasProof: (address: string) => boolean,
  now: () => number = () => performance.now(),
) {
  const watched = new Map<string, WatchedConnection>();

  function beginPhase(id: string, isInMessage: boolean): void {
    const connection = watched.get(id);
    if (!connection || (isInMessage && connection.isInMessage)) return;
    Object.assign(connection, { isInMessage, since: now(), octetsBefore: connection.socket.bytesRead });
  }

  function isOverdue(connection: WatchedConnection): boolean {
    const phaseMs = connection.isInMessage ? bounds.messageMs : bounds.recipientWaitMs;
    const phaseOctets = connection.isInMessage ? bounds.messageOctets : bounds.commandOctets;
    const connectionMs = hasProof(connection.address) ? bounds.connectionMs : bounds.guestConnectionMs;
    return (
      now() - connection.since > phaseMs ||
      now() - connection.startedAt > connectionMs ||
      connection.socket.bytesRead - connection.octetsBefore > phaseOctets
    );
  }

  return {
    add(id: string, socket: Socket, address: string) {
      const startedAt = now();
      const octetsBefore = socket.bytesRead;
      watched.set(id, { socket, address, startedAt, since: startedAt, octetsBefore, replies: 0, isInMessage: false });
    },
    /** @returns the connection; undefined when it was removed before */
    remove(id: string): Pick<WatchedConnection, 'socket' | 'address'> | undefined {
      const connection = watched.get(id);
      watched.delete(id);
      return connection;
    },
    /** Notes an accepted recipient. Further ones of the same message do not extend its time. */
    beginMessage: (id: string) => beginPhase(id, true),
    endMessage(id: string) {
      beginPhase(id, false);
      const connection = watched.get(id);
      if (connection) connection.replies = 0;
    },
    /**
     * Counts a reply.
     * @returns false when there were too many without a complete message
     */
    countReply(id: string) {
      const connection = watched.get(id);
      if (!connection) return true;
      connection.replies += 1;
      return connection.replies <= bounds.replies;
    },
    /** The connections that have taken too long or sent too much. */
    overdue: (): [id: string, socket: Socket][] =>
      [...watched].filter(([, each]) => isOverdue(each)).map(([id, { socket }]) => [id, socket]),
    isServed: (socket: Socket) => [...watched.values()].some((each) => each.socket === socket),
  };
}

/** Watches the connections that are served. */
export type ConnectionWatch = ReturnType<typeof createConnectionWatch>;
