/** Connections that wait for a message. One that has waited for `timeoutMs` is removed and passed to `onDue`. */
export class IdleSessions<Session> {
  readonly #timeoutMs: number;
  readonly #onDue: (session: Session) => void;
  /** The time at which each began to wait, the oldest first. */
  readonly #since = new Map<Session, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, onDue: (session: Session) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#since.size;
  }

  add(session: Session): void {
    this.#since.set(session, Date.now());
    this.#schedule();
  }

  remove(session: Session): void {
    this.#since.delete(session);
  }

  some(isWanted: (session: Session) => boolean): boolean {
    for (const session of this.#since.keys()) {
      if (isWanted(session)) return true;
    }
    return false;
  }

  newestFirst(): Session[] {
    return [...this.#since.keys()].reverse();
  }

  takeAll(isWanted: (session: Session) => boolean): Session[] {
    const taken = [...this.#since.keys()].filter(isWanted);
    for (const session of taken) this.#since.delete(session);
    return taken;
  }

  #schedule(): void {
    const [oldest] = this.#since.values();
    if (oldest === undefined || this.#timer) return;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(oldest + this.#timeoutMs - Date.now(), 1));
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const until = Date.now() - this.#timeoutMs;
    for (const [session, since] of [...this.#since]) {
      if (since > until) break;
      this.#since.delete(session);
      this.#onDue(session);
    }
    this.#schedule();
  }
}
