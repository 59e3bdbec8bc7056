import type { Socket } from 'node:net';

/** What connections are worth, from the one that is closed first for a new one to the one that is never closed. */
export const RANKS = {
  /** It waits for the refusal of a request that is one too many. */
  refused: 0,
  /** It has shown no valid key, and no request is under way. */
  idleGuest: 1,
  guest: 2,
  /** It has shown a valid key, and no request is under way. */
  idleProved: 3,
  /** A request with a valid key, or with the token of a link, is under way. */
  proved: 4,
} as const;
export type Rank = (typeof RANKS)[keyof typeof RANKS];

/** Creates a collection of connections. */
export function createRankedConnections() {
  const rankOf = new Map<Socket, Rank>();
  const byRank = Object.values(RANKS).map(() => new Set<Socket>());

  function remove(socket: Socket): void {
    const rank = rankOf.get(socket);
    if (rank === undefined) return;
    byRank[rank]?.delete(socket);
    rankOf.delete(socket);
  }

  return {
    size: (): number => rankOf.size,
    /** Adds a connection, or gives it another rank. */
    put(socket: Socket, rank: Rank) {
      if (rankOf.get(socket) === rank) return;
      remove(socket);
      byRank[rank]?.add(socket);
      rankOf.set(socket, rank);
    },
    delete: remove,
    /** The connection to close for a new one, the one that has had its rank for the longest time; undefined without one. */
    leastWanted(): Socket | undefined {
      for (const sockets of byRank.slice(0, RANKS.proved)) {
        const [first] = sockets;
        if (first) return first;
      }
      return undefined;
    },
  };
}

/** Connections by rank. Each operation takes the same time, however many there are. */
export type RankedConnections = ReturnType<typeof createRankedConnections>;
