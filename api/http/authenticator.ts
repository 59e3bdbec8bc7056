import { AppError } from '../../shared/pure/app-error.ts';
import { createOrm, type Orm, type OrmOptions } from '../../shared/domain/schema/orm.ts';
import {
  countRequests,
  findKeyOwners,
  type CountedKeyOwner,
  type KeyOwner,
} from '../../shared/domain/projects/key-usage.ts';
import { requestLimits } from '../../shared/database/session-limits.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { isPublicKey, lookupOf, publicKeyOnly, readKey, unknownKey, type KeyKind } from './api-key.ts';
import type { RequestProject } from './context.ts';
import { createPublicShares, type PublicShares } from './public-shares.ts';
import { createRateCounter, type RateCounter, type RateState } from './rate-limit.ts';

export interface Caller {
  project: RequestProject;
  /** Whether it sent the public key. */
  isPublic: boolean;
  /** Undefined when the request could not be counted; it passes then. */
  rate: RateState | undefined;
  /** Whether the project accepts its secret key at endpoints that take the public one. */
  acceptsSecretKey: boolean;
}

export interface KeyedRequest {
  authorization: string | undefined;
  /** Who sends it, if that is known. */
  client: string | undefined;
}

export interface Authenticator {
  /** @throws AppError INVALID_API_KEY; RATE_LIMIT_EXCEEDED for a client that has had its share of the public key */
  authenticate: (request: KeyedRequest, keyKind: KeyKind, path: string) => Promise<Caller>;
}

export interface AuthenticatorDeps {
  /** An ORM with connections of its own, so that authentication never waits for other requests. */
  orm: Orm;
  logger: Logger;
  limitPerMinute: number;
}

const CONNECTIONS = 2;
/** A slower statement is cancelled. Requests whose counting was cancelled pass uncounted. */
const STATEMENT_TIMEOUT_SECONDS = 2;
/** Requests that share one statement. */
const BATCH_MAX = 1_000;
/** When a statement takes longer than this, the next ones no longer wait for it. */
const SLOW_MS = 20;

/** Connects to PostgreSQL for the authentication of requests. */
export async function createAuthenticatorOrm(options: Omit<OrmOptions, 'poolSize' | 'limits'>): Promise<Orm> {
  return createOrm({ ...options, poolSize: CONNECTIONS, limits: requestLimits(STATEMENT_TIMEOUT_SECONDS) });
}

/** @throws AppError RATE_LIMIT_EXCEEDED */
function assertShare(shares: PublicShares, publicKey: string, client: string | undefined, limit: number): void {
  const taken = client === undefined || shares.take(publicKey, client);
  if (taken === true) return;
  throw new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'More requests with the public key from this address than it leaves to others in this minute',
    details: { limit, retryAfter: taken.resetSeconds },
    suggestion: `Try again in ${taken.resetSeconds} seconds; a server uses the secret key`,
  });
}

interface WaitingRequest {
  lookup: string;
  isPublic: boolean;
  resolve: (caller: Caller | undefined) => void;
  reject: (error: unknown) => void;
}

function countsOf(batch: WaitingRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { lookup } of batch) counts.set(lookup, (counts.get(lookup) ?? 0) + 1);
  return counts;
}

/** The rate counter of each project, as it stood before the requests of a batch. */
function countersOf(
  batch: WaitingRequest[],
  ownerOf: ReadonlyMap<string, KeyOwner | CountedKeyOwner>,
  limitPerMinute: number,
): Map<string, RateCounter> {
  const before = new Map<string, { secretUsed: number; publicUsed: number; resetSeconds: number }>();
  for (const { lookup, isPublic } of batch) {
    const owner = ownerOf.get(lookup);
    if (!owner || !('secret_used' in owner)) continue;
    const { id, secret_used: secretUsed, public_used: publicUsed, reset_seconds: resetSeconds } = owner;
    const state = before.get(id) ?? { secretUsed, publicUsed, resetSeconds };
    if (isPublic) state.publicUsed -= 1;
    else state.secretUsed -= 1;
    before.set(id, state);
  }
  return new Map([...before].map(([id, state]) => [id, createRateCounter(limitPerMinute, state)]));
}

