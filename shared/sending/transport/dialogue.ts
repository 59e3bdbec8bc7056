import type { Socket } from 'node:net';
import { Deadline } from './deadline.ts';
import { ConnectionFault, toFault } from './errors.ts';
import { ReplyReader } from './reply-reader.ts';
import { replyCodeOf } from './smtp-reply.ts';

const GREETING = 'the greeting';

interface Waiting {
  /** What the reply answers. */
  command: string;
  resolve: (reply: string) => void;
  reject: (fault: ConnectionFault) => void;
}

/** The commands and replies before the first message, one at a time. */
export class Dialogue {
  readonly socket: Socket;
  readonly #reader = new ReplyReader();
  readonly #deadline = new Deadline(() => this.#fail(new ConnectionFault('ETIMEDOUT', 'the server is silent')));
  #waiting: Waiting | undefined;
  /** What the latest reply answered. */
  #answered = GREETING;
  #fault: ConnectionFault | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', this.#onData);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /**
   * Waits for the greeting, or for the reply to a command.
   * @returns its text, lines joined by `\n`
   * @throws ConnectionFault when none comes in time
   */
  read(timeoutMs: number, command = GREETING): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#fault) {
        reject(this.#fault);
        return;
      }
      this.#waiting = { command, resolve, reject };
      this.#deadline.set(timeoutMs);
    });
  }

  /**
   * Sends a command and waits for the reply.
   * @throws ConnectionFault when no reply comes in time, or one came before the command
   */
  ask(command: string, timeoutMs: number): Promise<string> {
    this.#expectNothing();
    const reply = this.read(timeoutMs, command);
    if (!this.#fault) this.socket.write(`${command}\r\n`);
    return reply;
  }

  /**
   * Releases the socket, paused, to the caller.
   * @throws ConnectionFault when the server has sent a reply without a command
   */
  release(): Socket {
    this.socket.pause();
    this.end();
    this.#expectNothing();
    if (this.#fault) throw this.#fault;
    return this.socket;
  }

  /** Stops listening to the socket. */
  end(): void {
    this.#deadline.end();
    this.socket.off('data', this.#onData);
    this.socket.off('error', this.#onError);
    this.socket.off('close', this.#onClose);
  }

  /**
   * Fails if data came before its command. It is no reply: without TLS somebody else may have inserted it (RFC 3207).
   */
  #expectNothing(): void {
    if (this.#reader.hasRest) this.#fail(new ConnectionFault('EPROTOCOL', 'the server answers before it is asked'));
  }

  /** Whether a reply is more of the one before: some servers greet twice, or answer EHLO in several replies. */
  #isMore(reply: string, waiting: Waiting | undefined): boolean {
    const code = replyCodeOf(reply);
    if (this.#answered === GREETING) return code === 220 && waiting?.command !== GREETING;
    return code === 250 && !waiting && this.#answered.startsWith('EHLO');
  }

  #fail(fault: ConnectionFault): void {
    this.#fault ??= fault;
    this.#deadline.clear();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(fault);
  }

  readonly #onData = (chunk: Buffer): void => {
    const isValid = this.#reader.push(chunk, (reply) => {
      const waiting = this.#waiting;
      if (this.#isMore(reply, waiting)) return true;
      this.#answered = waiting?.command ?? '';
      this.#waiting = undefined;
      this.#deadline.clear();
      if (waiting) waiting.resolve(reply);
      else this.#fail(new ConnectionFault('EPROTOCOL', 'the server answers before it is asked', { response: reply }));
      return true;
    });
    if (!isValid) this.#fail(new ConnectionFault('EPROTOCOL', 'the server sends a reply without an end'));
  };

  readonly #onError = (error: Error): void => this.#fail(toFault(error));

  readonly #onClose = (): void => this.#fail(new ConnectionFault('ECONNECTION', 'the server closed the connection'));
}
