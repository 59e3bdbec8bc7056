import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection with more requests that wait for their turn is closed. */
const WAITING_MAX = 100;

/** Starts a request when the requests before it on its connection have been answered. */
export type InOrder = (req: IncomingMessage, res: ServerResponse, start: () => void) => void;

/**
 * Requests that a client sends without waiting for answers (pipelining, RFC 9112 section 9.3.2) are handled one after the
 * other. Node starts all that arrive in one piece in the same turn of the event loop, which can be hundreds.
 */
export function createPipelining(): InOrder {
  const waiting = new WeakMap<Socket, (() => void)[]>();

  function begin(socket: Socket, res: ServerResponse, start: () => void): void {
    res.once('close', () => {
      const next = waiting.get(socket)?.shift();
      // A turn of its own, for answers may take no time.
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
    } else if (queue.length < WAITING_MAX) {
      queue.push(() => begin(socket, res, start));
    } else {
      socket.destroy();
    }
  };
}
