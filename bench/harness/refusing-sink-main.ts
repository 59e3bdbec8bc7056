import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * An SMTP server in front of simulated providers, one for each domain of recipients. It refuses recipients whose address
 * begins with `dead`, and on demand whatever is for one domain, at one stage, with many kinds of replies that are about the
 * sender. `POST /<stage>/<domain>` begins that, `POST /none` ends it, `GET /` tells what came.
 */

const CONTENT_END = '\r\n.\r\n';
const WORDS = [
  'Your address is on a blocklist',
  'Service unavailable; client host blocked using a list',
  'Relaying denied',
  'Access denied by local policy',
  'Sender address rejected: not authorized',
  'The sending server has a poor reputation',
  'Message rejected due to SPF failure',
  'Unauthenticated email is not accepted due to the DMARC policy of the domain',
  'DKIM signature did not verify',
  'Reverse DNS of the client does not resolve',
  'Message rejected as spam',
  'The content of this message looks like spam',
  'Message contains a virus',
  'Message size exceeds the limit of this server',
  'Too much spam from your network',
  'Your IP is temporarily deferred due to user complaints',
  'Connections from your host are not accepted',
  'Blocked by the policy of the recipient domain',
  'The sender domain is not allowed here',
  'Suspicious traffic from your server',
];
const CODES = ['550 5.7.1', '554 5.7.1', '550 5.7.0'];
const REPLIES = CODES.flatMap((code) => WORDS.map((words) => `${code} ${words}\r\n`));
const STAGES = ['rcpt', 'data', 'content', 'none'] as const;
type Stage = (typeof STAGES)[number];

interface Arrivals {
  accepted: number;
  firstAt: number;
  lastAt: number;
}

let refusing: { stage: Stage; domain: string } = { stage: 'none', domain: '' };
let arrivals = new Map<string, Arrivals>();
let refusedAt: number[] = [];
let turn = 0;

const domainOf = (recipient: string): string => recipient.slice(recipient.lastIndexOf('@') + 1);

/** The refusal at a stage; undefined when it is passed. */
function refusalAt(stage: Stage, recipient: string): string | undefined {
  if (refusing.stage !== stage || domainOf(recipient) !== refusing.domain) return undefined;
  refusedAt.push(Date.now());
  return REPLIES[turn++ % REPLIES.length];
}

function accept(recipient: string): string {
  const domain = domainOf(recipient);
  const known = arrivals.get(domain) ?? { accepted: 0, firstAt: Date.now(), lastAt: 0 };
  arrivals.set(domain, { ...known, accepted: known.accepted + 1, lastAt: Date.now() });
  return '250 2.0.0 Ok\r\n';
}

function serve(socket: Socket): void {
  let rest = '';
  let recipient = '';
  let isInContent = false;

  function answer(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
      case 'RCPT': {
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

  /** Takes one command or one content off the octets. @returns undefined when it is not complete */
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
  socket.write('220 sink ESMTP\r\n');
}

const smtp = createServer(serve).listen(0, '127.0.0.1');
const control = createHttpServer((req, res) => {
  const [stage, domain = ''] = (req.url ?? '').slice(1).split('/');
  const wanted = STAGES.find((each) => each === stage);
  if (req.method === 'POST' && wanted !== undefined) {
    refusing = { stage: wanted, domain };
    if (wanted !== 'none') refusedAt = [];
  } else if (req.method === 'DELETE') {
    arrivals = new Map();
    refusedAt = [];
  }
  res.end(JSON.stringify({ providers: Object.fromEntries(arrivals), refusedAt, kinds: REPLIES.length }));
}).listen(0, '127.0.0.1', () => {
  const portOf = (server: { address: () => unknown }): number => (server.address() as AddressInfo).port;
  console.log(JSON.stringify({ smtpPort: portOf(smtp), controlPort: portOf(control) }));
});
