/**
 * What guests may spend. A guest is a client that has proved nothing. A unit stands for some work, or for a connection,
 * a message or an octet.
 */
export interface GuestLimits {
  /** The units that one guest may spend at once. */
  units: number;
  /** The time in which that many units come back, in milliseconds. */
  refillMs: number;
  /** All guests together may spend as much as this many of them. */
  together?: number;
  /** The current time in milliseconds. */
  now?: () => number;
}

interface Account {
  units: number;
  refilledAtMs: number;
}

/** Beyond this number, the guest that has spent nothing for the longest time is forgotten. */
export const GUESTS_MAX = 10_000;

/** Creates units that come back with time, for each guest and for all guests together. */
export function createGuests(limits: GuestLimits) {
  const { units: whole, refillMs, together = Number.MAX_SAFE_INTEGER, now = () => performance.now() } = limits;
  const accounts = new Map<string, Account>();
  const all: Account = { units: whole * together, refilledAtMs: now() };

  function refill(account: Account, max: number): Account {
    const nowMs = now();
    account.units = Math.min(max, account.units + ((nowMs - account.refilledAtMs) / refillMs) * max);
    account.refilledAtMs = nowMs;
    return account;
  }

  function accountOf(guest: string): Account {
    const account = accounts.get(guest) ?? { units: whole, refilledAtMs: now() };
    accounts.delete(guest);
    accounts.set(guest, account);
    const [oldest] = accounts.keys();
    if (accounts.size > GUESTS_MAX && oldest !== undefined) accounts.delete(oldest);
    return refill(account, whole);
  }

  return {
    /**
     * Spends units of a guest, perhaps more than it has left.
     * @param guest its network (`clientOf`), or another name that stands for it
     * @returns false when it has not one unit left; nothing is spent then
     */
    spend(guest: string, units: number) {
      const own = accountOf(guest);
      if (own.units < 1 || refill(all, whole * together).units < 1) return false;
      own.units -= units;
      all.units -= units;
      return true;
    },
    /** Gives units back to a guest, because it has proved that they should not count. */
    giveBack(guest: string, units: number) {
      accountOf(guest).units += units;
      all.units += units;
    },
  };
}
