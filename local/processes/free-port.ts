import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeFileLock } from './file-lock.ts';

/** One lock file per port that a running process has chosen, for all stacks of a user on this machine. */
const LOCKS_FOLDER = path.join(tmpdir(), `everpost-ports-${process.getuid?.() ?? 'all'}`);

/**
 * The first port from `preferred` on that nobody listens on at `host`; 0 lets the system choose. This process has the
 * port until it ends, so that of two stacks that start at once neither takes the other's.
 */
export async function findFreePort(preferred: number, host = '127.0.0.1'): Promise<number> {
  if (preferred === 0) {
    const port = await tryListen(0, host);
    if (port === undefined) throw new Error(`No port of ${host} can be opened.`);
    return port;
  }
  for (let port = preferred; port < Math.min(preferred + 200, 65_536); port++) {
    if ((await tryListen(port, host)) !== undefined && claim(port)) return port;
  }
  throw new Error(`No free port between ${preferred} and ${preferred + 199}.`);
}

function claim(port: number): boolean {
  const file = path.join(LOCKS_FOLDER, String(port));
  if (!takeFileLock(file)) return false;
  process.once('exit', () => rmSync(file, { force: true }));
  return true;
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
