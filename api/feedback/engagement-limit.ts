/** Limits the engagements that one client address may have with one email. */
export interface EngagementLimit {
  /** Counts an engagement. @returns false when there were too many in this minute */
  take: (address: string, emailId: string) => boolean;
}

const MINUTE_MS = 60_000;
/** No reader and no scanner needs more; many readers of different emails may share an address. */
const ENGAGEMENTS_PER_MINUTE = 60;
/** The most pairs of address and email that are counted; further pairs are not limited in this minute. */
const PAIRS_MAX = 100_000;

/** Creates a limit that counts in memory and forgets all counts with each minute. */
export function createEngagementLimit(now: () => number = Date.now): EngagementLimit {
  const engagements = new Map<string, number>();
  let minute = 0;
  return {
    take(address, emailId) {
      const current = Math.floor(now() / MINUTE_MS);
      if (current !== minute) engagements.clear();
      minute = current;
      const pair = `${address} ${emailId}`;
      const count = (engagements.get(pair) ?? 0) + 1;
      if (count === 1 && engagements.size >= PAIRS_MAX) return true;
      engagements.set(pair, count);
      return count <= ENGAGEMENTS_PER_MINUTE;
    },
  };
}
