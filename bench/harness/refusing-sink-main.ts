import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SENDER_REFUSALS } from './sender-refusals.ts';

/**
 * Relays in front of simulated providers, one provider for each domain of recipients. They always refuse recipients
 * whose address begins with `dead`. On demand they refuse with many kinds of replies about the sender: all email for
 * one domain at one stage (rcpt, data, content), or all email at the first relay before it knows a recipient (greeting,
 * ehlo, mail). `POST /<stage>/<domain>` begins the refusals, `POST /none` ends them, `GET /?speed=<domain>` says what
 * came and how fast.
 */

const CONTENT_END = '\r\n.\r\n';
const RELAYS = 3;
const STAGES = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'content', 'none'] as const;
type Stage = (typeof STAGES)[number];

/** The share of emails from whose arrival the speed is calculated; the last ones were deferred by a refusing relay. */
const SPEED_PART = 0.99;

let refusing: { stage: Stage; domain: string } = { stage: 'none', domain: '' };
/** When emails arrived, in order, by domain. */
let arrivals = new Map<string, number[]>();
let refusedAt: number[] = [];
let turn = 0;

const domainOf = (recipient: string): string => recipient.slice(recipient.lastIndexOf('@') + 1);

function refuse(): string {
  refusedAt.push(Date.now());
  return `${SENDER_REFUSALS[turn++ % SENDER_REFUSALS.length]}\r\n`;
}

/** The refusal at a stage; undefined when it is passed. */
function refusalAt(stage: Stage, recipient: string): string | undefined {
  return refusing.stage === stage && domainOf(recipient) === refusing.domain ? refuse() : undefined;
}

/** The refusal of the first relay, before it knows the recipient. */
function earlyRefusal(stage: Stage, relay: number): string | undefined {
  return refusing.stage === stage && relay === 0 ? refuse() : undefined;
}

function accept(recipient: string): string {
  const domain = domainOf(recipient);
  const times = arrivals.get(domain);
  if (times) times.push(Date.now());
  else arrivals.set(domain, [Date.now()]);
  return '250 2.0.0 Ok\r\n';
}

function serve(socket: Socket, relay: number): void {
  let rest = '';
  let recipient = '';
  let hasSender = false;
  let isInContent = false;

  function answer(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return earlyRefusal('ehlo', relay) ?? '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
      case 'HELO':
        return earlyRefusal('ehlo', relay) ?? '250 sink\r\n';
      case 'MAIL': {
        const refusal = earlyRefusal('mail', relay);
        recipient = '';
        hasSender = refusal === undefined;
        return refusal ?? '250 2.1.0 Ok\r\n';
      }
      case 'RCPT': {
        if (!hasSender) return '503 5.5.1 Need MAIL first\r\n';
        const named = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
        if (named.startsWith('dead')) return '550 5.1.1 No such user\r\n';
        const refusal = refusalAt('rcpt', named);
        if (refusal === undefined) recipient = named;
        return refusal ?? '250 2.1.5 Ok\r\n';
      }
      case 'DATA': {
        if (recipient === '') return '554 5.5.1 No valid recipients\r\n';
        const refusal = refusalAt('data', recipient);
        isInContent = refusal === undefined;
        return refusal ?? '354 Go on\r\n';
      }
      case 'QUIT':
        socket.end('221 2.0.0 Bye\r\n');
        return '';
      default:
        recipient = '';
        return '250 2.0.0 Ok\r\n';
    }
  }

  /** Reads one command or one content. @returns the reply; undefined when the input is not complete */
  function next(): string | undefined {
    const mark = isInContent ? CONTENT_END : '\r\n';
    const end = rest.indexOf(mark);
    if (end === -1) return undefined;
    const line = rest.slice(0, end);
    rest = rest.slice(end + mark.length);
    if (!isInContent) return answer(line);
    isInContent = false;
    return refusalAt('content', recipient) ?? accept(recipient);
  }

  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    rest += chunk;
    let replies = '';
    for (let reply = next(); reply !== undefined; reply = next()) replies += reply;
    if (replies !== '' && socket.writable) socket.write(replies);
  });
  const greeting = earlyRefusal('greeting', relay);
  if (greeting === undefined) socket.write('220 sink ESMTP\r\n');
  else socket.end(greeting);
}

/** Emails of the domains that refuse nothing, a second. */
function speedOf(domains: readonly string[]): number {
  const times = domains.flatMap((domain) => arrivals.get(domain) ?? []).sort((a, b) => a - b);
  const count = Math.floor(times.length * SPEED_PART);
  return (count / Math.max(1, (times[count - 1] ?? 0) - (times[0] ?? 0))) * 1_000;
}

const relays: Server[] = Array.from({ length: RELAYS }, (_, relay) =>
  createServer((socket) => serve(socket, relay)).listen(0, '127.0.0.1'),
);
const control = createHttpServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '', 'http://sink.test');
  const [stage, domain = ''] = pathname.slice(1).split('/');
  const wanted = STAGES.find((each) => each === stage);
  if (req.method === 'POST' && wanted !== undefined) {
    refusing = { stage: wanted, domain };
    if (wanted !== 'none') refusedAt = [];
  } else if (req.method === 'DELETE') {
    arrivals = new Map();
    refusedAt = [];
  }
  const speed = speedOf(searchParams.getAll('speed'));
  res.end(JSON.stringify({ speed, refusedAt, kinds: SENDER_REFUSALS.length }));
}).listen(0, '127.0.0.1', () => {
  const portOf = (server: { address: () => unknown }): number => (server.address() as AddressInfo).port;
  console.log(JSON.stringify({ smtpPorts: relays.map(portOf), controlPort: portOf(control) }));
});
