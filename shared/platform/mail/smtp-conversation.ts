import type { Socket } from 'node:net';
import { toDataContent, type RawMessage } from './data-content.ts';
import { parseSmtpReply, type SmtpReply } from './smtp-reply.ts';

/** MAIL FROM and RCPT TO (RFC 5321): the envelope sender, empty for none, and the one envelope recipient. */
export interface SmtpEnvelope {
  from: string;
  to: string;
  /** Asks the server for delivery notifications (RFC 3461) that carry this id; ignored where it offers none. */
  receiptId?: string;
}

/** The command a server refused a message at: MAIL FROM, RCPT TO, or DATA and the content after it. */
export type SmtpStage = 'mail' | 'rcpt' | 'data';

/**
 * What a server made of a message: taken over, refused for good (5xx), or not now (4xx). Only a refusal at `rcpt`
 * speaks of the recipient; one at `mail` is about the sender and one at `data` about the content.
 */
export type SmtpOutcome =
  { kind: 'accepted'; reply: string } | ({ kind: 'rejected' | 'deferred'; stage: SmtpStage } & SmtpReply);

/** A message for a conversation; addresses in the form that `toWireAddress` answers. */
export interface SmtpMessage {
  readonly envelope: SmtpEnvelope;
  readonly raw: RawMessage;
}

/** What a server said it can do, in its answer to EHLO. */
export interface SmtpCapabilities {
  /** Commands may be sent without waiting for each reply (RFC 2920). */
  hasPipelining: boolean;
  /** Messages may ask for delivery notifications (RFC 3461). */
  hasDsn: boolean;
  /** MAIL FROM takes the size of the message (RFC 1870). */
  hasSize: boolean;
  /** Octets of one message; 0 when the server names no limit. */
  sizeMax: number;
}

/** Why a connection cannot be used any more. */
export interface ConversationError extends Error {
  code?: string;
  /** The server's words, where it said something. */
  response?: string;
}

/** Who uses a conversation. None of these may throw; of the conversation, only `idle` may call something: `quit`. */
export interface ConversationHooks<Message extends SmtpMessage> {
  /**
   * The next message, undefined when there is none now. `isBehindAnother` when it would be announced while the server
   * still owes its answer to the content of the one before.
   */
  next: (isBehindAnother: boolean) => Message | undefined;
  done: (message: Message, outcome: SmtpOutcome) => void;
  /** The connection broke: nothing is known of the message, but whether the server may have it in whole or in part. */
  failed: (message: Message, error: ConversationError, state: MessageState) => void;
  /** Nothing is under way, and `next` had no message. */
  idle: () => void;
}

/** How far a message came. */
export interface MessageState {
  /** Part of the content may have reached the server. */
  hasContentStarted: boolean;
  /** The content left completely and no reply to it came. */
  mayHaveBeenAccepted: boolean;
  /** Other messages went over the connection before. */
  isReused: boolean;
}

export interface Conversation {
  readonly isAlive: boolean;
  /** Messages begun on this connection. */
  readonly messageCount: number;
  /** Begins with `next` when nothing is under way. */
  wake: () => void;
  /** Ends after the message whose content is under way; one that is only announced fails. */
  finish: () => void;
  /** QUIT; nothing may be under way. */
  quit: () => void;
  /** Cuts the connection; messages on it fail. */
  fail: (error: ConversationError) => void;
}

type Step = 'reset' | 'mail' | 'rcpt' | 'data' | 'content' | 'void';

interface Transaction<Message> {
  message: Message;
  /** The command whose reply comes next. */
  step: Step;
  refusal: SmtpOutcome | undefined;
  hasContentLeft: boolean;
  isReused: boolean;
}

/** RFC 5321 section 4.2.1 needs 512 octets a line; what is longer than this is no reply. */
const REPLY_OCTETS_MAX = 65_536;
const SERVICE_CLOSING = 421;
/** RFC 4954 section 6: the server wants another login. That is between the operator and the server. */
const LOGIN_REPLY_CODES = new Set([530, 534, 535, 538]);
const NON_ASCII = /[\x80-\xff]/;

function isPositive(reply: string): boolean {
  return reply.startsWith('2');
}

/** Reads a refusal; undefined when the reply is about the connection instead of the message. */
function readRefusal(text: string, stage: SmtpStage): SmtpOutcome | undefined {
  const reply = parseSmtpReply(text);
  if (!reply || reply.replyCode === SERVICE_CLOSING || LOGIN_REPLY_CODES.has(reply.replyCode)) return undefined;
  if (reply.replyCode < 400 || reply.replyCode >= 600) return undefined;
  return { kind: reply.replyCode >= 500 ? 'rejected' : 'deferred', stage, ...reply };
}

