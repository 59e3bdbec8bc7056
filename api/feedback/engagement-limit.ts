/** Counts what one client address does with one email, in memory. */
export interface EngagementLimit {
  /** Counts an engagement; false when there were too many in this minute. */
  take: (address: string, emailId: string) => boolean;
}

const MINUTE_MS = 60_000;
/** No reader and no scanner needs more; many readers of different emails may share an address. */
const ENGAGEMENTS_PER_MINUTE = 60;
/** Pairs that are counted; further pairs are let in until the minute is over. */
const PAIRS_MAX = 100_000;

/** Creates a limit. It forgets everything with each minute, so its memory is bounded. */
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
