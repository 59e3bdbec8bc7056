import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { SmtpLoad, SmtpLoadResult } from './smtp-load.ts';

/**
 * Sends the load described in `argv[2]` and prints the result. It pipelines the commands of a message, as mail servers
 * do, and parses only the codes of the replies, so that it costs less than the server.
 */

const load = JSON.parse(process.argv[2] ?? '') as SmtpLoad;
let nextNumber = load.firstNumber;
const latencies: number[] = [];
const replies: Record<string, number> = {};

/** A connection that is logged in. */
class Exchange {
  readonly #socket: Socket;
  #received = '';
  #waiting: { lines: number; resolve: (last: string) => void; reject: (error: Error) => void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  /** Writes octets and waits for a number of replies. @returns the last one */
  ask(octets: string, lines: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { lines, resolve, reject };
      if (octets !== '') this.#socket.write(octets);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const complete = this.#received.match(/^\d{3} .*\r\n/gm) ?? [];
    const last = complete.at(-1) ?? '';
    const isOver = last.startsWith('421');
    if (!this.#waiting || (complete.length < this.#waiting.lines && !isOver)) return;
    this.#received = '';
    this.#waiting.resolve(last);
  }
}

async function open(): Promise<Exchange> {
  const exchange = new Exchange(connect(load.port, '127.0.0.1'));
  await exchange.ask('', 1);
  await exchange.ask('EHLO bench.test\r\n', 1);
  const login = Buffer.from(`\0everpost\0${load.key}`).toString('base64');
  const reply = await exchange.ask(`AUTH PLAIN ${login}\r\n`, 1);
  if (!reply.startsWith('235')) throw new Error(reply);
  return exchange;
}

/** Sends messages one after the other, over a new connection when the server ends the last one. */
async function run(until: number): Promise<void> {
  let exchange = await open();
  while (performance.now() < until) {
    const number = String(nextNumber++).padStart(9, '0');
    const startedAt = performance.now();
    const commands = `MAIL FROM:<a@bench.test>\r\nRCPT TO:<reader${number}@example.com>\r\nDATA\r\n`;
    let reply = await exchange.ask(commands, 3);
    if (reply.startsWith('354')) reply = await exchange.ask(load.content.replaceAll('{n}', number), 1);
    if (reply.startsWith('421')) {
      exchange.close();
      exchange = await open();
      continue;
    }
    const kind = reply.startsWith('250') ? '250' : reply.trim();
    replies[kind] = (replies[kind] ?? 0) + 1;
    latencies.push(performance.now() - startedAt);
  }
  exchange.close();
}

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await Promise.all(Array.from({ length: load.connections }, () => run(startedAt + load.durationMs)));
const elapsedMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
const result: SmtpLoadResult = {
  messages: latencies.length,
  replies,
  elapsedMs,
  latencies,
  nextNumber,
  cpuMs: (user + system) / 1000,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
