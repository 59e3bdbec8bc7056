import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Makes a server listen.
 * @throws the error of the server, such as EADDRINUSE
 */
export async function listenBeside(server: Server, port: number, host: string) {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** Also ends open connections. */
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A small HTTP server beside the main work of a process, such as the one for metrics. */
export type SideServer = Awaited<ReturnType<typeof listenBeside>>;
