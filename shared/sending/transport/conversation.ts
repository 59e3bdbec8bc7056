import { TLSSocket } from 'node:tls';
import { DATA, mailCommand, rcptCommand, RESET } from './commands.ts';
import type { SmtpCapabilities, SmtpConnection } from './connect.ts';
import { writeContent, type ContentHooks } from './content-writer.ts';
import { Deadline } from './deadline.ts';
import { ConnectionFault, toFault } from './errors.ts';
import type { SmtpMessage, SmtpOutcome, SmtpStage } from './message.ts';
import { ReplyReader } from './reply-reader.ts';
import { ReplyWait } from './reply-wait.ts';
import type { ReplyTimeouts } from './reply-timeouts.ts';
import { parseSmtpReply, printableReply, replyCodeOf } from './smtp-reply.ts';
import { isAboutConnection, oversize, stateOf, type MessageState, type Step, type Transaction } from './transaction.ts';

/**
 * The hooks of a conversation. They must not throw. Only `idle` may call a method of the conversation, and only `quit`.
 */
export interface ConversationHooks<Message extends SmtpMessage> {
  /**
   * Returns the next message; undefined when there is none now. `behind` is the message whose content is being sent, if
   * there is one: then the next message must not have `isAlone`.
   */
  next: (behind: Message | undefined) => Message | undefined;
  done: (message: Message, outcome: SmtpOutcome) => void;
  /** The connection broke before the server decided the message. */
  failed: (message: Message, fault: ConnectionFault, state: MessageState) => void;
  /** No message is under way, and `next` returned none. */
  idle: () => void;
  /** The server is silent about these messages. Called again and again, and `heard` when it goes on. */
  silent: (messages: readonly Message[]) => void;
  heard: () => void;
  /** The conversation is over, on either side; called once, after `failed`. */
  ended: () => void;
}

const SERVICE_CLOSING = 421;
/** RFC 4954 section 6: the server requires another login. That concerns the operator, not the message. */
const LOGIN_REPLY_CODES = new Set([530, 534, 535, 538]);
const QUIT_TIMEOUT_MS = 1_000;

function isPositive(text: string): boolean {
  const code = replyCodeOf(text);
  return code !== undefined && code < 300;
}

/**
 * Sends one message after another over a connection that is set up (greeting, EHLO, TLS and login are done).
 *
 * With PIPELINING (RFC 2920) a message takes one round trip. MAIL FROM, RCPT TO and DATA are sent in one piece with the
 * content of the previous message (section 3.1). So under load each message costs one write and one read. Replies come
 * in the order of the commands, so at most two messages are under way: `current`, whose replies come next, and
 * `following`, which is only announced.
 */
export class Conversation<Message extends SmtpMessage> {
  readonly #socket: SmtpConnection['socket'];
  readonly #capabilities: SmtpCapabilities;
  readonly #timeouts: ReplyTimeouts;
  readonly #hooks: ConversationHooks<Message>;
  readonly #reader = new ReplyReader();
  readonly #deadline: ReplyWait;
  readonly #patience = new Deadline(() => this.#takeBack());
  #current: Transaction<Message> | undefined;
  #following: Transaction<Message> | undefined;
  #messageCount = 0;
  #needsReset = false;
  #isAlive = true;
  #isFinishing = false;
  /** A message was announced that does not come over this connection, so its content cannot follow. */
  #isAbandoned = false;
  #isQuitting = false;

