import { setTimeout as delay } from 'node:timers/promises';
import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { createProjectWriter, type ProjectWriterDeps } from '../../database/project-writer.ts';
import {
  claimIdempotencyKeys,
  releaseIdempotencyKey,
  type ClaimOutcome,
  type IdempotencyClaim,
  type IdempotencyKey,
  type WantedClaim,
} from './idempotency.ts';

type Releasable = Omit<IdempotencyClaim, 'claimedAt'>;

/** The longest time that the answer to a failed request waits until its key is free. */
const ANSWER_WAIT_MS = 1_000;
const RETRY_MS = 500;
/** After this time the claim counts as abandoned anyway. */
const GIVE_UP_MS = 35_000;
const CLAIMS_MAX = 100;

const nameOf = ({ projectId, key, isPublic }: IdempotencyKey) =>
  `${projectId} ${isPublic ? 'public' : 'secret'} ${key}`;

/**
 * Claims keys for the requests of one process, and frees the keys of failed requests. One statement claims for all
 * requests of a project that come together. While PostgreSQL is unavailable no key can be freed, so releases are
 * repeated until it is back. A new request with such a key releases it first.
 */
export function createIdempotencyClaims(deps: ProjectWriterDeps & { ttlHours: number }) {
  const claimInGroup = createProjectWriter<WantedClaim, ClaimOutcome>({
    em: deps.em,
    slots: deps.slots,
    itemsMax: CLAIMS_MAX,
    write: (em, wanted, lockMs) => claimIdempotencyKeys(em, wanted, { lockMs }),
    octetsOf: () => 0,
    keysOf: (wanted) => [nameOf(wanted)],
  });
  const pending = new Map<string, Releasable>();

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

  /** Frees the key of a request that failed. Resolves after a second at the latest, and then continues to try. */
  async function release(claim: Releasable): Promise<void> {
    pending.set(nameOf(claim), claim);
    await Promise.race([keepTrying(claim), delay(ANSWER_WAIT_MS, undefined, { ref: false })]);
  }

  return {
    release,
    /** @returns the claim when the request has got the key, otherwise the request that used the key first */
    async claim(request: IdempotencyKey & { request: string }): Promise<ClaimOutcome> {
      const unreleased = pending.get(nameOf(request));
      if (unreleased) await tryRelease(unreleased);
      const token = uuidV7();
      try {
        return await claimInGroup({ ...request, token, ttlHours: deps.ttlHours });
      } catch (error) {
        // An AppError means that the claim was never tried. After any other error the claim may have been made, and
        // only its answer lost.
        if (!(error instanceof AppError)) await release({ ...request, token });
        throw error;
      }
    },
  };
}
