import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureVersion } from 'node:tls';
import { createTestCertificate, type TestCertificate } from './certificate.ts';

/** The steps at which a relay can fail: the greeting, a command, the content, its end. */
export type RelayStep =
  'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'content' | 'end' | 'rset' | 'quit';

/** What it can do instead of answering. */
export type RelayFault =
  /** Sends nothing more. */
  | 'silence'
  /** Ends the connection in order. */
  | 'close'
  /** Ends it by a reset. */
  | 'reset'
  | '421'
  | '4xx'
  | '5xx'
  /** A line that is no reply. */
  | 'garbage'
  /** A line that has no end. */
  | 'overlong'
  /** A reply of lines without end. */
  | 'endless'
  /** The right answer, and one more. */
  | 'extra'
  /** The right answer, octet by octet, slower than anybody waits. */
  | 'drip';

export interface RelayMoment {
  step: RelayStep;
  /** Counted from 1. */
  connection: number;
  /** The envelope of the message under way. */
  from: string;
  to: string;
}

export interface FaultyRelayOptions {
  /** Called at each step; undefined means no fault. */
  fault?: (moment: RelayMoment) => RelayFault | undefined;
  /** The text of an answer in place of its own, which may end the connection; undefined for its own. */
  says?: (moment: RelayMoment) => { text: string; isLast?: boolean } | undefined;
  /** What EHLO answers, by connection. Default PIPELINING. */
  extensions?: (connection: number, isSecure: boolean) => string[];
  /** Waits before the answer to a content, for all connections one after another: so many milliseconds a message. */
  messageMs?: number;
  /** Waits so many milliseconds before the greeting of each connection. */
  greetingMs?: number;
  /** Where it listens; by default a free port of 127.0.0.1. */
  address?: { host: string; port: number };
  /** The certificate after STARTTLS; by default a new one that signs itself. */
  certificate?: TestCertificate;
  /** The only version of TLS that it speaks; by default those of Node. */
  tlsVersion?: SecureVersion;
  /** Called when a connection begins, offers a message (at RCPT), and is over: at QUIT, or when its client is gone. */
  watch?: (event: RelayEvent) => void;
  /** Waits for this before the answer to a content. */
  beforeReply?: () => Promise<unknown>;
}

export interface RelayEvent {
  kind: 'open' | 'message' | 'over';
  connection: number;
  /** The address of the client. */
  source: string;
  atMs: number;
}

export interface FaultyRelay {
  readonly url: string;
  readonly port: number;
  /** How often the content for each recipient was accepted, also when the answer was lost. */
  deliveries(): ReadonlyMap<string, number>;
  /** How often each recipient was named. */
  attempts(): ReadonlyMap<string, number>;
  connectionCount(): number;
  openConnectionCount(): number;
  close(): Promise<void>;
}

const REPLIES: Record<RelayStep, string> = {
  greeting: '220 relay ESMTP',
  ehlo: '250 relay',
  helo: '250 relay',
  starttls: '220 2.0.0 Go ahead',
  auth: '235 2.7.0 Welcome',
  mail: '250 2.1.0 Ok',
  rcpt: '250 2.1.5 Ok',
  data: '354 Go on',
  content: '',
  end: '250 2.0.0 Queued',
  rset: '250 2.0.0 Ok',
  quit: '221 2.0.0 Bye',
};
const STEPS: Record<string, RelayStep> = {
  EHLO: 'ehlo',
  HELO: 'helo',
  STARTTLS: 'starttls',
  AUTH: 'auth',
  MAIL: 'mail',
  RCPT: 'rcpt',
  DATA: 'data',
  RSET: 'rset',
  QUIT: 'quit',
};
/** Wrong answers after which the conversation may continue. */
const WRONG_REPLIES: Partial<Record<RelayFault, string>> = {
  '4xx': '451 4.3.0 Not now\r\n',
  '5xx': '554 5.7.1 No\r\n',
  garbage: 'HTTP/1.1 200 OK\r\n',
};
const DRIP_MS = 1_000;

/** What all connections of a relay share. */
class Relay {
  readonly options: FaultyRelayOptions;
  readonly deliveries = new Map<string, number>();
  readonly attempts = new Map<string, number>();
  readonly sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #busyUntil = 0;

  constructor(options: FaultyRelayOptions) {
    this.options = options;
  }

  count(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }

  /** Calls `action` when the relay has worked on a message. It works on one message at a time. */
  work(action: () => void): void {
    const { messageMs, beforeReply } = this.options;
    if (beforeReply) {
      void beforeReply().then(action);
      return;
    }
    if (messageMs === undefined) {
      action();
      return;
    }
    const now = performance.now();
    this.#busyUntil = Math.max(this.#busyUntil, now) + messageMs;
    this.later(this.#busyUntil - now, action);
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.sockets) socket.destroy();
  }
}

class RelayConnection {
  readonly #relay: Relay;
  readonly #number: number;
  #socket: Socket;
  #from = '';
  #to = '';
  #hasRecipient = false;
  #state: 'command' | 'content' | 'working' | 'over' = 'command';
  #rest = '';
  /** Whether the answer was given before the end of the content. */
  #isContentDecided = false;
  #isOver = false;
  readonly #source: string;

