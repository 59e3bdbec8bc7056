import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../database/em.ts';
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  type IdempotencyClaim,
  type OriginalRequest,
} from './idempotency.ts';

type Releasable = Omit<IdempotencyClaim, 'claimedAt'>;

export interface IdempotencyClaims {
  /** @returns the claim when the key is ours, otherwise the request that has it */
  claim: (request: {
    projectId: string;
    key: string;
    request: string;
  }) => Promise<{ claim: IdempotencyClaim } | { original: OriginalRequest }>;
  /** Frees the key of a request that failed. Resolves after a moment at the latest; if it is not done then, it goes on. */
  release: (claim: Releasable) => Promise<void>;
}

/** How long the answer to a failed request waits for its key to be free. */
const ANSWER_WAIT_MS = 1_000;
const RETRY_MS = 500;
/** Then the claim counts as abandoned anyway. */
const GIVE_UP_MS = 35_000;

/**
 * Claims keys for the requests of one process, and frees those of failed requests. While PostgreSQL is away nothing can
 * be freed: the releases are kept and done as soon as it is back, first for a caller that comes again with the same
 * key.
 */
export function createIdempotencyClaims(deps: { em: () => Em; ttlHours: number }): IdempotencyClaims {
  const pending = new Map<string, Releasable>();
  const nameOf = ({ projectId, key }: { projectId: string; key: string }) => `${projectId} ${key}`;

  async function tryRelease(claim: Releasable): Promise<void> {
    await releaseIdempotencyKey(deps.em(), claim);
    if (pending.get(nameOf(claim)) === claim) pending.delete(nameOf(claim));
  }

  async function keepTrying(claim: Releasable): Promise<void> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    while (pending.get(nameOf(claim)) === claim) {
      try {
        await tryRelease(claim);
      } catch {
        if (Date.now() > giveUpAt) pending.delete(nameOf(claim));
        else await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  async function release(claim: Releasable): Promise<void> {
    pending.set(nameOf(claim), claim);
    await Promise.race([keepTrying(claim), delay(ANSWER_WAIT_MS, undefined, { ref: false })]);
  }

  return {
    release,
    async claim(request) {
      const left = pending.get(nameOf(request));
      if (left) await tryRelease(left);
      const token = uuidV7();
      try {
        return await claimIdempotencyKey(deps.em(), { ...request, token, ttlHours: deps.ttlHours });
      } catch (error) {
        // It is unknown whether the key was claimed before the answer was lost.
        await release({ ...request, token });
        throw error;
      }
    },
  };
}
