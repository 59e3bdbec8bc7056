import { Deadline } from './deadline.ts';

export interface ReplyWaitOptions {
  /** How long most servers take at most, in milliseconds. One that takes longer is silent. */
  silenceMs: number;
  /** Called again and again while the server is silent. */
  onSilence: () => void;
  /** Called when it is silent no more. */
  onHeard: () => void;
  onTimeOut: () => void;
}

/** The wait for what a server does next: after a while it is silent, and after the time limit it has failed. */
export class ReplyWait {
  readonly #options: ReplyWaitOptions;
  readonly #limit: Deadline;
  readonly #silence: Deadline;
  #silentMs = 0;

  constructor(options: ReplyWaitOptions) {
    this.#options = options;
    this.#limit = new Deadline(options.onTimeOut);
    this.#silence = new Deadline(() => {
      this.#silentMs += options.silenceMs;
      this.#silence.set(options.silenceMs);
      options.onSilence();
    });
  }

  /** How long the server has been silent, in milliseconds; 0 when it is not. */
  get silentMs(): number {
    return this.#silentMs;
  }

  /** Begins a wait of at most `ms` milliseconds. */
  set(ms: number): void {
    this.#limit.set(ms);
    this.#silence.set(this.#options.silenceMs);
  }

  /** Notes that the server did something. */
  heard(): void {
    if (this.#silentMs === 0) return;
    this.#silentMs = 0;
    this.#options.onHeard();
  }

  clear(): void {
    this.#limit.clear();
    this.#silence.clear();
  }

  /** Ends it for good. */
  end(): void {
    this.#limit.end();
    this.#silence.end();
  }
}