  constructor(connection: SmtpConnection, timeouts: ReplyTimeouts, hooks: ConversationHooks<Message>) {
    const { socket, capabilities } = connection;
    this.#socket = socket;
    this.#capabilities = capabilities;
    this.#timeouts = timeouts;
    this.#hooks = hooks;
    this.#deadline = new ReplyWait({
      silenceMs: timeouts.silence,
      onSilence: () => this.#noteSilence(),
      onHeard: hooks.heard,
      onTimeOut: () => this.#timeOut(),
    });
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', (error) => this.fail(toFault(error)));
    socket.on('close', () => this.fail(new ConnectionFault('ECONNECTION', 'the server closed the connection')));
    socket.resume();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** How long the server has been silent, in milliseconds; 0 when it is not. */
  get silentMs(): number {
    return this.#deadline.silentMs;
  }

  /** Messages begun on this connection. */
  get messageCount(): number {
    return this.#messageCount;
  }

  /** Starts the next message, if none is under way. */
  wake(): void {
    if (this.#isAlive && !this.#current && !this.#isQuitting) this.#beginNext();
  }

  /** Ends the conversation after the message whose content is under way; a message that is only announced fails. */
  finish(): void {
    this.#isFinishing = true;
  }

  /** Sends QUIT; no message may be under way. The connection is cut when the server does not answer within a second. */
  quit(): void {
    if (!this.#isAlive || this.#isQuitting) return;
    this.#isQuitting = true;
    this.#deadline.set(QUIT_TIMEOUT_MS);
    this.#socket.write('QUIT\r\n', 'latin1');
  }

  /** Cuts the connection; the messages on it fail. */
  fail(fault: ConnectionFault): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#deadline.end();
    this.#patience.end();
    this.#socket.destroy();
    const [current, following] = [this.#current, this.#following];
    this.#current = undefined;
    this.#following = undefined;
    if (current) this.#failTransaction(current, fault, current.step === 'reset');
    if (following) this.#failTransaction(following, fault, true);
    this.#hooks.ended();
  }

  #failTransaction(transaction: Transaction<Message>, fault: ConnectionFault, isBystander: boolean): void {
    const { message, refusal } = transaction;
    // A refusal that came before the connection broke still counts.
    if (refusal) this.#hooks.done(message, refusal);
    else this.#hooks.failed(message, fault, stateOf(transaction, fault, isBystander));
  }

  #timeOut(): void {
    this.fail(new ConnectionFault('ETIMEDOUT', 'the server is silent'));
  }

  /** Cuts the connection, unless content is under way: then only the reply tells whether the message has arrived. */
  giveUp(): void {
    if (this.#current?.step !== 'content') this.#timeOut();
  }

  #noteSilence(): void {
    const messages = [this.#current, this.#following].flatMap((each) => each?.message ?? []);
    if (messages.length > 0) this.#hooks.silent(messages);
  }

  /** Gives back the message that waits behind a slow content: it is only announced, so another connection can take it. */
  #takeBack(): void {
    const following = this.#following;
    if (!following) return;
    this.#following = undefined;
    this.#isAbandoned = true;
    this.#failTransaction(following, new ConnectionFault('EABORTED', 'the message before is slow'), true);
  }

  /** Takes the next message that the server can accept by its size, with the commands that begin it. */
  #announce(behind: Message | undefined): { transaction: Transaction<Message>; commands: string } | undefined {
    const { hasPipelining, sizeMax } = this.#capabilities;
    for (;;) {
      const message = this.#hooks.next(behind);
      if (!message) return undefined;
      if (sizeMax > 0 && message.raw.length > sizeMax) {
        this.#hooks.done(message, oversize(message.raw.length, sizeMax));
        continue;
      }
      const isReused = this.#messageCount > 0;
      this.#messageCount += 1;
      const step: Step = this.#needsReset ? 'reset' : 'mail';
      this.#needsReset = false;
      const isPipelined = hasPipelining && !message.isAlone;
      const unsaid = { refusal: undefined, deferral: undefined };
      const transaction = { message, isReused, isPipelined, step, ...unsaid, hasContentLeft: false };
      const reset = step === 'reset' ? RESET : '';
      if (isPipelined) {
        return {
          transaction,
          commands: reset + mailCommand(message, this.#capabilities) + rcptCommand(message, this.#capabilities) + DATA,
        };
      }
      return { transaction, commands: reset === '' ? mailCommand(message, this.#capabilities) : reset };
    }
  }

  #beginNext(): void {
    if (this.#isOutOfStep()) return;
    const announced = this.#announce(undefined);
    if (!announced) {
      this.#deadline.clear();
      this.#hooks.idle();
      return;
    }
    this.#current = announced.transaction;
    this.#socket.write(announced.commands, 'latin1');
    this.#awaitReply(announced.transaction.step);
  }

  /** Starts the time limit for the reply to a command. */
  #awaitReply(step: Step): void {
    const { mail, content } = this.#timeouts;
    if (step === 'reset') this.#deadline.set(mail);
    else this.#deadline.set(step === 'void' ? content : this.#timeouts[step]);
  }

  #sendCommand(transaction: Transaction<Message>, step: Step, command: string): void {
    transaction.step = step;
    this.#socket.write(command, 'latin1');
    this.#awaitReply(step);
  }

  /**
   * Whether the server has sent a reply before its command. Later replies would be matched to the wrong commands, so
   * the connection is cut.
   */
  #isOutOfStep(): boolean {
    if (this.#reader.hasRest) this.fail(new ConnectionFault('EPROTOCOL', 'the server answers before it is asked'));
    return !this.#isAlive;
  }

  #settle(transaction: Transaction<Message>, outcome: SmtpOutcome): void {
    this.#current = this.#following;
    this.#following = undefined;
    this.#patience.clear();
    this.#hooks.done(transaction.message, outcome);
    if (!this.#isAlive) return;
    if (!this.#current && !this.#isAbandoned) {
      this.#beginNext();
    } else if (!this.#current || this.#isFinishing) {
      // The server would read a QUIT as the content that it waits for.
      this.fail(new ConnectionFault('EABORTED', 'the connection ends before this message'));
    } else {
      this.#awaitReply(this.#current.step);
    }
  }

  /** Sends the content, followed by the announcement of the next message, which saves a round trip. */
  #sendContent(transaction: Transaction<Message>): void {
    if (this.#isOutOfStep()) return;
    transaction.step = 'content';
    const announce = () => {
      const announced = transaction.isPipelined && !this.#isFinishing ? this.#announce(transaction.message) : undefined;
      this.#following = announced?.transaction;
      if (announced) this.#patience.set(this.#timeouts.announced);
      return announced?.commands ?? '';
    };
    const { block, transfer, content } = this.#timeouts;
    const endsAt = performance.now() + transfer;
    this.#deadline.set(block);
    const hooks: ContentHooks = {
      announce,
      progressed: () => {
        if (this.#current !== transaction) return;
        this.#deadline.heard();
        this.#deadline.set(Math.min(block, endsAt - performance.now()));
      },
      left: () => {
        transaction.hasContentLeft = true;
        if (this.#current === transaction) this.#deadline.set(content);
      },
    };
    // A write wakes the server, which costs both sides as much as the write. Writes that follow each other wake it once.
    setImmediate(() => {
      if (this.#isAlive) writeContent(this.#socket, transaction.message.raw, hooks);
    });
  }

  /**
   * Notes the refusal of a message.
   * @returns false when the reply concerns the connection, which is then cut
   */
  #refuse(transaction: Transaction<Message>, text: string, stage: SmtpStage): boolean {
    const reply = parseSmtpReply(text);
    if (!reply || reply.replyCode < 400) {
      this.fail(new ConnectionFault('EPROTOCOL', 'the server gave an unusable reply', { response: text }));
      return false;
    }
    if (reply.replyCode === SERVICE_CLOSING || LOGIN_REPLY_CODES.has(reply.replyCode)) {
      const message = `the server ended the connection with ${reply.replyCode}`;
      this.fail(new ConnectionFault('ECLOSING', message, { response: text, refusalCode: reply.replyCode }));
      return false;
    }
    const refusal: SmtpOutcome = { kind: reply.replyCode >= 500 ? 'rejected' : 'deferred', stage, ...reply };
    if (isAboutConnection(transaction, stage, reply)) {
      transaction.deferral = refusal;
      const message = 'the server takes no more messages over this connection';
      this.fail(new ConnectionFault('EEXHAUSTED', message, { response: text, refusalCode: reply.replyCode }));
      return false;
    }
    transaction.refusal ??= refusal;
    return true;
  }

  /**
   * Settles a message whose envelope was refused. The server may hold its transaction open, so the next message begins
   * with RSET.
   */
  #settleRefused(transaction: Transaction<Message>): void {
    if (!transaction.refusal) return;
    this.#needsReset = true;
    this.#settle(transaction, transaction.refusal);
  }

  #onResetReply(transaction: Transaction<Message>, text: string): void {
    if (!isPositive(text)) {
      this.fail(new ConnectionFault('EPROTOCOL', 'RSET was refused', { response: text }));
    } else if (transaction.isPipelined) {
      transaction.step = 'mail';
      this.#awaitReply('mail');
    } else if (!this.#isOutOfStep()) {
      this.#sendCommand(transaction, 'mail', mailCommand(transaction.message, this.#capabilities));
    }
  }

  #onEnvelopeReply(transaction: Transaction<Message>, step: 'mail' | 'rcpt', text: string): void {
    const isRefused = !isPositive(text);
    if (isRefused && !transaction.refusal && !this.#refuse(transaction, text, step)) return;
    const next: Step = step === 'mail' ? 'rcpt' : 'data';
    if (transaction.isPipelined) {
      transaction.step = next;
      this.#awaitReply(next);
    } else if (transaction.refusal) {
      this.#settleRefused(transaction);
    } else if (!this.#isOutOfStep()) {
      this.#sendCommand(
        transaction,
        next,
        next === 'rcpt' ? rcptCommand(transaction.message, this.#capabilities) : DATA,
      );
    }
  }

  #onDataReply(transaction: Transaction<Message>, text: string): void {
    const { refusal } = transaction;
    const isAsked = replyCodeOf(text) === 354;
    if (!refusal) {
      // A 250 here means that replies and commands are out of step.
      if (isAsked) this.#sendContent(transaction);
      else if (this.#refuse(transaction, text, 'data')) this.#settleRefused(transaction);
    } else if (!isAsked) {
      this.#settleRefused(transaction);
    } else if ('stage' in refusal && refusal.stage === 'mail') {
      // A server that refuses the sender and still asks for the content might accept an empty message.
      this.fail(new ConnectionFault('EPROTOCOL', 'the server asked for the content of a message that it had refused'));
    } else {
      // The server has no recipient for this message, so an empty content ends it.
      this.#sendCommand(transaction, 'void', '.\r\n');
    }
  }

  #onContentReply(transaction: Transaction<Message>, text: string): void {
    if (!transaction.hasContentLeft) {
      // The rest of the content would be read as commands.
      if (isPositive(text) || this.#refuse(transaction, text, 'data')) {
        this.fail(new ConnectionFault('EPROTOCOL', 'the server answers before the end of the content'));
      }
      return;
    }
    if (isPositive(text)) this.#settle(transaction, { kind: 'accepted', reply: printableReply(text) });
    else if (this.#refuse(transaction, text, 'data') && transaction.refusal) {
      this.#settle(transaction, transaction.refusal);
    }
  }

  #onReply(text: string): boolean {
    const transaction = this.#current;
    this.#deadline.heard();
    if (this.#isQuitting) this.#socket.end();
    else if (!transaction) {
      this.fail(new ConnectionFault('EPROTOCOL', 'the server answers before it is asked', { response: text }));
    } else if (transaction.step === 'reset') this.#onResetReply(transaction, text);
    else if (transaction.step === 'data') this.#onDataReply(transaction, text);
    else if (transaction.step === 'content') this.#onContentReply(transaction, text);
    else if (transaction.step === 'void') this.#settleRefused(transaction);
    else this.#onEnvelopeReply(transaction, transaction.step, text);
    return this.#isAlive;
  }

  #onData(chunk: Buffer): void {
    // Over TLS Node tells that content has left at the end of the next turn of the event loop, and a fast server has
    // answered by then. Its reply is read after that.
    const isEarly = this.#current?.step === 'content' && !this.#current.hasContentLeft;
    if (isEarly && this.#socket instanceof TLSSocket) setImmediate(() => this.#read(chunk));
    else this.#read(chunk);
  }

  #read(chunk: Buffer): void {
    if (!this.#isAlive) return;
    if (this.#reader.push(chunk, (reply) => this.#onReply(reply))) return;
    this.fail(new ConnectionFault('EPROTOCOL', 'the server sends a reply without an end'));
  }
}
