import type { BudgetConnection, BudgetMember, ConnectionBudget } from './connection-budget.ts';
import { SilentServerError } from './errors.ts';
import { tellSilence, type MessageQueue, type QueuedMessage } from './message-queue.ts';
import { LONG_MS, type Openings } from './openings.ts';
import type { Session } from './session.ts';

/** What the servers of a pool keep from others while they are silent, before the greeting or after it: nothing. */
export class Silence {
  readonly #openings: Openings;
  readonly #sessions: ReadonlySet<Session>;
  readonly #pool: BudgetMember;
  readonly #budget: ConnectionBudget | undefined;
  /** Whether a message was decided since the last one that a server was silent about for too long. */
  #hasDecided = false;
  #sinceMs = performance.now();

  /** @param budget what other pools need as well; missing for relays */
  constructor(
    openings: Openings,
    sessions: ReadonlySet<Session>,
    pool: BudgetMember,
    budget: ConnectionBudget | undefined,
  ) {
    this.#openings = openings;
    this.#sessions = sessions;
    this.#pool = pool;
    this.#budget = budget;
  }

  /** Whether no connection answers, and whether one has not for long. */
  get #state(): Openings['silence'] {
    let longestMs = 0;
    for (const { conversation } of this.#sessions) {
      if (conversation.silentMs === 0) return 'none';
      longestMs = Math.max(longestMs, conversation.silentMs);
    }
    if (longestMs > LONG_MS) return 'long';
    const { silence } = this.#openings;
    return longestMs > 0 && silence === 'none' ? 'some' : silence;
  }

  /** Whether messages get through, so that further connections are of use. */
  get isProved(): boolean {
    return this.#hasDecided && this.#sessions.size > 0 && this.#state === 'none';
  }

  /** Notes that a message was decided. @returns whether that is news */
  decided(): boolean {
    const isNews = !this.#hasDecided;
    this.#hasDecided = true;
    return isNews;
  }

  timedOut(): void {
    this.#hasDecided = false;
  }

  /** Lets messages of the queue leave, but as many as there are connections. */
  leave(queue: MessageQueue, connections: number): void {
    if (!this.#budget) return;
    const state = this.#state;
    if (state === 'none') {
      // What follows a silence that was too long is a part of it, until a message is decided.
      if (this.#hasDecided) this.#sinceMs = performance.now();
      return;
    }
    const silentMs = this.#sessions.size > 0 ? performance.now() - this.#sinceMs : Infinity;
    if (state === 'long') queue.refuseBehind(connections, () => new SilentServerError(silentMs));
    queue.tellSilence();
  }

  /** Notes that a server is silent about the messages of a connection. */
  note(session: Session, messages: readonly QueuedMessage[]): void {
    messages.forEach(tellSilence);
    const { conversation } = session;
    this.setApart(session, () => conversation.silentMs > LONG_MS && conversation.giveUp());
  }

  /** Leaves a connection to others. @param end ends it, if it has been silent for long */
  setApart(connection: BudgetConnection, end: () => void): void {
    this.#budget?.setApart(this.#pool, connection);
    // Other destinations need the connection, and this server has no right to more of them.
    if (this.#budget?.isWanted && !connection.isApart) end();
  }

  /** Notes that a connection goes on. */
  heard(connection: BudgetConnection): void {
    this.#budget?.rejoin(this.#pool, connection);
  }
}
