import type { Em } from '../orm.ts';
import { queryOne, queryPrepared, sql } from '../sql.ts';

/** The request that used a key first. */
export interface OriginalRequest {
  request: string;
  at: Date;
  /** Null while that request is still running. */
  statusCode: number | null;
}

/** A key that is ours until we settle it, or are taken for dead. */
export interface IdempotencyClaim {
  projectId: string;
  key: string;
  claimedAt: Date;
}

/** A request that has not been settled for this long died with its process: nothing of it was committed. */
const ABANDONED_SECONDS = 30;

/**
 * Claims a key for one request. One statement decides, so of two simultaneous requests exactly one gets it; a claim
 * older than the time to live is taken over, and so is one whose request died.
 * @returns the claim when the key is ours, otherwise the request that has it
 */
export async function claimIdempotencyKey(
  em: Em,
  claim: { projectId: string; key: string; request: string; ttlHours: number },
): Promise<{ claim: IdempotencyClaim } | { original: OriginalRequest }> {
  const { projectId, key } = claim;
  const [claimed] = await queryPrepared<{ created_at: Date }>(
    em,
    sql`
      insert into idempotency_claim as c (project_id, key, request, created_at)
      values (${projectId}, ${key}, ${claim.request}, now())
      on conflict (project_id, key) do update
        set request = excluded.request, status_code = null, created_at = excluded.created_at
        where c.created_at < now() - ${claim.ttlHours}::float8 * interval '1 hour'
          or c.status_code is null and c.created_at < now() - ${ABANDONED_SECONDS}::int * interval '1 second'
      returning created_at`,
  );
  if (claimed) return { claim: { projectId, key, claimedAt: claimed.created_at } };
  const original = await queryOne<{ request: string; created_at: Date; status_code: number | null }>(
    em,
    sql`select request, created_at, status_code from idempotency_claim where project_id = ${projectId} and key = ${key}`,
  );
  // Released between the two statements: the caller retries, as it would after the other request's failure.
  if (!original) return claimIdempotencyKey(em, claim);
  return { original: { request: original.request, at: original.created_at, statusCode: original.status_code } };
}

/**
 * Notes how the claiming request ended: a 4xx changed nothing and frees the key, everything else keeps it. A success is
 * noted in the transaction of what the request did, so that a claim without a result says that nothing was done.
 * @returns false when another request has taken the key over meanwhile: then what was done must not be committed
 */
export async function settleIdempotencyKey(em: Em, claim: IdempotencyClaim, statusCode: number): Promise<boolean> {
  const isReleased = statusCode >= 400 && statusCode < 500;
  const ours = sql`
    project_id = ${claim.projectId} and key = ${claim.key} and created_at = ${claim.claimedAt} and status_code is null`;
  const settled = await queryPrepared(
    em,
    isReleased
      ? sql`delete from idempotency_claim where ${ours} returning key`
      : sql`update idempotency_claim set status_code = ${statusCode} where ${ours} returning key`,
  );
  return settled.length > 0;
}

/** Removes claims older than the time to live. @returns how many */
export async function sweepIdempotencyKeys(em: Em, ttlHours: number): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`
      with swept as (
        delete from idempotency_claim where created_at < now() - ${ttlHours}::float8 * interval '1 hour' returning 1
      ) select count(*) from swept`,
  );
  return row?.count ?? 0;
}