/** Tells each request of a batch who its caller is. */
function settle(batch: WaitingRequest[], owners: (KeyOwner | CountedKeyOwner)[], limitPerMinute: number): void {
  const ownerOf = new Map(owners.map((owner) => [owner.lookup, owner] as const));
  const counters = countersOf(batch, ownerOf, limitPerMinute);
  for (const { lookup, isPublic, resolve } of batch) {
    const owner = ownerOf.get(lookup);
    resolve(
      owner && {
        project: {
          id: owner.id,
          name: owner.name,
          disabled: owner.disabled,
          tracking: owner.tracking,
          brand: owner.brand,
          publicKeyRules: isPublic ? owner.public_key_rules : null,
        },
        isPublic,
        rate: counters.get(owner.id)?.next(isPublic),
        acceptsSecretKey: owner.track_accepts_secret_key,
      },
    );
  }
}

/**
 * Authenticates requests and counts them against the project's limit. Requests that arrive while a statement is running
 * share the next one, which keeps the number of statements low under load. Each request is answered by a statement that
 * began after it arrived, so a rotated key is refused at once. A slow statement, for instance one that waits for the
 * locked row of a project, delays only the requests whose keys are in it.
 */
export function createAuthenticator({ orm, logger, limitPerMinute }: AuthenticatorDeps): Authenticator {
  let waiting: WaitingRequest[] = [];
  let running = 0;
  let slow = 0;
  const runningLookups = new Set<string>();
  const shares = createPublicShares(limitPerMinute);

  async function run(batch: WaitingRequest[]): Promise<void> {
    const counts = countsOf(batch);
    try {
      const owners = await countRequests(orm.em.fork(), counts);
      for (const { lookup, public_used: publicUsed, reset_seconds: resetSeconds } of owners) {
        if (isPublicKey(lookup)) shares.learn(lookup, { publicUsed, resetSeconds });
      }
      settle(batch, owners, limitPerMinute);
    } catch (error) {
      logger.warn({ err: error }, 'requests pass because they could not be counted');
      try {
        settle(batch, await findKeyOwners(orm.em.fork(), [...counts.keys()]), limitPerMinute);
      } catch (cause) {
        for (const request of batch) request.reject(cause);
      }
    }
  }

  async function runNext(batch: WaitingRequest[]): Promise<void> {
    const lookups = new Set(batch.map(({ lookup }) => lookup));
    const statement = { isSlow: false };
    running += 1;
    for (const lookup of lookups) runningLookups.add(lookup);
    const timer = setTimeout(() => {
      statement.isSlow = true;
      slow += 1;
      start();
    }, SLOW_MS);
    await run(batch);
    clearTimeout(timer);
    running -= 1;
    if (statement.isSlow) slow -= 1;
    for (const lookup of lookups) runningLookups.delete(lookup);
    start();
  }

  /** Starts a statement for the waiting requests, unless a running one will end soon. */
  function start(): void {
    while (waiting.length > 0 && running === slow && running < CONNECTIONS) {
      const batch = waiting.filter(({ lookup }) => !runningLookups.has(lookup)).slice(0, BATCH_MAX);
      if (batch.length === 0) return;
      const taken = new Set(batch);
      waiting = waiting.filter((request) => !taken.has(request));
      void runNext(batch);
    }
  }

  return {
    async authenticate({ authorization, client }, keyKind, path) {
      const key = readKey(authorization, keyKind);
      const lookup = lookupOf(key);
      if (isPublicKey(key)) assertShare(shares, key, client, limitPerMinute);
      const caller = await new Promise<Caller | undefined>((resolve, reject) => {
        waiting.push({ lookup, isPublic: isPublicKey(key), resolve, reject });
        start();
      });
      if (!caller) throw unknownKey();
      if (keyKind === 'public' && !isPublicKey(key) && !caller.acceptsSecretKey) throw publicKeyOnly(path);
      return caller;
    },
  };
}
