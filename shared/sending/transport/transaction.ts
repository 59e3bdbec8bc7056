import type { ConnectionFault } from './errors.ts';
import type { SmtpMessage, SmtpOutcome, SmtpStage } from './message.ts';
import { printableReply, type SmtpReply } from './smtp-reply.ts';

/** How far a message got. */
export interface MessageState {
  /** The command during which the connection broke. */
  stage: SmtpStage;
  /**
   * The message was only announced. The server owed its reply to another message, so the break was not about this one.
   */
  isBystander: boolean;
  /** Part of the content may have reached the server. */
  hasContentStarted: boolean;
  /** The content left completely, and no usable reply to it came. */
  mayHaveBeenAccepted: boolean;
  /** Other messages went over the connection before. */
  isReused: boolean;
  /**
   * The server put the message off because of the connection, so a fresh one may take it at once. It is the outcome when
   * there is none.
   */
  deferral: SmtpOutcome | undefined;
}

/** The command whose reply is due; `void` is the empty content of a message without a recipient. */
export type Step = 'reset' | 'mail' | 'rcpt' | 'data' | 'content' | 'void';

export interface Transaction<Message> {
  readonly message: Message;
  readonly isReused: boolean;
  readonly isPipelined: boolean;
  /** The command whose reply comes next. */
  step: Step;
  refusal: SmtpOutcome | undefined;
  /** See `MessageState`. */
  deferral: SmtpOutcome | undefined;
  hasContentLeft: boolean;
}

export const STAGES: Record<Step, SmtpStage> = {
  reset: 'mail',
  mail: 'mail',
  rcpt: 'rcpt',
  data: 'data',
  content: 'data',
  void: 'data',
};

/** Words of a refusal that is about the connection: `too many messages in this session`. */
const ABOUT_CONNECTION = /\b(?:per|this|the same|one|a single|your) (?:smtp )?(?:session|connection)\b/i;

/** How far a message got when its connection broke. */
export function stateOf<Message>(
  { step, hasContentLeft, isReused, deferral }: Transaction<Message>,
  fault: ConnectionFault,
  isBystander: boolean,
): MessageState {
  const hasContentStarted = step === 'content';
  const mayHaveBeenAccepted = hasContentStarted && hasContentLeft && fault.refusalCode === undefined;
  return { stage: STAGES[step], isBystander, isReused, hasContentStarted, mayHaveBeenAccepted, deferral };
}

/**
 * Whether a connection broke because it was idle, or because of a message before. A message that broke a connection before
 * is its own cause, once the server has taken its MAIL.
 */
export function isAboutOthers(
  { isReused, stage, hasContentStarted, deferral }: MessageState,
  { code }: ConnectionFault,
  { isAlone }: SmtpMessage,
): boolean {
  if (deferral !== undefined) return true;
  return isReused && !hasContentStarted && code !== 'ETIMEDOUT' && !(isAlone && stage !== 'mail');
}

const COMMANDS: Record<SmtpStage, string> = { mail: 'MAIL FROM', rcpt: 'RCPT TO', data: 'DATA' };

/** The outcome of a message whose connection broke. */
export function interruption(fault: ConnectionFault, state: MessageState): SmtpOutcome {
  const words = fault.response === undefined ? fault.message : printableReply(fault.response);
  const where = state.hasContentStarted ? 'after the content' : `at ${COMMANDS[state.stage]}`;
  const { stage, mayHaveBeenAccepted } = state;
  return { kind: 'interrupted', stage, mayHaveBeenAccepted, reply: `${words} (the connection broke ${where})` };
}

/**
 * Whether a refusal that is no longer than a connection (4xx) may be about the connection and not about the message:
 * messages went over it before, and the server says so, or refuses already the envelope sender, which it took before.
 */
export function isAboutConnection({ isReused }: Transaction<SmtpMessage>, stage: SmtpStage, reply: SmtpReply): boolean {
  return isReused && reply.replyCode < 500 && (stage === 'mail' || ABOUT_CONNECTION.test(reply.reply));
}

/** The outcome of a message that is longer than the server takes. */
export function oversize(octets: number, sizeMax: number): SmtpOutcome {
  const reply = `The message has ${octets} bytes, more than the ${sizeMax} bytes this SMTP server takes`;
  return { kind: 'rejected', stage: 'mail', replyCode: 552, enhancedCode: '5.3.4', reply };
}
