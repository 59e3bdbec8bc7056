import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import type { SinkSummary } from './sink.ts';

/**
 * An SMTP server for load tests. It accepts everything, and remembers only how often and when each recipient got a
 * message. It answers whole packets with one write, so that it costs less than its client. When the address of a
 * recipient begins with `broken`, it closes the connection after the content, without an answer. It can answer each
 * content late, as a server far away does. At addresses of 127.0.2.0/24 it takes connections and says nothing, and at
 * those of 127.0.3.0/24 it ends them at once.
 */

const CONTENT_END = Buffer.from('\r\n.\r\n');
const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);
const BROKEN_RECIPIENT = /^broken/;
const GREETING = '220 sink ESMTP\r\n';
const CAPABILITIES = '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 104857600\r\n';

interface Arrival {
  count: number;
  /** Of the first message, in milliseconds since 1970 with fractions. */
  firstAt: number;
}

let arrivals = new Map<string, Arrival>();
let messages = 0;
let bytes = 0;
/** How long the answer to a content takes, in milliseconds. */
let latencyMs = 0;

function accept(recipient: string): void {
  const known = arrivals.get(recipient);
  if (known) known.count += 1;
  else arrivals.set(recipient, { count: 1, firstAt: performance.timeOrigin + performance.now() });
}

function serve(socket: Socket): void {
  let rest = NOTHING;
  let recipients: string[] = [];
  let isInContent = false;
  /** Answers that come late, one after another; undefined while none does. */
  let late: Promise<void> | undefined;

  function send(replies: string): void {
    if (replies !== '' && socket.writable) socket.write(replies, 'latin1');
  }

  /** Sends replies in their order, after `waitMs`. */
  function sendAfter(waitMs: number, replies: string): void {
    if (late === undefined && waitMs === 0) {
      send(replies);
      return;
    }
    const turn: Promise<void> = (late ?? Promise.resolve())
      .then(() => delay(waitMs))
      .then(() => {
        send(replies);
        if (late === turn) late = undefined;
      });
    late = turn;
  }

  function answer(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return CAPABILITIES;
      case 'RCPT':
        recipients.push(line.slice(line.indexOf('<') + 1, line.indexOf('>')));
        return '250 2.1.5 Ok\r\n';
      case 'DATA':
        isInContent = true;
        return '354 Go on\r\n';
      case 'QUIT':
        socket.end('221 2.0.0 Bye\r\n');
        return '';
      default:
        recipients = [];
        return '250 2.0.0 Ok\r\n';
    }
  }

  socket.on('error', () => undefined);
  if (socket.localAddress?.startsWith('127.0.2.')) return;
  if (socket.localAddress?.startsWith('127.0.3.')) return void socket.resetAndDestroy();
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let position = 0;
    let replies = '';
    for (;;) {
      if (isInContent) {
        const end = buffer.indexOf(CONTENT_END, position);
        if (end === -1) {
          position = Math.max(position, buffer.length - CONTENT_END.length + 1);
          break;
        }
        position = end + CONTENT_END.length;
        isInContent = false;
        if (recipients.some((recipient) => BROKEN_RECIPIENT.test(recipient))) return void socket.destroy();
        messages += 1;
        for (const recipient of recipients) accept(recipient);
        recipients = [];
        if (latencyMs > 0) {
          sendAfter(0, replies);
          sendAfter(latencyMs, '250 2.0.0 Ok\r\n');
          replies = '';
        } else replies += '250 2.0.0 Ok\r\n';
      } else {
        const end = buffer.indexOf(LINE_FEED, position);
        if (end === -1) break;
        replies += answer(buffer.toString('latin1', position, end));
        position = end + 1;
      }
    }
    rest = position === buffer.length ? NOTHING : Buffer.from(buffer.subarray(position));
    sendAfter(0, replies);
  });
  socket.write(GREETING);
}

function summary(): SinkSummary {
  let duplicates = 0;
  for (const { count } of arrivals.values()) duplicates += count - 1;
  return { messages, recipients: arrivals.size, duplicates, bytes };
}

const control = createHttpServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (pathname === '/latency') latencyMs = Number(searchParams.get('ms'));
  else if (request.method === 'POST') {
    arrivals = new Map();
    messages = 0;
    bytes = 0;
  }
  const body = pathname === '/arrivals' ? [...arrivals].map(([to, { firstAt }]) => [to, firstAt]) : summary();
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
});
const smtp = createServer(serve);
// Every address of the loopback interface, so that it can stand for many hosts.
smtp.listen({ port: 0, host: '0.0.0.0', backlog: 1024 }, () => {
  control.listen(0, '127.0.0.1', () => {
    const [smtpPort, controlPort] = [smtp, control].map((server) => (server.address() as AddressInfo).port);
    process.stdout.write(`${JSON.stringify({ smtpPort, controlPort })}\n`);
  });
});
