import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Starts a request when the requests before it on its connection have been answered. */
export type InOrder = (req: IncomingMessage, res: ServerResponse, start: () => void) => void;

/**
 * Handles requests that a client sends without waiting for answers (pipelining, RFC 9112 section 9.3.2) one after the
 * other. Node would start all of them in one turn of the event loop. `limitConnections` bounds their number.
 */
export function createPipelining(): InOrder {
  const waiting = new WeakMap<Socket, (() => void)[]>();

  function begin(socket: Socket, res: ServerResponse, start: () => void): void {
    res.once('close', () => {
      const next = waiting.get(socket)?.shift();
      // In a turn of its own, because an answer may be there at once.
      if (next) setImmediate(next);
      else waiting.delete(socket);
    });
    start();
  }

  return (req, res, start) => {
    const { socket } = req;
    const queue = waiting.get(socket);
    if (!queue) {
      waiting.set(socket, []);
      begin(socket, res, start);
    } else {
      queue.push(() => begin(socket, res, start));
    }
  };
}