function oversize(octets: number, sizeMax: number): SmtpOutcome {
  const reply = `The message has ${octets} bytes, more than the ${sizeMax} bytes this SMTP server takes`;
  return { kind: 'rejected', stage: 'mail', replyCode: 552, enhancedCode: '5.3.4', reply };
}

/**
 * Talks about one message after another over a connection that is set up (greeting, EHLO, TLS, login are behind it).
 *
 * With PIPELINING (RFC 2920) a message takes one round trip: MAIL FROM, RCPT TO and DATA leave together, and they leave
 * in one piece with the content of the message before (section 3.1), so that under load each message costs one write and
 * one read. A server's replies come in the order of what it was sent, so at most two messages are under way: `current`,
 * whose replies come next, and `following`, which is announced and no more.
 */
export function createConversation<Message extends SmtpMessage>(
  socket: Socket,
  capabilities: SmtpCapabilities,
  hooks: ConversationHooks<Message>,
): Conversation {
  const { hasPipelining, hasDsn, hasSize, sizeMax } = capabilities;
  let current: Transaction<Message> | undefined;
  let following: Transaction<Message> | undefined;
  let messageCount = 0;
  let needsReset = false;
  let isAlive = true;
  let isFinishing = false;
  let isQuitting = false;
  /** Text after the last line end. */
  let openLine = '';
  /** Lines of a reply whose last line is still to come. */
  let openReply = '';

  const mailCommand = ({ envelope, raw }: Message): string => {
    const size = hasSize ? ` SIZE=${raw.length}` : '';
    const receipt = hasDsn && envelope.receiptId !== undefined ? ` RET=HDRS ENVID=${envelope.receiptId}` : '';
    return `MAIL FROM:<${envelope.from}>${size}${receipt}\r\n`;
  };
  const rcptCommand = ({ envelope }: Message): string => {
    const notify = hasDsn && envelope.receiptId !== undefined ? ' NOTIFY=SUCCESS,FAILURE,DELAY' : '';
    return `RCPT TO:<${envelope.to}>${notify}\r\n`;
  };
  const DATA = 'DATA\r\n';
  const RESET = 'RSET\r\n';

  /** Takes the next message that the server can hold, with the commands to begin it with. */
  function announce(isBehindAnother: boolean): { transaction: Transaction<Message>; commands: string } | undefined {
    for (;;) {
      const message = hooks.next(isBehindAnother);
      if (!message) return undefined;
      if (sizeMax > 0 && message.raw.length > sizeMax) {
        hooks.done(message, oversize(message.raw.length, sizeMax));
        continue;
      }
      const isReused = messageCount > 0;
      messageCount += 1;
      const step: Step = needsReset ? 'reset' : 'mail';
      const transaction = { message, step, refusal: undefined, hasContentLeft: false, isReused };
      needsReset = false;
      if (hasPipelining) {
        const reset = step === 'reset' ? RESET : '';
        return { transaction, commands: reset + mailCommand(message) + rcptCommand(message) + DATA };
      }
      return { transaction, commands: step === 'reset' ? RESET : mailCommand(message) };
    }
  }

  function beginNext(): void {
    const announced = announce(false);
    if (!announced) {
      hooks.idle();
      return;
    }
    current = announced.transaction;
    socket.write(announced.commands, 'latin1');
  }

  function settle(transaction: Transaction<Message>, outcome: SmtpOutcome): void {
    current = following;
    following = undefined;
    hooks.done(transaction.message, outcome);
    if (isFinishing && current) {
      // The server would take a QUIT for the content that it waits for.
      fail(new Error('the connection ends before this message'));
    } else if (!current) {
      beginNext();
    }
  }

  /** The content, and behind it the announcement of the next message: that is what saves a round trip. */
  function sendContent(transaction: Transaction<Message>): void {
    transaction.step = 'content';
    const content = toDataContent(transaction.message.raw);
    const announced = hasPipelining && !isFinishing ? announce(true) : undefined;
    following = announced?.transaction;
    const commands = announced?.commands ?? '';
    if (typeof content === 'string') {
      socket.write(content + commands, 'latin1');
    } else {
      socket.cork();
      for (const piece of content) socket.write(piece);
      if (commands !== '') socket.write(commands, 'latin1');
      socket.uncork();
    }
    if (socket.writableLength === 0) {
      transaction.hasContentLeft = true;
    } else {
      socket.write('', (error) => {
        transaction.hasContentLeft = !error;
      });
    }
  }

  function refuse(transaction: Transaction<Message>, reply: string, stage: SmtpStage): boolean {
    const refusal = readRefusal(reply, stage);
    if (!refusal) {
      fail(Object.assign(new Error(`unusable reply: ${reply.slice(0, 500)}`), { response: reply }));
      return false;
    }
    transaction.refusal ??= refusal;
    return true;
  }

  /** After a refused envelope: a server may hold a transaction open, which the next message has to end first. */
  function settleRefused(transaction: Transaction<Message>, refusal: SmtpOutcome): void {
    needsReset = true;
    settle(transaction, refusal);
  }

  function onEnvelopeReply(transaction: Transaction<Message>, step: 'mail' | 'rcpt', reply: string): void {
    if (!isPositive(reply) && !transaction.refusal && !refuse(transaction, reply, step)) return;
    transaction.step = step === 'mail' ? 'rcpt' : 'data';
    if (hasPipelining) return;
    if (transaction.refusal) settleRefused(transaction, transaction.refusal);
    else socket.write(step === 'mail' ? rcptCommand(transaction.message) : DATA, 'latin1');
  }

  function onDataReply(transaction: Transaction<Message>, reply: string): void {
    const { refusal } = transaction;
    if (!refusal) {
      // Some servers say 250 instead of 354.
      if (isPositive(reply) || reply.startsWith('3')) sendContent(transaction);
      else if (refuse(transaction, reply, 'data') && transaction.refusal) {
        settleRefused(transaction, transaction.refusal);
      }
    } else if (!reply.startsWith('3')) {
      settleRefused(transaction, refusal);
    } else if ('stage' in refusal && refusal.stage === 'mail') {
      // A server that refuses the sender and asks for the content all the same cannot be trusted with an empty one.
      fail(new Error('the server asked for the content of a message that it had refused'));
    } else {
      // It has no recipient to bring it to: the empty message ends there.
      transaction.step = 'void';
      socket.write('.\r\n', 'latin1');
    }
  }

  function onReply(text: string): void {
    const reply = NON_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
    const transaction = current;
    if (isQuitting) {
      socket.end();
    } else if (!transaction) {
      fail(Object.assign(new Error(`the server ended the connection: ${reply.slice(0, 500)}`), { response: reply }));
    } else if (transaction.step === 'content') {
      if (isPositive(reply)) settle(transaction, { kind: 'accepted', reply: parseSmtpReply(reply)?.reply ?? '' });
      else if (refuse(transaction, reply, 'data') && transaction.refusal) settle(transaction, transaction.refusal);
    } else if (transaction.step === 'reset') {
      if (!isPositive(reply)) {
        fail(Object.assign(new Error(`RSET was refused: ${reply.slice(0, 500)}`), { response: reply }));
        return;
      }
      transaction.step = 'mail';
      if (!hasPipelining) socket.write(mailCommand(transaction.message), 'latin1');
    } else if (transaction.step === 'data') {
      onDataReply(transaction, reply);
    } else if (transaction.step === 'void') {
      if (transaction.refusal) settleRefused(transaction, transaction.refusal);
    } else {
      onEnvelopeReply(transaction, transaction.step, reply);
    }
  }

  function onLine(line: string): void {
    if (line === '') return;
    if (line.charCodeAt(3) === 0x2d && /^\d{3}/.test(line)) {
      openReply += `${line}\n`;
      return;
    }
    const reply = openReply === '' ? line : openReply + line;
    openReply = '';
    onReply(reply);
  }

  function onData(chunk: Buffer): void {
    const text = openLine === '' ? chunk.toString('latin1') : openLine + chunk.toString('latin1');
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      onLine(text.slice(start, text.charCodeAt(end - 1) === 0x0d ? end - 1 : end));
      if (!isAlive) return;
      start = end + 1;
    }
    openLine = text.slice(start);
    if (openLine.length + openReply.length > REPLY_OCTETS_MAX) {
      fail(Object.assign(new Error('the server sends a reply without an end'), { code: 'EPROTOCOL' }));
    }
  }

  function fail(error: ConversationError): void {
    if (!isAlive) return;
    isAlive = false;
    socket.destroy();
    const failed = [current, following].filter((transaction) => transaction !== undefined);
    current = undefined;
    following = undefined;
    for (const { message, step, refusal, hasContentLeft, isReused } of failed) {
      const mayHaveBeenAccepted = step === 'content' && hasContentLeft && error.response === undefined;
      // What was refused before the connection broke stays refused.
      if (refusal) hooks.done(message, refusal);
      else hooks.failed(message, error, { hasContentStarted: step === 'content', mayHaveBeenAccepted, isReused });
    }
  }

  socket.on('data', onData);
  socket.on('error', fail);
  socket.on('timeout', () => fail(Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' })));
  socket.on('close', () =>
    fail(Object.assign(new Error('the connection closed unexpectedly'), { code: 'ECONNECTION' })),
  );

  return {
    get isAlive() {
      return isAlive;
    },
    get messageCount() {
      return messageCount;
    },
    wake() {
      if (isAlive && !current && !isQuitting) beginNext();
    },
    finish() {
      isFinishing = true;
    },
    quit() {
      isQuitting = true;
      socket.write('QUIT\r\n', 'latin1');
    },
    fail,
  };
}
