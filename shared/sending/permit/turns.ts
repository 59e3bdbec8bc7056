import { HeldLines } from './held-lines.ts';
import { pause } from '../../platform/wait.ts';

const BANK_MS = 2_000;

/** Turns at a speed that may change. Those that were missed within `BANK_MS` are made up for. */
class Turns {
  #nextMs: number;

  constructor(nowMs: number) {
    this.#nextMs = nowMs;
  }

  at(nowMs: number): number {
    return Math.max(this.#nextMs, nowMs - BANK_MS);
  }

  take(turnMs: number, stepMs: number): void {
    this.#nextMs = turnMs + stepMs;
  }
}

/** The longest wait within the send loop, where a waiting email occupies the place of another. */
const SHORT_WAIT_MS = 300;
/** How long a held email waits. The speed may change meanwhile, so a distant turn is planned again. */
const HELD_MS = { min: 2_000, max: 60_000 } as const;

/** The turns of emails to providers that limit the speed, by key. */
export class ProviderTurns {
  readonly #turns = new Map<string, Turns>();
  readonly #held = new HeldLines();
  /** At most a quarter of the places of the send loop wait for a turn. */
  readonly #waitingMax: number;
  #waiting = 0;

  constructor(places: number) {
    this.#waitingMax = Math.max(1, Math.floor(places / 4));
  }

  /** Whether the next turn is now. */
  isFree(key: string): boolean {
    const nowMs = performance.now();
    return (this.#turns.get(key)?.at(nowMs) ?? 0) <= nowMs;
  }

  /**
   * Waits for a turn, if it is near.
   * @param owner whose email it is: each has a line of its own of emails that are held
   * @param rate emails a second of this worker
   * @returns how long the email must be held, in milliseconds; undefined when it may go
   */
  async take(key: string, owner: string, rate: number, signal: AbortSignal): Promise<number | undefined> {
    const nowMs = performance.now();
    const stepMs = 1_000 / rate;
    const turns = this.#turns.get(key) ?? new Turns(nowMs);
    this.#turns.set(key, turns);
    const turnMs = turns.at(nowMs);
    const waitMs = Math.max(0, turnMs - nowMs);
    if (waitMs > 0 && !this.#mayWait(waitMs)) {
      const times = { earliestMs: nowMs + HELD_MS.min, latestMs: nowMs + HELD_MS.max, stepMs };
      return this.#held.place({ rule: key, owner }, times) - nowMs;
    }
    turns.take(turnMs, stepMs);
    if (waitMs > 0) {
      this.#waiting += 1;
      await pause(waitMs, signal);
      this.#waiting -= 1;
    }
    return undefined;
  }

  #mayWait(ms: number): boolean {
    return ms <= SHORT_WAIT_MS && this.#waiting < this.#waitingMax;
  }
}
