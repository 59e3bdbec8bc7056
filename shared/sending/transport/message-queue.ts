import type { MessageLimits, SmtpMessage, SmtpOutcome } from './message.ts';

/** The urgencies of messages, the highest first. */
export const URGENCIES = ['transactional', 'automation', 'campaign'] as const;
export type SmtpUrgency = (typeof URGENCIES)[number];

/** A message in the queue, with the promise of its caller. */
export interface QueuedMessage extends SmtpMessage {
  readonly urgency: SmtpUrgency;
  readonly limits: MessageLimits | undefined;
  /** A used connection broke under it before; the next attempt goes over a fresh one. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal | undefined;
  /** See `SendOptions`; it was called if it is missing. */
  onSilence?: (() => void) | undefined;
  readonly resolve: (outcome: SmtpOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Tells a message once that its server is silent. */
export function tellSilence(message: QueuedMessage): void {
  const { onSilence } = message;
  message.onSilence = undefined;
  onSilence?.();
}

const perUrgency = <T>(create: () => T): Record<SmtpUrgency, T> => ({
  transactional: create(),
  automation: create(),
  campaign: create(),
});

/**
 * Messages that wait for a connection: the more urgent first, then in the order in which they came. A message may avoid
 * some servers; a method with the label of a server considers only messages that may go there.
 *
 * The lines are arrays. A Set that changes all the time links each of its old tables to the next one, so all messages
 * would live until the garbage collector visits the old generation.
 */
export class MessageQueue {
  readonly #lines = perUrgency((): QueuedMessage[] => []);
  /** Messages that a broken connection had not reached. They go before new ones of the same urgency. */
  readonly #returned = perUrgency((): QueuedMessage[] => []);
  readonly #retries: QueuedMessage[] = [];
  /** Waiting messages that avoid a server, by its label. */
  readonly #avoiding = new Map<string, Record<SmtpUrgency, number>>();
  /** The signals that it listens to. */
  readonly #signals = new WeakSet<AbortSignal>();

  get size(): number {
    return URGENCIES.reduce((sum, urgency) => sum + this.waiting(urgency), this.#retries.length);
  }

  /** The number of messages of an urgency, without those that need a fresh connection. */
  waiting(urgency: SmtpUrgency, label?: string): number {
    const all = this.#lines[urgency].length + this.#returned[urgency].length;
    return label === undefined ? all : all - (this.#avoiding.get(label)?.[urgency] ?? 0);
  }

  /** Whether messages wait that are more urgent than campaigns, or that need a fresh connection. */
  get hasUrgent(): boolean {
    return this.#retries.length > 0 || this.waiting('transactional') > 0 || this.waiting('automation') > 0;
  }

  /** Whether a message may go to a server; messages that need a fresh connection count. */
  isWaitingFor(label: string): boolean {
    return URGENCIES.some((urgency) => this.waiting(urgency, label) > 0) || first(this.#retries, label) !== undefined;
  }

  /** Whether any message avoids a server. */
  get hasAvoiding(): boolean {
    return this.#avoiding.size > 0;
  }

  isAvoided(label: string): boolean {
    return this.#avoiding.has(label);
  }

  get retries(): number {
    return this.#retries.length;
  }

  add(message: QueuedMessage): void {
    this.#enter(message, this.#lines[message.urgency]);
  }

  /** Puts back a message that a broken connection had not reached. */
  putBack(message: QueuedMessage): void {
    this.#enter(message, this.#returned[message.urgency]);
  }

  /** Puts back a message that needs a fresh connection. */
  addRetry(message: QueuedMessage): void {
    this.#enter({ ...message, isRetry: true, isAlone: true }, this.#retries);
  }

  takeRetry(label: string): QueuedMessage | undefined {
    return this.#takeFrom(this.#retries, label);
  }

  /** Moves the messages that need a fresh connection to the others, because none will be opened. */
  demoteRetries(): void {
    for (const message of this.#retries.splice(0)) {
      this.#returned[message.urgency].push(message);
      this.#count(message, 1);
    }
  }

  peek(urgency: SmtpUrgency, label: string): QueuedMessage | undefined {
    return first(this.#returned[urgency], label) ?? first(this.#lines[urgency], label);
  }

  take(urgency: SmtpUrgency, label: string): QueuedMessage | undefined {
    return this.#takeFrom(this.#returned[urgency], label) ?? this.#takeFrom(this.#lines[urgency], label);
  }

  /** Rejects all waiting messages. */
  refuse(error: Error): void {
    for (const line of this.#allLines()) {
      for (let message = this.#takeFrom(line); message; message = this.#takeFrom(line)) message.reject(error);
    }
  }

  /** Rejects the messages that have `count` or more before them, the least urgent first. */
  refuseBehind(count: number, createError: () => Error): void {
    for (const line of URGENCIES.toReversed().flatMap((each) => [this.#lines[each], this.#returned[each]])) {
      while (line.length > 0 && this.size > count) {
        const message = line.at(-1) as QueuedMessage;
        this.#leave(message, line);
        message.reject(createError());
      }
    }
  }

  /** Tells each message once that its server is silent. */
  tellSilence(): void {
    for (const message of this.#allLines().flat()) tellSilence(message);
  }

  /**
   * Rejects the messages that avoid all of these servers. The check runs for each message, so the error is created only
   * when needed.
   */
  refuseAvoiding(labels: readonly string[], createError: () => Error): void {
    if (labels.some((label) => !this.#avoiding.has(label))) return;
    for (const line of this.#allLines()) {
      for (const message of [...line]) {
        if (!labels.every((label) => message.avoid?.has(label))) continue;
        this.#leave(message, line);
        message.reject(createError());
      }
    }
  }

  #allLines(): QueuedMessage[][] {
    return [this.#retries, ...Object.values(this.#returned), ...Object.values(this.#lines)];
  }

  #takeFrom(line: QueuedMessage[], label?: string): QueuedMessage | undefined {
    const message = first(line, label);
    if (message) this.#leave(message, line);
    return message;
  }

  #leave(message: QueuedMessage, line: QueuedMessage[]): void {
    const at = line.indexOf(message);
    if (at < 0) return;
    line.splice(at, 1);
    if (line !== this.#retries) this.#count(message, -1);
  }

  #count({ avoid, urgency }: QueuedMessage, by: number): void {
    for (const label of avoid ?? []) {
      const counts = this.#avoiding.get(label) ?? perUrgency(() => 0);
      counts[urgency] += by;
      if (URGENCIES.some((each) => counts[each] > 0)) this.#avoiding.set(label, counts);
      else this.#avoiding.delete(label);
    }
  }

  #enter(message: QueuedMessage, line: QueuedMessage[]): void {
    const { signal } = message;
    if (signal?.aborted) {
      message.reject(reasonOf(signal));
      return;
    }
    line.push(message);
    if (line !== this.#retries) this.#count(message, 1);
    if (!signal || this.#signals.has(signal)) return;
    this.#signals.add(signal);
    signal.addEventListener('abort', () => this.#refuseUnder(signal), { once: true });
  }

  #refuseUnder(signal: AbortSignal): void {
    for (const line of this.#allLines()) {
      for (const message of line.filter((each) => each.signal === signal)) {
        this.#leave(message, line);
        message.reject(reasonOf(signal));
      }
    }
  }
}

/** The first message that may go to a server; without a label, the first of all. */
function first(line: Iterable<QueuedMessage>, label?: string): QueuedMessage | undefined {
  for (const message of line) {
    if (label === undefined || !message.avoid?.has(label)) return message;
  }
  return undefined;
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The message is not wanted any more');
}
