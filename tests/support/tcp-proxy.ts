import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  /** The URL given, with the proxy's address in place of the server's. */
  url: string;
  /** Breaks every connection and refuses new ones. */
  cut: () => Promise<void>;
  /** Accepts connections again, on the same port. */
  restore: () => Promise<void>;
  /** Stops forwarding: connections stay open and new ones are accepted, but no data and no end passes through. */
  freeze: () => void;
  /** Forwards again; connections from before or during the freeze are broken. */
  thaw: () => void;
  close: () => Promise<void>;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Starts a proxy for the server of a URL, so that a test can make the server unreachable without stopping it. */
export async function startTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const frozen = new Set<Socket>();
  let isFrozen = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const createProxy = () =>
    createServer((client) => {
      keep(client);
      if (isFrozen) {
        frozen.add(client);
        return;
      }
      const upstream = connect(Number(target.port), target.hostname);
      keep(upstream);
      client.on('close', () => frozen.has(upstream) || upstream.destroy());
      upstream.on('close', () => frozen.has(client) || client.destroy());
      client.pipe(upstream).pipe(client);
    });

  let server = createProxy();
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;

  async function cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: url.href,
    cut,
    async restore() {
      server = createProxy();
      await listen(server, port);
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets) {
        frozen.add(socket);
        socket.unpipe();
        socket.pause();
      }
    },
    thaw() {
      isFrozen = false;
      for (const socket of frozen) socket.destroy();
      frozen.clear();
    },
    close: cut,
  };
}
