import { AppError } from '../../shared/pure/app-error.ts';
import { createOrm, type Orm, type OrmOptions } from '../../shared/domain/schema/orm.ts';
import {
  countRequests,
  findKeyOwners,
  type CountedKeyOwner,
  type KeyOwner,
} from '../../shared/domain/projects/key-usage.ts';
import { requestLimits } from '../../shared/database/session-limits.ts';
import { isPublicRole } from '../../shared/pure/key-roles.ts';
import { Gather } from '../../shared/platform/gather.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { hashKey } from '../../shared/domain/projects/keys.ts';
import { expiredKey, isPublicKey, publicKeyOnly, readKey, unknownKey, type KeyKind } from './api-key.ts';
import type { RequestKey, RequestProject } from './context.ts';
import { createPublicShares, type PublicShares } from './public-shares.ts';
import { createRateCounter, type RateCounter, type RateState } from './rate-limit.ts';

export interface Caller {
  /** The hash of its key. */
  lookup: string;
  project: RequestProject;
  key: RequestKey;
  /** Whether it sent a public key. */
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
  /** For how many requests it stands. Default 1. */
  requests?: number;
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
/** Keys whose requests share one statement. */
const KEYS_MAX = 1_000;

/** Connects to PostgreSQL for the authentication of requests. What they write, counts of requests, may be lost. */
export async function createAuthenticatorOrm(options: Omit<OrmOptions, 'poolSize' | 'limits'>): Promise<Orm> {
  const limits = { ...requestLimits(STATEMENT_TIMEOUT_SECONDS), mayLoseCommits: true };
  return createOrm({ ...options, poolSize: CONNECTIONS, limits });
}

/** @throws AppError RATE_LIMIT_EXCEEDED */
function assertShare(shares: PublicShares, lookup: string, client: string | undefined, limit: number): void {
  const taken = client === undefined || shares.take(lookup, client);
  if (taken === true) return;
  throw new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'More requests with the public key from this address than it leaves to others in this minute',
    details: { limit, retryAfter: taken.resetSeconds },
    suggestion: `Try again in ${taken.resetSeconds} seconds; a server uses the secret key`,
  });
}

/** The requests with a key that arrived while a statement was running. */
interface KeyRequests {
  lookup: string;
  isPublic: boolean;
  count: number;
}

/** Tells requests who their caller is; undefined when there is no such key. @throws AppError for an expired key */
type FindCaller = (requests: number) => Caller | undefined;

/** The rate counter of each project, as it stood before the requests of a group. */
function countersOf(
  group: KeyRequests[],
  ownerOf: ReadonlyMap<string, KeyOwner | CountedKeyOwner>,
  limitPerMinute: number,
): Map<string, RateCounter> {
  const before = new Map<string, { secretUsed: number; publicUsed: number; resetSeconds: number }>();
  for (const { lookup, isPublic, count } of group) {
    const owner = ownerOf.get(lookup);
    if (!owner || owner.has_expired || !('secret_used' in owner)) continue;
    const { id, secret_used: secretUsed, public_used: publicUsed, reset_seconds: resetSeconds } = owner;
    const state = before.get(id) ?? { secretUsed, publicUsed, resetSeconds };
    if (isPublic) state.publicUsed -= count;
    else state.secretUsed -= count;
    before.set(id, state);
  }
  return new Map([...before].map(([id, state]) => [id, createRateCounter(limitPerMinute, state)]));
}

