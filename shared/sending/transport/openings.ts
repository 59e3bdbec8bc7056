import type { BudgetConnection } from './connection-budget.ts';
import type { PoolServer } from './server-health.ts';

/** A connection that is being opened. */
export interface Opening extends BudgetConnection {
  readonly signal: AbortSignal;
  /** Whether it was given up for a fresh connection. That is no failure of the server. */
  readonly isGivenUp: boolean;
}

/** A server that has opened no connection for this time is tried with one more. */
const SILENCE_MS = 5_000;
/** A mail host that does nothing for this time keeps nothing from other hosts. Most take a fraction of it. */
const HOST_SILENCE_MS = 1_000;
/** Others no longer wait for a server that has been silent for this time. */
export const LONG_MS = 10_000;

class SilentOpening implements Opening {
  isGivenUp = false;
  isApart = false;
  isSilent = false;
  readonly sinceMs = performance.now();
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(onSilence: () => void, silenceMs: number) {
    this.#timer = setInterval(onSilence, silenceMs).unref();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get ageMs(): number {
    return performance.now() - this.sinceMs;
  }

  get isLong(): boolean {
    return this.ageMs > LONG_MS;
  }

  abort(): void {
    this.#ending.abort();
  }

  giveUp(): void {
    this.isGivenUp = true;
    this.abort();
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

/**
 * The connections that are being opened. RFC 5321 section 4.5.3.2.1 gives a server five minutes for its greeting. But one
 * that was away for a moment may have lost the connections that it took, and greets only new ones. So while a server is
 * silent a fresh connection is tried every few seconds, and once one is open, those that are much older are given up.
 */
export class Openings {
  readonly #byServer = new Map<PoolServer, Set<SilentOpening>>();
  readonly #onSilence: (server: PoolServer, opening: Opening) => void;
  /** After which time without a sign a server is silent. */
  readonly silenceMs: number;
  /** How many are silent. */
  #silent = 0;

  /**
   * @param onSilence called again and again for each connection that a server does not open
   * @param areHosts whether the servers are mail hosts and not relays
   */
  constructor(onSilence: (server: PoolServer, opening: Opening) => void, areHosts: boolean) {
    this.#onSilence = onSilence;
    this.silenceMs = areHosts ? HOST_SILENCE_MS : SILENCE_MS;
  }

  begin(server: PoolServer): Opening {
    const all = this.#of(server);
    const opening: SilentOpening = new SilentOpening(() => {
      if (!opening.isSilent) this.#silent += 1;
      opening.isSilent = true;
      this.#onSilence(server, opening);
    }, this.silenceMs);
    all.add(opening);
    return opening;
  }

  /** Ends an opening, successful or not. */
  end(server: PoolServer, ended: Opening): void {
    const opening = [...this.#of(server)].find((each) => each === ended);
    if (!opening) return;
    opening.end();
    if (opening.isSilent) this.#silent -= 1;
    this.#of(server).delete(opening);
  }

  /** Notes that a connection is open, and gives up those that have been silent for far longer than it took. */
  opened(server: PoolServer, opened: Opening): void {
    const all = [...this.#of(server)];
    this.end(server, opened);
    const tookMs = all.find((opening) => opening === opened)?.ageMs ?? 0;
    for (const opening of all) if (opening.ageMs > 2 * tookMs + SILENCE_MS) opening.giveUp();
  }

  /** Gives up one connection in favour of a fresh one. The oldest stays, for servers that take long to greet. */
  makeRoom(server: PoolServer): void {
    const [, second] = this.#of(server);
    second?.giveUp();
  }

  /** Ends those that have been silent for long, as failures of the server. */
  endSilent(server: PoolServer): void {
    for (const opening of this.#of(server)) if (opening.isLong) opening.abort();
  }

  isLatest(server: PoolServer, opening: Opening): boolean {
    return [...this.#of(server)].at(-1) === opening;
  }

  /** Whether a server is silent, and whether it has been for long. */
  get silence(): 'none' | 'some' | 'long' {
    // Many pools ask whenever one connection of all is free.
    if (this.#silent === 0) return 'none';
    const all = [...this.#byServer.values()].flatMap((each) => [...each]);
    return all.some(({ isLong }) => isLong) ? 'long' : 'some';
  }

  giveUp(server: PoolServer): void {
    for (const opening of this.#of(server)) opening.giveUp();
  }

  /** Ends all openings, because the pool is closed. */
  abort(): void {
    for (const all of this.#byServer.values()) for (const opening of all) opening.abort();
  }

  #of(server: PoolServer): Set<SilentOpening> {
    const known = this.#byServer.get(server);
    if (known) return known;
    const all = new Set<SilentOpening>();
    this.#byServer.set(server, all);
    return all;
  }
}
