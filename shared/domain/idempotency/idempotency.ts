import { hash } from 'node:crypto';
import { AppError } from '../../pure/app-error.ts';
import {
  lockTimeoutSelect,
  query,
  queryCount,
  queryPrepared,
  sql,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

/** The request that used a key first. */
export interface OriginalRequest {
  request: string;
  at: Date;
  /** Null while that request is still running. */
  statusCode: number | null;
}

export interface IdempotencyKey {
  projectId: string;
  key: string;
  /** Whether it came with the public key. Anybody has that key, so its requests use up no key of the secret one. */
  isPublic?: boolean | undefined;
}

/** A claimed key. A request has it until it settles or releases the claim, or until the claim counts as abandoned. */
export interface IdempotencyClaim extends IdempotencyKey {
  /** Distinguishes this claim from later claims of the same key. */
  token: string;
  claimedAt: Date;
}

/**
 * A claim that is not settled after this time counts as abandoned, and another request may take it over. If the first
 * request is only slow, settling fails, so its work is not committed.
 */
const ABANDONED_SECONDS = 30;

/** Whether the process of a claim has no session left, and so has ended. */
const IS_ORPHANED = sql`
  c.owner is not null and not exists (
    select from pg_stat_activity a where a.datname = current_database() and a.application_name = c.owner)`;

/**
 * Callers choose keys, which may contain addresses, so only a digest is stored. No key contains the line end that sets
 * the keys of the public API key apart.
 */
function digestOf({ key, isPublic }: IdempotencyKey): string {
  return hash('sha256', isPublic ? `public\n${key}` : key, 'base64url');
}

/** A request that wants a key. */
export interface WantedClaim extends IdempotencyKey {
  /** A new UUID. With it a claim can be released even if the answer of the statement was lost. */
  token: string;
  request: string;
  ttlHours: number;
}

/** The claim when the request has got the key, otherwise the request that used the key first. */
export type ClaimOutcome = { claim: IdempotencyClaim } | { original: OriginalRequest };

/**
 * Claims keys for requests of one project. One statement decides, so exactly one of two simultaneous requests gets a
 * key. An old claim is taken over when it is older than the time to live, when it is abandoned, or when its process has
 * ended without a result. A claim without a result has committed nothing.
 * @param wanted each key once
 * @param options.lockMs the longest wait for a lock; by default the limit of the session
 * @param options.statusCode the result, for a claim that is made in the transaction of the work
 * @returns the outcomes in the order of `wanted`
 */
export async function claimIdempotencyKeys(
  em: Em,
  wanted: WantedClaim[],
  options: { lockMs?: number | undefined; statusCode?: number } = {},
): Promise<ClaimOutcome[]> {
  const { lockMs, statusCode = null } = options;
  const projectId = wanted[0]?.projectId ?? '';
  const digests = wanted.map(digestOf);
  const claimed = await queryPrepared(
    em,
    sql`
      with lock_limit as materialized (${lockTimeoutSelect(lockMs)}) ${claimsInsert(wanted, statusCode)}`,
    { key: tables.idempotencyClaim.key, created_at: tables.idempotencyClaim.createdAt },
  );
  const claimedAt = new Map(claimed.map((row) => [row.key, row.created_at]));
  const taken = digests.filter((digest) => !claimedAt.has(digest));
  const originals = await findOriginals(em, projectId, taken);
  return Promise.all(
    wanted.map(async (each, index): Promise<ClaimOutcome> => {
      const digest = digests[index] ?? '';
      const at = claimedAt.get(digest);
      if (at) return { claim: { projectId, key: each.key, isPublic: each.isPublic, token: each.token, claimedAt: at } };
      const original = originals.get(digest);
      if (original) return { original };
      // The other request has released the key between the two statements, so this one can claim it.
      const [again] = await claimIdempotencyKeys(em, [each], options);
      if (!again) throw new AppError('INTERNAL_SERVER_ERROR');
      return again;
    }),
  );
}

/** The insert of `claimIdempotencyKeys`, which answers the keys that were claimed. It needs a table `lock_limit`. */
export function claimsInsert(wanted: readonly WantedClaim[], statusCode: number | null): SqlFragment {
  return sql`
    insert into idempotency_claim as c (project_id, key, token, owner, request, status_code, created_at)
    select ${wanted[0]?.projectId}, n.key, n.token, current_setting('application_name'), n.request, ${statusCode}::int, now()
    from lock_limit, (
      select * from unnest(
        ${wanted.map(digestOf)}::text[], ${wanted.map(({ token }) => token)}::uuid[], ${wanted.map(({ request }) => request)}::text[]
      ) as n (key, token, request) order by key collate "C"
    ) n
    on conflict (project_id, key) do update
      set token = excluded.token, owner = excluded.owner, request = excluded.request,
        status_code = excluded.status_code, created_at = excluded.created_at
      where c.created_at < now() - ${wanted[0]?.ttlHours}::float8 * interval '1 hour'
        or c.status_code is null
          and (c.created_at < now() - ${ABANDONED_SECONDS}::int * interval '1 second' or ${IS_ORPHANED})
    returning key, created_at`;
}

/** A select of the number of keys that have been used or claimed. */
export function countKeys(projectId: string, wanted: readonly WantedClaim[]): SqlFragment {
  return sql`
    select count(*) from idempotency_claim
    where project_id = ${projectId} and key = any(${wanted.map(digestOf)}::text[])`;
}

async function findOriginals(em: Em, projectId: string, digests: string[]): Promise<Map<string, OriginalRequest>> {
  if (digests.length === 0) return new Map();
  const rows = await query(
    em,
    sql`
      select key, request, created_at, status_code from idempotency_claim
      where project_id = ${projectId} and key = any(${digests}::text[])`,
    {
      key: tables.idempotencyClaim.key,
      request: tables.idempotencyClaim.request,
      created_at: tables.idempotencyClaim.createdAt,
      status_code: tables.idempotencyClaim.statusCode,
    },
  );
  return new Map(
    rows.map((row) => [row.key, { request: row.request, at: row.created_at, statusCode: row.status_code }]),
  );
}

/** The condition for the row of a claim, if it has not been taken over and has no result. */
function unsettled(claim: Omit<IdempotencyClaim, 'claimedAt'>): SqlFragment {
  const { projectId, token } = claim;
  return sql`project_id = ${projectId} and key = ${digestOf(claim)} and token = ${token} and status_code is null`;
}

/**
 * Records the status of requests with claims, in the transaction of their work. So a claim without a result means that
 * no work was committed.
 * @throws AppError IDEMPOTENCY_KEY_REUSED when another request has taken a key over: the work must not be committed
 */
export async function settleIdempotencyKeys(
  em: Em,
  claims: readonly IdempotencyClaim[],
  statusCode: number,
): Promise<void> {
  if (claims.length === 0) return;
  const settled = await queryPrepared(
    em,
    sql`
      with held as materialized (
        select c.project_id, c.key from idempotency_claim c
        join unnest(
          ${claims.map(({ projectId }) => projectId)}::uuid[], ${claims.map(digestOf)}::text[],
          ${claims.map(({ token }) => token)}::uuid[]
        ) as n (project_id, key, token) on c.project_id = n.project_id and c.key = n.key and c.token = n.token
        where c.status_code is null order by c.key for no key update of c
      )
      update idempotency_claim c set status_code = ${statusCode} from held h
      where c.project_id = h.project_id and c.key = h.key returning c.key`,
    { key: tables.idempotencyClaim.key },
  );
  if (settled.length < claims.length) throw new AppError('IDEMPOTENCY_KEY_REUSED');
}

/**
 * Frees the key of a request that failed. If only the answer to its COMMIT was lost, the claim has a result and stays.
 * The statement waits for a COMMIT that is still under way.
 */
export async function releaseIdempotencyKey(em: Em, claim: Omit<IdempotencyClaim, 'claimedAt'>): Promise<void> {
  await queryPrepared(em, sql`delete from idempotency_claim where ${unsettled(claim)}`);
}

/** Removes up to `limit` claims older than the time to live. @returns how many */
export async function sweepIdempotencyKeys(em: Em, ttlHours: number, limit: number): Promise<number> {
  return queryCount(
    em,
    sql`
      with old as (
        select project_id, key from idempotency_claim where created_at < now() - ${ttlHours}::float8 * interval '1 hour'
        limit ${limit} for update skip locked
      ),
      swept as (
        delete from idempotency_claim c using old where c.project_id = old.project_id and c.key = old.key returning 1
      )
      select count(*) from swept`,
  );
}
