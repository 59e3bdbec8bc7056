import { publicLimitOf } from './rate-limit.ts';

interface Minute {
  endsAtMs: number;
  publicUsed: number;
  byClient: Map<string, number>;
}

/** Beyond these numbers, the oldest key or client is forgotten. */
const KEYS_MAX = 10_000;
const CLIENTS_MAX = 10_000;
const MINUTE_MS = 60_000;
/** PostgreSQL tells the end of its minute in whole seconds. */
const ROUNDING_MS = 2_000;

function setLast<Value>(map: Map<string, Value>, max: number, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/**
 * Creates the shares of one process. A client may use as much as it leaves to the others: half of it when it is alone,
 * less when others use it as well. So one visitor, or ten, cannot use up what all have together. A client that has had
 * its share is refused before its request is counted.
 */
export function createPublicShares(limitPerMinute: number, now: () => number = Date.now) {
  const publicLimit = publicLimitOf(limitPerMinute);
  const minutes = new Map<string, Minute>();
  /** Those of keys that may not exist. They make none of the others forgotten. */
  const unlearned = new Map<string, Minute>();

  function minuteOf(lookup: string): Minute {
    const map = minutes.has(lookup) ? minutes : unlearned;
    const known = map.get(lookup);
    if (known && known.endsAtMs > now()) return known;
    const begun = { endsAtMs: now() + MINUTE_MS, publicUsed: 0, byClient: new Map<string, number>() };
    setLast(map, KEYS_MAX, lookup, begun);
    return begun;
  }

  return {
    /** Counts a request of a client with the key that has this hash. @returns false, and the seconds until the minute ends, when it has had its share */
    take(lookup: string, client: string): true | { resetSeconds: number } {
      const minute = minuteOf(lookup);
      const leftMs = minute.endsAtMs - now();
      const used = minute.byClient.get(client) ?? 0;
      if (used >= publicLimit - minute.publicUsed) return { resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) };
      setLast(minute.byClient, CLIENTS_MAX, client, used + 1);
      minute.publicUsed += 1;
      return true;
    },
    /** Notes what the key has used in the current minute, at all processes. */
    learn(lookup: string, { publicUsed, resetSeconds }: { publicUsed: number; resetSeconds: number }) {
      const endsAtMs = now() + resetSeconds * 1_000;
      let minute = minuteOf(lookup);
      if (endsAtMs > minute.endsAtMs + ROUNDING_MS) minute = { endsAtMs, publicUsed, byClient: new Map() };
      minute.endsAtMs = Math.min(minute.endsAtMs, endsAtMs);
      minute.publicUsed = Math.max(minute.publicUsed, publicUsed);
      unlearned.delete(lookup);
      setLast(minutes, KEYS_MAX, lookup, minute);
    },
  };
}

/** How the clients of public keys share what those keys may use of their projects' rate limits. */
export type PublicShares = ReturnType<typeof createPublicShares>;
