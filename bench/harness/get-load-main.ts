import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/**
 * Gets the paths listed in a file, one after the other, over connections that are kept alive, and prints how fast the
 * replies came. It parses only status and length of the replies, so that it costs less than the server.
 */
interface GetLoad {
  url: string;
  /** One path a line. */
  pathsFile: string;
  /** The line to begin with. */
  first: number;
  connections: number;
  durationMs: number;
  /** Sent as a bearer token. */
  key?: string;
}

export interface GetLoadResult {
  requests: number;
  statuses: Record<string, number>;
  elapsedMs: number;
  latencies: number[];
  /** The line to continue with. */
  next: number;
}

const load = JSON.parse(process.argv[2] ?? '') as GetLoad;
const { hostname, port } = new URL(load.url);
const paths = readFileSync(load.pathsFile, 'utf8').trimEnd().split('\n');
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const authorization = load.key === undefined ? '' : `Authorization: Bearer ${load.key}\r\n`;

const statuses: Record<string, number> = {};
const latencies: number[] = [];
let next = load.first;
const startedAt = performance.now();
const until = startedAt + load.durationMs;

/** One request at a time until the time is over or the paths are used up. */
function runConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let sentAt = 0;
    let received = '';
    const send = (): void => {
      const path = paths[next];
      if (performance.now() >= until || path === undefined) {
        socket.destroy();
        resolve();
        return;
      }
      next += 1;
      sentAt = performance.now();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUser-Agent: ${AGENT}\r\n${authorization}\r\n`);
    };
    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < headEnd + 4 + length) return;
      const status = received.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.push(performance.now() - sentAt);
      received = '';
      send();
    });
  });
}

await Promise.all(Array.from({ length: load.connections }, runConnection));
const result: GetLoadResult = {
  requests: latencies.length,
  statuses,
  elapsedMs: performance.now() - startedAt,
  latencies,
  next,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
