/** How often a scripted answer is given; always when left out. */
interface Repetition {
  times?: number;
}

export interface ScriptedReply extends Repetition {
  code: number;
  /** Text after the code, such as `5.1.1 No such user`. */
  text?: string;
  /** `mail` goes by the envelope sender, `rcpt` and `data` (after the content) by the recipient. */
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

/** What an SMTP server of a test does at which address (`*` is any), besides taking every message. */
export interface SmtpScript {
  replyTo: (address: string, reply: ScriptedReply) => void;
  dropOn: (address: string, drop: ScriptedDrop) => void;
  /** The reply that is due, as smtp-server takes it; null when there is none. It counts as given. */
  takeReply: (address: string, stage: ScriptedReply['stage']) => Error | null;
  /** Whether the connection is to be cut now. It counts as done. */
  takeDrop: (address: string, stage: ScriptedDrop['stage']) => boolean;
  /** Takes every message to, or from, an address again. */
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

  /** The step that is due, counted down; undefined in the usual case that there is none. */
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
