import type { Socket } from 'node:net';
import { clientOf } from '../client-address.ts';

/** A connection with the address and port of its client, which may come from a PROXY header. */
export interface ClientConnection {
  socket: Socket;
  address: string;
  port: number;
}

/** How long connections wait. A relay that opens many at once proves itself by the first ones. */
const PLACE_WAIT_MS = 5_000;
const WAITING_MAX = 150;
const WAITING_PER_CLIENT_MAX = 50;

/** Creates an empty queue. */
export function createConnectionQueue(now: () => number = () => performance.now()) {
  let waiting: (ClientConnection & { until: number })[] = [];

  return {
    /**
     * Adds a connection.
     * @returns false when too many wait, in all or of this client
     */
    add(connection: ClientConnection) {
      const client = clientOf(connection.address);
      const ofClient = waiting.filter((each) => clientOf(each.address) === client).length;
      if (waiting.length >= WAITING_MAX || ofClient >= WAITING_PER_CLIENT_MAX) return false;
      waiting.push({ ...connection, until: now() + PLACE_WAIT_MS });
      return true;
    },
    /** Passes each connection to `admit`. Those that it accepts, and those that are closed, leave the queue. */
    admit(admit: (connection: ClientConnection) => boolean) {
      waiting = waiting.filter((each) => !each.socket.destroyed && !admit(each));
    },
    /** Removes and returns the connections that have waited too long. */
    takeExpired(): ClientConnection[] {
      const at = now();
      const expired = waiting.filter((each) => each.until < at);
      waiting = waiting.filter((each) => each.until >= at);
      return expired;
    },
  };
}

/** Connections that wait for a place, the oldest first. */
export type ConnectionQueue = ReturnType<typeof createConnectionQueue>;
