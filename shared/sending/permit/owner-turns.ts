/** How long room is left to the mail of an owner whose turn it is. */
export const TURN_MS = 5;

/** Whose mail may use what is free of a rule: the owners whose mail waits, one after another. */
export class OwnerTurns {
  readonly #waiting = new Set<string>();
  #turn: { owner: string; untilMs: number } | undefined;

  /** Notes that mail of an owner waits. */
  wait(owner: string): void {
    this.#waiting.add(owner);
  }

  /** Notes that a turn was used. */
  used(): void {
    this.#turn = undefined;
  }

  /** Whether it is the turn of an owner, or nobody's. @param tell is called with another owner whose turn begins */
  isTurnOf(owner: string, nowMs: number, tell: (next: string) => void): boolean {
    if (!this.#turn || this.#turn.untilMs <= nowMs) {
      const [next] = this.#waiting;
      if (next === undefined) return true;
      this.#waiting.delete(next);
      this.#turn = { owner: next, untilMs: nowMs + TURN_MS };
      if (next !== owner) tell(next);
    }
    return this.#turn.owner === owner;
  }
}
