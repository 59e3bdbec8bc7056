/** How often a scripted answer is used; always when left out. */
interface Repetition {
  times?: number;
}

export interface ScriptedReply extends Repetition {
  code: number;
  /** Text after the code, such as `5.1.1 No such user`. */
  text?: string;
  /** `mail` matches the envelope sender; `rcpt` and `data` (after the content) match the recipient. */
  stage: 'mail' | 'rcpt' | 'data';
}

export interface ScriptedDrop extends Repetition {
  /**
   * When the connection is cut: at MAIL FROM (by envelope sender), at RCPT TO, at the first octets of the content, or
   * in place of the last reply, when the message has been received and counted.
   */
  stage: 'mail' | 'rcpt' | 'content' | 'reply';
}

type ScriptedStep = (ScriptedReply & { kind: 'reply' }) | (ScriptedDrop & { kind: 'drop' });

/** Scripted replies and drops of an SMTP server, by address (`*` is any). All other messages are accepted. */
export interface SmtpScript {
  replyTo: (address: string, reply: ScriptedReply) => void;
  dropOn: (address: string, drop: ScriptedDrop) => void;
  /** The next reply, as smtp-server takes it; null when there is none. It then counts as used. */
  takeReply: (address: string, stage: ScriptedReply['stage']) => Error | null;
  /** Whether the connection must be cut now. The drop then counts as used. */
  takeDrop: (address: string, stage: ScriptedDrop['stage']) => boolean;
  /** Removes the script of an address. */
  clearFor: (address: string) => void;
  clear: () => void;
}

/** An error that smtp-server answers with this code and text. */
export function replyError(code: number, text = 'scripted'): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

export function createSmtpScript(): SmtpScript {
  const steps = new Map<string, ScriptedStep[]>();

  function add(address: string, step: ScriptedStep): void {
    const key = address.toLowerCase();
    steps.set(key, [...(steps.get(key) ?? []), step]);
  }

  /** The next matching step, whose count is reduced; undefined when there is none. */
  function take(address: string, kind: ScriptedStep['kind'], stage: ScriptedStep['stage']): ScriptedStep | undefined {
    if (steps.size === 0) return undefined;
    const step = [...(steps.get(address.toLowerCase()) ?? []), ...(steps.get('*') ?? [])].find(
      (candidate) => candidate.kind === kind && candidate.stage === stage && candidate.times !== 0,
    );
    if (step?.times !== undefined) step.times -= 1;
    return step;
  }

  return {
    clearFor: (address) => void steps.delete(address.toLowerCase()),
    replyTo: (address, reply) => add(address, { kind: 'reply', ...reply }),
    dropOn: (address, drop) => add(address, { kind: 'drop', ...drop }),
    takeReply(address, stage) {
      const step = take(address, 'reply', stage);
      return step?.kind === 'reply' ? replyError(step.code, step.text) : null;
    },
    takeDrop: (address, stage) => take(address, 'drop', stage) !== undefined,
    clear: () => steps.clear(),
  };
}
