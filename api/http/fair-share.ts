import { AppError } from '../../shared/pure/app-error.ts';

export interface FairShareLimits {
  /** The amount that all owners together may hold at a time. */
  total: number;
  /** The amount that one owner may hold at a time. */
  perOwner: number;
  /** How many requests of one owner may wait. */
  waitingPerOwner: number;
  /** How many requests of all owners may wait. */
  waitingTotal: number;
  /** Longest wait, in milliseconds. */
  waitMs: number;
}

export interface FairShare {
  /**
   * Takes `amount` for an owner, and waits for it if necessary. An amount above the owner's bound counts as the bound.
   * An amount of 0 is granted unless the owner holds more than its bound.
   * @returns a function that gives the amount back; a second call does nothing
   * @throws AppError RATE_LIMIT_EXCEEDED when the owner itself holds what it waits for, else SERVICE_UNAVAILABLE
   */
  take: (owner: string, amount: number) => Promise<() => void>;
  /** As `take`, without waiting. The amount may exceed the limits; then the owner waits before it takes more. */
  add: (owner: string, amount: number) => () => void;
}

interface Waiting {
  amount: number;
  grant: (release: () => void) => void;
}

interface Owner {
  used: number;
  waiting: Waiting[];
}

const RETRY_AFTER_SECONDS = 2;

function overload(isOwn: boolean): AppError {
  if (!isOwn) return new AppError('SERVICE_UNAVAILABLE');
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'This project has too many requests in progress',
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Wait for answers before sending more requests',
  });
}

/**
 * Shares a scarce amount among owners. Each owner has a bound. Waiting requests take turns by owner, so an owner waits
 * for at most one request of another, even if a thousand of that owner wait.
 */
export function createFairShare(limits: FairShareLimits): FairShare {
  const { total, perOwner, waitingPerOwner, waitingTotal, waitMs } = limits;
  /** Owners that hold something or wait, in the order of their turns. */
  const owners = new Map<string, Owner>();
  let used = 0;
  let waitingCount = 0;

  function fits(owner: Owner, amount: number): boolean {
    return owner.used + amount <= perOwner && (amount === 0 || used + amount <= total);
  }

  function ownerOf(name: string): Owner {
    return owners.get(name) ?? { used: 0, waiting: [] };
  }

  /** Another entry may have the name already: an amount of 0 keeps no owner from being forgotten. */
  function forgetIdle(name: string, owner: Owner): void {
    if (owner.used === 0 && owner.waiting.length === 0 && owners.get(name) === owner) owners.delete(name);
  }

  function give(name: string, owner: Owner, amount: number): () => void {
    owners.set(name, owner);
    owner.used += amount;
    used += amount;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      owner.used -= amount;
      used -= amount;
      forgetIdle(name, owner);
      serve();
    };
  }

  /** Grants waiting requests, one for each owner in turn, until none can be granted. */
  function serve(): void {
    let isServing = waitingCount > 0;
    while (isServing) {
      isServing = false;
      for (const [name, owner] of [...owners]) {
        const first = owner.waiting[0];
        if (!first || !fits(owner, first.amount)) continue;
        owner.waiting.shift();
        waitingCount -= 1;
        isServing = true;
        // The owner whose turn it was goes to the end.
        owners.delete(name);
        owners.set(name, owner);
        first.grant(give(name, owner, first.amount));
      }
    }
  }

  function wait(name: string, owner: Owner, amount: number): Promise<() => void> {
    owners.set(name, owner);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        owner.waiting.splice(owner.waiting.indexOf(waiting), 1);
        waitingCount -= 1;
        forgetIdle(name, owner);
        reject(overload(owner.used + amount > perOwner));
      }, waitMs);
      const waiting: Waiting = {
        amount,
        grant(release) {
          clearTimeout(timer);
          resolve(release);
        },
      };
      owner.waiting.push(waiting);
      waitingCount += 1;
    });
  }

  return {
    async take(name, wanted) {
      const amount = Math.min(wanted, perOwner, total);
      const owner = ownerOf(name);
      if (owner.waiting.length === 0 && fits(owner, amount)) return give(name, owner, amount);
      if (owner.waiting.length >= waitingPerOwner)
        throw overload(owner.waiting.length > 0 || owner.used + amount > perOwner);
      if (waitingCount >= waitingTotal) throw overload(false);
      return wait(name, owner, amount);
    },
    add: (name, amount) => give(name, ownerOf(name), amount),
  };
}
