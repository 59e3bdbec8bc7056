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

/** Messages that wait for a connection: the more urgent first, then in the order they came. */
export class MessageQueue {
  readonly #lines: Record<SmtpUrgency, Set<Job>> = {
    transactional: new Set(),
    automation: new Set(),
    campaign: new Set(),
  };
  /** Messages that were on a connection before; they go before all others. */
  readonly #returned: Record<SmtpUrgency, Set<Job>> = {
    transactional: new Set(),
    automation: new Set(),
    campaign: new Set(),
  };
  readonly #retries = new Set<Job>();
  /** One listener for a signal, whatever the number of messages that wait under it. */
  readonly #bySignal = new WeakMap<AbortSignal, Set<Job>>();

  get size(): number {
    return URGENCIES.reduce((sum, urgency) => sum + this.waiting(urgency), this.#retries.size);
  }

  /** Messages of a kind, those that need a fresh connection left out. */
  waiting(urgency: SmtpUrgency): number {
    return this.#lines[urgency].size + this.#returned[urgency].size;
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

  takeRetry(): Job | undefined {
    return this.#takeFrom(this.#retries);
  }

  /** No fresh connection is available, so any will do. */
  demoteRetries(): void {
    for (const job of this.#retries) this.#returned[job.urgency].add(job);
    this.#retries.clear();
  }

  peek(urgency: SmtpUrgency): Job | undefined {
    for (const line of [this.#returned[urgency], this.#lines[urgency]]) {
      for (const job of line) return job;
    }
    return undefined;
  }

  take(urgency: SmtpUrgency): Job | undefined {
    return this.#takeFrom(this.#returned[urgency]) ?? this.#takeFrom(this.#lines[urgency]);
  }

  /** Refuses all that wait. */
  refuse(error: Error): void {
    const lines = [this.#retries, ...Object.values(this.#returned), ...Object.values(this.#lines)];
    for (const line of lines) {
      for (let job = this.#takeFrom(line); job; job = this.#takeFrom(line)) job.reject(error);
    }
  }

  #takeFrom(line: Set<Job>): Job | undefined {
    for (const job of line) {
      line.delete(job);
      if (job.signal) this.#bySignal.get(job.signal)?.delete(job);
      return job;
    }
    return undefined;
  }

  #enter(job: Job, line: Set<Job>): void {
    const { signal } = job;
    if (signal?.aborted) {
      job.reject(reasonOf(signal));
      return;
    }
    line.add(job);
    if (signal) this.#jobsUnder(signal).add(job);
  }

  #jobsUnder(signal: AbortSignal): Set<Job> {
    const known = this.#bySignal.get(signal);
    if (known) return known;
    const jobs = new Set<Job>();
    this.#bySignal.set(signal, jobs);
    const leave = (): void => {
      for (const job of jobs) {
        this.#lines[job.urgency].delete(job);
        this.#returned[job.urgency].delete(job);
        this.#retries.delete(job);
        job.reject(reasonOf(signal));
      }
      jobs.clear();
    };
    signal.addEventListener('abort', leave, { once: true });
    return jobs;
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The message is not wanted any more');
}
