/** The longest wait of the timer. It checks the deadline so often, so it need not be set again for each command. */
const CHECK_MS = 5_000;

/** Calls `onExpired` when a deadline has passed. The deadline can be moved at almost no cost. */
export class Deadline {
  readonly #onExpired: () => void;
  #at = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #firesAt = Infinity;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** Moves the deadline to `ms` milliseconds from now. */
  set(ms: number): void {
    const now = performance.now();
    this.#at = now + ms;
    if (this.#timer === undefined || this.#firesAt > this.#at) this.#arm(now);
  }

  clear(): void {
    this.#at = Infinity;
  }

  /** Ends the timer for good. */
  end(): void {
    this.#at = Infinity;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(now: number): void {
    clearTimeout(this.#timer);
    const waitMs = Math.min(this.#at - now, CHECK_MS);
    this.#firesAt = now + waitMs;
    this.#timer = setTimeout(() => this.#check(), Math.ceil(waitMs));
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#at === Infinity) return;
    const now = performance.now();
    if (now >= this.#at) this.#onExpired();
    else this.#arm(now);
  }
}