  constructor(relay: Relay, number: number, socket: Socket) {
    this.#relay = relay;
    this.#number = number;
    this.#socket = socket;
    this.#source = socket.remoteAddress ?? '';
    this.#tell('open');
    socket.once('close', () => this.#tell('over'));
    this.#listen();
    const { greetingMs } = relay.options;
    if (greetingMs === undefined) this.#answer('greeting');
    else relay.later(greetingMs, () => this.#answer('greeting'));
  }

  #tell(kind: RelayEvent['kind']): void {
    if (this.#isOver) return;
    this.#isOver = kind === 'over';
    this.#relay.options.watch?.({ kind, connection: this.#number, source: this.#source, atMs: performance.now() });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (this.#state === 'over') return;
      if (this.#state === 'content' && !this.#isContentDecided) this.#isContentDecided = !this.#answer('content');
      this.#rest += chunk.toString('latin1');
      this.#readLines();
    });
  }

  #readLines(): void {
    for (;;) {
      const end = this.#rest.indexOf('\r\n');
      if (end < 0 || this.#state === 'over' || this.#state === 'working') return;
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      if (this.#state === 'command') this.#takeCommand(line);
      else if (line === '.') this.#takeContent();
    }
  }

  #takeCommand(line: string): void {
    const step = STEPS[line.split(' ', 1)[0]?.toUpperCase() ?? ''];
    if (!step) {
      this.#socket.write('500 5.5.1 What?\r\n');
      return;
    }
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (step === 'mail') [this.#from, this.#to] = [address, ''];
    if (step === 'rcpt') {
      this.#to = address;
      this.#relay.count(this.#relay.attempts, address);
      this.#tell('message');
    }
    if (step === 'quit') this.#tell('over');
    if (step === 'data' && !this.#hasRecipient) {
      this.#socket.write('554 5.5.1 No valid recipients\r\n');
      return;
    }
    const isDone = this.#answer(step);
    if (step === 'mail' || step === 'rcpt') this.#hasRecipient = step === 'rcpt' && isDone;
    if (!isDone) return;
    if (step === 'data') this.#state = 'content';
    if (step === 'quit') this.#socket.end();
    if (step === 'starttls') this.#secure();
  }

  #takeContent(): void {
    if (this.#isContentDecided) {
      this.#isContentDecided = false;
      this.#state = 'command';
      return;
    }
    this.#state = 'working';
    this.#relay.work(() => {
      if (this.#socket.destroyed) return;
      this.#state = 'command';
      const fault = this.#faultAt('end');
      if (fault === undefined || !['421', '4xx', '5xx'].includes(fault)) {
        this.#relay.count(this.#relay.deliveries, this.#to);
      }
      this.#answer('end', fault);
      this.#readLines();
    });
  }

  #secure(): void {
    const raw = this.#socket;
    raw.removeAllListeners('data');
    const { certificate = createTestCertificate('localhost'), tlsVersion: version } = this.#relay.options;
    const only = version && { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    const secureContext = createSecureContext({ ...certificate, ...only });
    this.#socket = new TLSSocket(raw, { isServer: true, secureContext });
    this.#listen();
  }

  #momentOf(step: RelayStep): RelayMoment {
    return { step, connection: this.#number, from: this.#from, to: this.#to };
  }

  #faultAt(step: RelayStep): RelayFault | undefined {
    return this.#relay.options.fault?.(this.#momentOf(step));
  }

  /** Answers a step, with its fault if there is one. @returns whether the step was done */
  #answer(step: RelayStep, fault = this.#faultAt(step)): boolean {
    let text = REPLIES[step] === '' ? '' : `${REPLIES[step]}\r\n`;
    if (step === 'ehlo') {
      const names = this.#relay.options.extensions?.(this.#number, this.#socket instanceof TLSSocket);
      text = [...(names ?? ['PIPELINING']).map((name) => `250-${name}\r\n`), text].join('');
    }
    if (fault !== undefined) return this.#misbehave(fault, text);
    const said = this.#relay.options.says?.(this.#momentOf(step));
    if (said) {
      this.#socket.write(said.text);
      if (said.isLast) this.#socket.end();
      return step === 'data' && said.text.startsWith('354');
    }
    if (text !== '') this.#socket.write(text);
    return true;
  }

  #misbehave(fault: RelayFault, answer: string): boolean {
    const socket = this.#socket;
    const wrongReply = WRONG_REPLIES[fault];
    if (wrongReply !== undefined) {
      socket.write(wrongReply);
      return false;
    }
    if (fault === 'extra') {
      socket.write(answer + answer);
      return true;
    }
    this.#state = 'over';
    if (fault === 'close') socket.end();
    if (fault === '421') socket.end('421 4.3.2 Shutting down\r\n');
    if (fault === 'reset') this.#reset();
    if (fault === 'overlong') this.#flood('x'.repeat(16_384));
    if (fault === 'endless') this.#flood('250-and so on\r\n'.repeat(1_000));
    if (fault === 'drip') this.#drip(answer);
    return false;
  }

  #reset(): void {
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  #drip(text: string): void {
    if (text === '' || this.#socket.destroyed) return;
    this.#socket.write(text.slice(0, 1));
    this.#relay.later(DRIP_MS, () => this.#drip(text.slice(1)));
  }

  #flood(piece: string): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#socket.write(piece, (error) => {
      if (!error) this.#relay.later(0, () => this.#flood(piece));
    });
  }
}

/** A relay that answers as SMTP demands, except at the faults that the options give it. */
export async function createFaultyRelay(options: FaultyRelayOptions = {}): Promise<FaultyRelay> {
  const relay = new Relay(options);
  let connectionCount = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connectionCount += 1;
    relay.sockets.add(socket);
    socket.once('close', () => relay.sockets.delete(socket));
    new RelayConnection(relay, connectionCount, socket);
  });
  server.listen(options.address?.port ?? 0, options.address?.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    deliveries: () => relay.deliveries,
    attempts: () => relay.attempts,
    connectionCount: () => connectionCount,
    openConnectionCount: () => relay.sockets.size,
    async close() {
      relay.end();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
