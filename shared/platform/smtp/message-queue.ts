import type { SmtpMessage, SmtpOutcome } from './message.ts';

/** The kinds of messages, the most urgent first. */
export const URGENCIES = ['transactional', 'automation', 'campaign'] as const;
export type SmtpUrgency = (typeof URGENCIES)[number];

/** A message that somebody waits for. */
export interface Job extends SmtpMessage {
  readonly urgency: SmtpUrgency;
  /** A connection that had carried others broke under it before; now it goes over a fresh one. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (outcome: SmtpOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const perUrgency = <T>(create: () => T): Record<SmtpUrgency, T> => ({
  transactional: create(),
  automation: create(),
  campaign: create(),
});

/**
 * Messages that wait for a connection: the more urgent first, then in the order they came. A message may avoid some of
 * the servers; where a method takes the label of a server, it is about the messages that may go there.
 */
export class MessageQueue {
  readonly #lines = perUrgency(() => new Set<Job>());
  /** Messages that were on a connection before; they go before all others. */
  readonly #returned = perUrgency(() => new Set<Job>());
  readonly #retries = new Set<Job>();
  /** Waiting messages that avoid a server, by its label. */
  readonly #avoiding = new Map<string, Record<SmtpUrgency, number>>();
  /** One listener for a signal, whatever the number of messages that wait under it. */
  readonly #bySignal = new WeakMap<AbortSignal, Set<Job>>();

  get size(): number {
    return URGENCIES.reduce((sum, urgency) => sum + this.waiting(urgency), this.#retries.size);
  }

  /** Messages of a kind, those that need a fresh connection left out. */
  waiting(urgency: SmtpUrgency, label?: string): number {
    const all = this.#lines[urgency].size + this.#returned[urgency].size;
    return label === undefined ? all : all - (this.#avoiding.get(label)?.[urgency] ?? 0);
  }

  /** Whether messages, those that need a fresh connection included, may go to a server. */
  isWaitingFor(label: string): boolean {
    return URGENCIES.some((urgency) => this.waiting(urgency, label) > 0) || first(this.#retries, label) !== undefined;
  }

  /** Whether messages avoid a server. */
  get hasAvoiding(): boolean {
    return this.#avoiding.size > 0;
  }

  isAvoided(label: string): boolean {
    return this.#avoiding.has(label);
  }

  get retries(): number {
    return this.#retries.size;
  }

  add(job: Job): void {
    this.#enter(job, this.#lines[job.urgency]);
  }

  /** Takes back a message that a broken connection had not come to. */
  putBack(job: Job): void {
    this.#enter(job, this.#returned[job.urgency]);
  }

  /** Takes back a message for a fresh connection. */
  addRetry(job: Job): void {
    this.#enter({ ...job, isRetry: true, isAlone: true }, this.#retries);
  }

  takeRetry(label: string): Job | undefined {
    return this.#takeFrom(this.#retries, label);
  }

  /** No fresh connection is available, so any will do. */
  demoteRetries(): void {
    for (const job of this.#retries) {
      this.#returned[job.urgency].add(job);
      this.#count(job, 1);
    }
    this.#retries.clear();
  }

  peek(urgency: SmtpUrgency, label: string): Job | undefined {
    return first(this.#returned[urgency], label) ?? first(this.#lines[urgency], label);
  }

  take(urgency: SmtpUrgency, label: string): Job | undefined {
    return this.#takeFrom(this.#returned[urgency], label) ?? this.#takeFrom(this.#lines[urgency], label);
  }

  /** Refuses all that wait. */
  refuse(error: Error): void {
    for (const line of this.#allLines()) {
      for (let job = this.#takeFrom(line); job; job = this.#takeFrom(line)) job.reject(error);
    }
  }

  /** Refuses the messages that avoid all of these servers. It is asked for each message, so the error is made when needed. */
  refuseAvoiding(labels: readonly string[], createError: () => Error): void {
    if (labels.some((label) => !this.#avoiding.has(label))) return;
    for (const line of this.#allLines()) {
      for (const job of line) {
        if (!labels.every((label) => job.avoid?.has(label))) continue;
        this.#leave(job, line);
        job.reject(createError());
      }
    }
  }

  #allLines(): Set<Job>[] {
    return [this.#retries, ...Object.values(this.#returned), ...Object.values(this.#lines)];
  }

  #takeFrom(line: Set<Job>, label?: string): Job | undefined {
    const job = first(line, label);
    if (job) this.#leave(job, line);
    return job;
  }

  #leave(job: Job, line: Set<Job>): void {
    if (!line.delete(job)) return;
    if (line !== this.#retries) this.#count(job, -1);
    if (job.signal) this.#bySignal.get(job.signal)?.delete(job);
  }

  #count({ avoid, urgency }: Job, by: number): void {
    for (const label of avoid ?? []) {
      const counts = this.#avoiding.get(label) ?? perUrgency(() => 0);
      counts[urgency] += by;
      if (URGENCIES.some((each) => counts[each] > 0)) this.#avoiding.set(label, counts);
      else this.#avoiding.delete(label);
    }
  }

  #enter(job: Job, line: Set<Job>): void {
    const { signal } = job;
    if (signal?.aborted) {
      job.reject(reasonOf(signal));
      return;
    }
    line.add(job);
    if (line !== this.#retries) this.#count(job, 1);
    if (signal) this.#jobsUnder(signal).add(job);
  }

  #jobsUnder(signal: AbortSignal): Set<Job> {
    const known = this.#bySignal.get(signal);
    if (known) return known;
    const jobs = new Set<Job>();
    this.#bySignal.set(signal, jobs);
    const leave = (): void => {
      for (const job of jobs) {
        for (const line of [this.#lines[job.urgency], this.#returned[job.urgency], this.#retries]) {
          this.#leave(job, line);
        }
        job.reject(reasonOf(signal));
      }
      jobs.clear();
    };
    signal.addEventListener('abort', leave, { once: true });
    return jobs;
  }
}

/** The first message that may go to a server, or to any. */
function first(line: Iterable<Job>, label?: string): Job | undefined {
  for (const job of line) {
    if (label === undefined || !job.avoid?.has(label)) return job;
  }
  return undefined;
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The message is not wanted any more');
}
