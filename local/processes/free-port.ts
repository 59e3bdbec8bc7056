import { createServer } from 'node:net';

/**
 * The first port from `preferred` on that nobody listens on at `host`; 0 lets the system choose.
 * `taken` are ports that were handed out already but are not listened on yet.
 */
export async function findFreePort(
  preferred: number,
  taken: Set<number> = new Set(),
  host = '127.0.0.1',
): Promise<number> {
  if (preferred === 0) {
    const port = await tryListen(0, host);
    if (port === undefined) throw new Error(`No port of ${host} can be opened.`);
    return port;
  }
  for (let port = preferred; port < Math.min(preferred + 200, 65_536); port++) {
    if (taken.has(port)) continue;
    if ((await tryListen(port, host)) !== undefined) {
      taken.add(port);
      return port;
    }
  }
  throw new Error(`No free port between ${preferred} and ${preferred + 199}.`);
}

function tryListen(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
