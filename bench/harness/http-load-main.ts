import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpLoad, HttpLoadResult } from './http-load.ts';

/**
 * Sends the load described in `argv[2]` and prints the result. It writes ready-made octets to sockets and parses only
 * status and length of the replies, so that it costs less than the server.
 */

const NUMBER_WIDTH = 9;
const HEAD_END = Buffer.from('\r\n\r\n');

const load = JSON.parse(process.argv[2] ?? '') as HttpLoad;
const { hostname, port } = new URL(load.url);

const filler = '#'.repeat(NUMBER_WIDTH);
const [before = '', ...after] = load.body.split('{n}');
const bodyLength = Buffer.byteLength([before, ...after].join(filler));
const head = [
  `POST ${load.path} HTTP/1.1`,
  `Host: ${hostname}:${port}`,
  'Content-Type: application/json',
  `Content-Length: ${bodyLength}`,
  ...(load.key === undefined ? [] : [`Authorization: Bearer ${load.key}`]),
  '',
  '',
].join('\r\n');

let nextNumber = load.firstNumber;
const latencies: number[] = [];
const sentAt: [number: number, at: number][] = [];
const statuses: Record<string, number> = {};

class Exchange {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #answered: (() => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  /** Sends one request and waits for its whole reply. */
  async request(): Promise<void> {
    const number = nextNumber++;
    const text = String(number).padStart(NUMBER_WIDTH, '0');
    const startedAt = performance.now();
    if (load.requestsPerSecond !== undefined) sentAt.push([number, performance.timeOrigin + startedAt]);
    await new Promise<void>((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(head + [before, ...after].join(text));
    });
    latencies.push(performance.now() - startedAt);
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const reply = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(reply)?.[1] ?? 0);
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    this.#received = Buffer.alloc(0);
    const status = reply.slice(9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
    this.#answered?.();
  }
}

function open(): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject);
    socket.once('connect', () => resolve(new Exchange(socket)));
  });
}

/** As fast as answers come: each connection sends its next request when it has its reply. */
async function saturate(exchange: Exchange, until: number): Promise<void> {
  while (performance.now() < until) await exchange.request();
}

/** At a fixed speed, whatever the answers: a slow server does not slow the callers down. */
async function pace(exchanges: Exchange[], until: number, perSecond: number): Promise<void> {
  const idle = [...exchanges];
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let count = 0; performance.now() < until; count++) {
    const dueIn = startedAt + (count * 1000) / perSecond - performance.now();
    if (dueIn > 0) await new Promise((resolve) => setTimeout(resolve, dueIn));
    // In turn: a connection that is left alone for seconds is closed by the server.
    const exchange = idle.shift();
    if (!exchange) {
      await Promise.race(running);
      continue;
    }
    const request = exchange.request().finally(() => {
      idle.push(exchange);
      running.delete(request);
    });
    running.add(request);
  }
  await Promise.all(running);
}

if (load.startAt !== undefined) await delay(load.startAt - Date.now());
const exchanges = await Promise.all(Array.from({ length: load.connections }, open));
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const until = startedAt + load.durationMs;
if (load.requestsPerSecond === undefined) await Promise.all(exchanges.map((exchange) => saturate(exchange, until)));
else await pace(exchanges, until, load.requestsPerSecond);
const elapsedMs = performance.now() - startedAt;
const cpu = process.cpuUsage(cpuBefore);
for (const exchange of exchanges) exchange.close();

const result: HttpLoadResult = {
  requests: latencies.length,
  statuses,
  elapsedMs,
  latencies,
  sentAt,
  nextNumber,
  cpuMs: (cpu.user + cpu.system) / 1000,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
