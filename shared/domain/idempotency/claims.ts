import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidV7 } from 'uuid';
import { AppError } from '../../pure/app-error.ts';
import { createProjectWriter, type RequestWrites } from '../database/project-writer.ts';
import {
  claimIdempotencyKeys,
  releaseIdempotencyKey,
  type ClaimOutcome,
  type IdempotencyClaim,
  type WantedClaim,
} from './idempotency.ts';

type Releasable = Omit<IdempotencyClaim, 'claimedAt'>;

export interface IdempotencyClaims {
  /** @returns the claim when the key is ours, otherwise the request that has it */
  claim: (request: { projectId: string; key: string; request: string }) => Promise<ClaimOutcome>;
  /**
   * Frees the key of a request that failed. Resolves after a moment at the latest; if it is not done then, it goes on.
   */
  release: (claim: Releasable) => Promise<void>;
}

/** How long the answer to a failed request waits for its key to be free. */
const ANSWER_WAIT_MS = 1_000;
const RETRY_MS = 500;
/** Then the claim counts as abandoned anyway. */
const GIVE_UP_MS = 35_000;
const CLAIMS_MAX = 100;

/**
 * Claims keys for the requests of one process, those of a project that come together with one statement, and frees
 * those of failed requests. While PostgreSQL is away nothing can be freed: the releases are kept and done as soon as it
 * is back, first for a caller that comes again with the same key.
 */
export function createIdempotencyClaims(deps: RequestWrites & { ttlHours: number }): IdempotencyClaims {
  const claimInGroup = createProjectWriter<WantedClaim, ClaimOutcome>({
    em: deps.em,
    takeTurn: deps.takeTurn,
    itemsMax: CLAIMS_MAX,
    write: claimIdempotencyKeys,
    octetsOf: () => 0,
    keysOf: ({ key }) => [key],
  });
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
        return await claimInGroup({ ...request, token, ttlHours: deps.ttlHours });
      } catch (error) {
        // A claim that had no turn was never made; of another one it is unknown whether it was made before its answer was lost.
        if (!(error instanceof AppError)) await release({ ...request, token });
        throw error;
      }
    },
  };
}