function callersOf(group: KeyRequests[], owners: (KeyOwner | CountedKeyOwner)[], limitPerMinute: number): FindCaller[] {
  const ownerOf = new Map(owners.map((owner) => [owner.lookup, owner] as const));
  const counters = countersOf(group, ownerOf, limitPerMinute);
  return group.map(({ lookup, isPublic }) => (requests) => {
    const owner = ownerOf.get(lookup);
    if (!owner) return undefined;
    if (owner.has_expired) throw expiredKey(owner.expires_at);
    const { id, name, disabled, tracking, clientAddresses, brand } = owner;
    return {
      lookup,
      project: {
        id,
        name,
        disabled,
        tracking,
        clientAddresses,
        brand,
        publicKeyRules: isPublic ? owner.public_key_rules : null,
      },
      key: { id: owner.key_id, name: owner.key_name, role: owner.role, senderDomains: owner.sender_domains },
      isPublic,
      rate: counters.get(id)?.next(isPublic, requests),
      acceptsSecretKey: owner.track_accepts_secret_key,
    };
  });
}

/**
 * Authenticates requests and counts them against the project's limit. Requests that arrive while a statement is running
 * share the next one, which keeps the number of statements low under load. Each request is answered by a statement that
 * began after it arrived, so every process refuses at once a key
 * that was ended, replaced or has expired. A slow statement, for instance one that waits for the
 * locked row of a project, delays only the requests whose keys are in it.
 */
export function createAuthenticator({ orm, logger, limitPerMinute }: AuthenticatorDeps) {
  const shares = createPublicShares(limitPerMinute);
  /** By key, the requests that no statement counts yet. */
  const waiting = new Map<string, { requests: KeyRequests; found: Promise<FindCaller> }>();

  async function count(group: KeyRequests[]): Promise<FindCaller[]> {
    for (const { lookup } of group) waiting.delete(lookup);
    const counts = new Map(group.map((requests) => [requests.lookup, requests.count]));
    try {
      const owners = await countRequests(orm.em.fork(), counts);
      for (const { lookup, role, public_used: publicUsed, reset_seconds: resetSeconds } of owners) {
        if (isPublicRole(role)) shares.learn(lookup, { publicUsed, resetSeconds });
      }
      return callersOf(group, owners, limitPerMinute);
    } catch (error) {
      logger.warn({ err: error }, 'requests pass because they could not be counted');
      return callersOf(group, await findKeyOwners(orm.em.fork(), [...counts.keys()]), limitPerMinute);
    }
  }

  const statements = new Gather({
    write: count,
    itemsMax: KEYS_MAX,
    parallel: CONNECTIONS,
    keysOf: ({ lookup }: KeyRequests) => [lookup],
  });

  function find(lookup: string, isPublic: boolean, count: number): Promise<FindCaller> {
    const known = waiting.get(lookup);
    if (known) {
      known.requests.count += count;
      return known.found;
    }
    const requests = { lookup, isPublic, count };
    const found = statements.add(requests);
    waiting.set(lookup, { requests, found });
    return found;
  }

  return {
    /** @throws AppError INVALID_API_KEY; RATE_LIMIT_EXCEEDED for a client that has had its share of the public key */
    async authenticate(request: KeyedRequest, keyKind: KeyKind, path: string): Promise<Caller> {
      const { authorization, client, requests = 1 } = request;
      const key = readKey(authorization, keyKind);
      const lookup = hashKey(key);
      if (isPublicKey(key)) assertShare(shares, lookup, client, limitPerMinute);
      const caller = (await find(lookup, isPublicKey(key), requests))(requests);
      if (!caller) throw unknownKey();
      if (keyKind === 'public' && !isPublicKey(key) && !caller.acceptsSecretKey) throw publicKeyOnly(path);
      return caller;
    },

    /**
     * Asks for the key of a caller again, while its answer is sent. It does not count as a request.
     * @throws AppError INVALID_API_KEY, PROJECT_DISABLED when the next request with the key would be refused so
     */
    async assertStillValid({ lookup }: Caller): Promise<void> {
      const [owner] = await findKeyOwners(orm.em.fork(), [lookup]);
      if (!owner) throw unknownKey();
      if (owner.has_expired) throw expiredKey(owner.expires_at);
      if (owner.disabled) throw new AppError('PROJECT_DISABLED');
    },
  };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;
