/** Gives back what was taken; a second call does nothing. */
export type Release = () => void;

export interface ShareLimits {
  /** What all owners together may hold at a time. */
  total: number;
  /** What one owner may hold at a time. By default everything. */
  perOwner?: number;
  /** How many may wait, in all and of one owner. Default: any number. */
  waiting?: { total: number; perOwner: number };
  /** The end of a wait, in milliseconds. By default it has none. */
  waitMs?: number;
  /**
   * The error of a wait that ended, or that could not begin because too many wait.
   * @param isOwn whether the owner waits for what it holds itself
   */
  refusal?: (isOwn: boolean) => Error;
}

interface Waiting {
  amount: number;
  grant: (release: Release) => void;
}

interface Owner {
  used: number;
  waiting: Waiting[];
}

const nothingFree = (): Error => new Error('nothing was free in time');

/**
 * Shares something bounded, such as slots or octets, among owners. What an owner takes is its turn, until it gives that
 * back. Owners that wait take turns, so an owner waits for at most one turn of each other, even if a thousand requests of
 * that one wait. Those of one owner get their turns in the order in which they came.
 */
export class Share {
  readonly #limits: Required<ShareLimits>;
  /** Owners that hold something or wait, in the order of their turns. */
  readonly #owners = new Map<string, Owner>();
  #used = 0;
  #waitingCount = 0;

  constructor({ total, perOwner = total, waiting, waitMs = Infinity, refusal = nothingFree }: ShareLimits) {
    this.#limits = { total, perOwner, waiting: waiting ?? { total: Infinity, perOwner: Infinity }, waitMs, refusal };
  }

  /**
   * Takes an amount for an owner, and waits for it if necessary. An amount above the bound counts as the bound; one of 0
   * is granted unless the owner holds more than its bound.
   * @throws the refusal of the share, or the reason of `signal` when it is aborted before the amount is granted
   */
  async take(name: string, wanted = 1, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const { waiting, refusal } = this.#limits;
    const amount = this.#bounded(wanted);
    const owner = this.#ownerOf(name);
    if (this.isFree(name, amount)) return this.#give(name, owner, amount);
    if (owner.waiting.length >= waiting.perOwner) throw refusal(owner.waiting.length > 0 || this.#isOwn(owner, amount));
    if (this.#waitingCount >= waiting.total) throw refusal(false);
    return this.#wait(name, owner, amount, signal);
  }

  /** As `take`, without waiting. The amount may exceed the limits; then the owner waits before it takes more. */
  add(name: string, amount: number): Release {
    return this.#give(name, this.#ownerOf(name), amount);
  }

  /** Does work in a turn of an owner. @throws what `take` and the work throw */
  async run<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const release = await this.take(name, 1, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Whether `take` would not wait. */
  isFree(name: string, wanted: number): boolean {
    const owner = this.#ownerOf(name);
    return owner.waiting.length === 0 && this.#fits(owner, this.#bounded(wanted));
  }

  #bounded(amount: number): number {
    return Math.min(amount, this.#limits.perOwner, this.#limits.total);
  }

  #isOwn(owner: Owner, amount: number): boolean {
    return owner.used + amount > this.#limits.perOwner;
  }

  #fits(owner: Owner, amount: number): boolean {
    return !this.#isOwn(owner, amount) && (amount === 0 || this.#used + amount <= this.#limits.total);
  }

  #ownerOf(name: string): Owner {
    return this.#owners.get(name) ?? { used: 0, waiting: [] };
  }

  #give(name: string, owner: Owner, amount: number): Release {
    this.#owners.set(name, owner);
    owner.used += amount;
    this.#used += amount;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      owner.used -= amount;
      this.#used -= amount;
      this.#forgetIdle(name, owner);
      this.#serve();
    };
  }

  /** Another entry may have the name already: an amount of 0 keeps no owner from being forgotten. */
  #forgetIdle(name: string, owner: Owner): void {
    if (owner.used === 0 && owner.waiting.length === 0 && this.#owners.get(name) === owner) this.#owners.delete(name);
  }

  #wait(name: string, owner: Owner, amount: number, signal: AbortSignal | undefined): Promise<Release> {
    const { waitMs, refusal } = this.#limits;
    this.#owners.set(name, owner);
    return new Promise((resolve, reject) => {
      const leave = (reason: Error): void => {
        stop();
        owner.waiting.splice(owner.waiting.indexOf(waiting), 1);
        this.#waitingCount -= 1;
        this.#forgetIdle(name, owner);
        reject(reason);
        this.#serve();
      };
      const onAbort = (): void => leave(signal?.reason as Error);
      const end = (): void => leave(refusal(this.#isOwn(owner, amount)));
      const timer = Number.isFinite(waitMs) ? setTimeout(end, waitMs) : undefined;
      const stop = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const grant = (release: Release): void => {
        stop();
        resolve(release);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const waiting = { amount, grant };
      owner.waiting.push(waiting);
      this.#waitingCount += 1;
    });
  }

  /** Grants what is free, a request of each owner in turn, until nothing more can be granted. */
  #serve(): void {
    for (let isServing = this.#waitingCount > 0; isServing;) {
      isServing = false;
      for (const [name, owner] of [...this.#owners]) {
        const [first] = owner.waiting;
        if (!first || !this.#fits(owner, first.amount)) continue;
        isServing = true;
        owner.waiting.shift();
        this.#waitingCount -= 1;
        // The owner whose turn it was goes to the end.
        this.#owners.delete(name);
        first.grant(this.#give(name, owner, first.amount));
      }
    }
  }
}
