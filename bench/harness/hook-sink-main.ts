import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A receiver of webhooks. `POST /hook/<number>` accepts one. `POST /dead` makes endpoint 0 never answer, any other
 * `POST` makes it answer again. `GET /` says how many webhooks came and how long after their events, `DELETE /` forgets
 * them.
 */

let received = 0;
let firstAt = 0;
let lastAt = 0;
/** Milliseconds from the event to its arrival. */
let ages: number[] = [];
let isDead = false;

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function report(): object {
  const sorted = ages.toSorted((left, right) => left - right);
  return { received, firstAt, lastAt, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

function take(body: string): void {
  const now = Date.now();
  if (received === 0) firstAt = now;
  received += 1;
  lastAt = now;
  const timestamp = /"timestamp":"([^"]+)"/.exec(body)?.[1];
  if (timestamp !== undefined) ages.push(now - Date.parse(timestamp));
}

const server = createServer((request, response) => {
  const isHook = request.url?.startsWith('/hook/') ?? false;
  if (!isHook) {
    request.resume();
    if (request.method === 'DELETE') [received, ages] = [0, []];
    if (request.method === 'POST') isDead = request.url === '/dead';
    response.setHeader('content-type', 'application/json').end(JSON.stringify(report()));
    return;
  }
  if (isDead && request.url === '/hook/0') {
    request.resume();
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    take(body);
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })));
