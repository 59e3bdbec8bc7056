/** A pool that has some of the connections of a budget. */
export interface BudgetMember {
  /** Opens connections, if it still needs some and they are free. */
  pump: () => void;
  /** Ends an idle connection. @returns whether more are idle */
  endIdle: () => boolean;
}

/** Messages of a connection while other pools wait for one. */
export const MESSAGES_PER_TURN = 10;
/** Connections to a destination before the first is open: one that never answers must not hold many. */
export const UNPROVED_MAX = 2;
/** The most connections to silent servers that do not count. */
const APART_MAX = 100;
/** A connection of a pool, open or being opened. */
export interface BudgetConnection {
  /** Whether it has left the connections that pools share, because its server is silent. */
  isApart: boolean;
}

/** The part of the connections that campaigns leave to more urgent messages. */
const RESERVED_PART = 1 / 4;

/**
 * The connections of a process, which the pools of many destinations share. Pools that need one take turns: an idle
 * connection ends for a pool that needs one elsewhere, and while some wait, the pools end theirs after a few messages.
 */
export class ConnectionBudget {
  readonly #max: () => number;
  #used = 0;
  /** The number of connections of each pool that has some or needs one. */
  readonly #pools = new Map<BudgetMember, number>();
  /** How many connections to silent servers do not count. */
  #apart = 0;
  /** Pools that need a connection, in the order of their turns. */
  readonly #waiting = new Set<BudgetMember>();
  /** Pools with idle connections, the one that was idle first in front. */
  readonly #idle = new Set<BudgetMember>();
  #isServing = false;

  /** @param max tells how many connections may be open, over all pools together */
  constructor(max: () => number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether a pool waits for a connection. */
  get isWanted(): boolean {
    return this.#waiting.size > 0;
  }

  /** The number of connections that a pool may open now. Campaigns leave a quarter of all to urgent messages. */
  free(isUrgent: boolean): number {
    return Math.max(0, this.#total(isUrgent) - this.#used);
  }

  #total(isUrgent: boolean): number {
    const max = this.#max();
    return isUrgent ? max : max - Math.floor(max * RESERVED_PART);
  }

  /**
   * What each of the pools may have, so that none opens further connections at the cost of others. What cannot be divided
   * equally is for all, but half of it stays free, so that a pool whose connection ends has room for the next one.
   */
  share(isUrgent: boolean): number {
    const [total, pools] = [this.#total(isUrgent), Math.max(1, this.#pools.size)];
    if (this.free(isUrgent) > Math.max(1, (total % pools) / 2)) return total;
    return Math.max(1, Math.floor(total / pools));
  }

  opened(member: BudgetMember): void {
    this.#used += 1;
    this.#count(member, 1);
  }

  ended(member: BudgetMember, connection?: BudgetConnection): void {
    if (connection?.isApart) {
      this.#apart -= 1;
      return;
    }
    this.#used -= 1;
    this.#count(member, -1);
    this.#serveSoon();
  }

  #count(member: BudgetMember, by: number): void {
    const count = (this.#pools.get(member) ?? 0) + by;
    if (count > 0 || this.#waiting.has(member)) this.#pools.set(member, count);
    else this.#pools.delete(member);
  }

  /**
   * Counts a connection no more, because its server is silent: others must not lack it. There may be too many of these;
   * then it still counts.
   */
  setApart(member: BudgetMember, connection: BudgetConnection): void {
    if (connection.isApart || this.#apart >= APART_MAX) return;
    this.ended(member);
    this.#apart += 1;
    connection.isApart = true;
  }

  /** Counts a connection that was set apart again, because its server goes on. */
  rejoin(member: BudgetMember, connection: BudgetConnection): void {
    if (!connection.isApart) return;
    this.#apart -= 1;
    connection.isApart = false;
    this.opened(member);
  }

  /** Notes that a pool needs a connection more, and ends an idle one of another pool for it. */
  want(member: BudgetMember): void {
    this.#waiting.add(member);
    this.#count(member, 0);
    this.#endIdle();
  }

  /** Ends idle connections of which there are more than there may be, or opens those that are waited for. */
  adjust(): void {
    for (let over = this.#used - this.#max(); over > 0; over -= 1) this.#endIdle();
    this.#serveSoon();
  }

  #endIdle(): void {
    const [idle] = this.#idle;
    if (idle && !idle.endIdle()) this.#idle.delete(idle);
  }

  noteIdle(member: BudgetMember): void {
    this.#idle.add(member);
  }

  #serveSoon(): void {
    if (this.#isServing || this.#waiting.size === 0) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      for (const member of [...this.#waiting]) {
        if (this.free(true) === 0) return;
        this.#waiting.delete(member);
        member.pump();
        this.#count(member, 0);
      }
    });
  }
}
