/** The public key's share of a project's requests: every visitor has that key, and must not block the secret key. */
const PUBLIC_SHARE = 0.8;

/** What a project has used of its rate limit in the current minute. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
  isExceeded: boolean;
}

/** The requests that the public key may make in a minute. */
export function publicLimitOf(limitPerMinute: number): number {
  return Math.max(1, Math.floor(limitPerMinute * PUBLIC_SHARE));
}

/**
 * Creates a counter that goes on from what a project had used before a batch. Requests of the public key beyond its
 * share are refused and not counted, so the rest of the minute stays for the secret key.
 */
export function createRateCounter(
  limitPerMinute: number,
  before: { secretUsed: number; publicUsed: number; resetSeconds: number },
) {
  const publicLimit = publicLimitOf(limitPerMinute);
  let { secretUsed, publicUsed } = before;
  return {
    /** The state after the next requests. */
    next(isPublic: boolean, requests: number): RateState {
      if (isPublic) publicUsed += requests;
      else secretUsed += requests;
      const used = secretUsed + Math.min(publicUsed, publicLimit);
      const isExceeded = used > limitPerMinute || (isPublic && publicUsed > publicLimit);
      return {
        limit: limitPerMinute,
        remaining: isExceeded ? 0 : limitPerMinute - used,
        resetSeconds: Math.max(1, before.resetSeconds),
        isExceeded,
      };
    },
  };
}

/** Counts the requests of a batch one after the other. */
export type RateCounter = ReturnType<typeof createRateCounter>;
