import { hash } from 'node:crypto';
import type { Em } from '../database/em.ts';
import { queryOne, queryPrepared, sql, type SqlFragment } from '../database/sql.ts';

/** The request that used a key first. */
export interface OriginalRequest {
  request: string;
  at: Date;
  /** Null while that request is still running. */
  statusCode: number | null;
}

/** A claimed key. It is ours until we settle or release it, or are taken for dead. */
export interface IdempotencyClaim {
  projectId: string;
  key: string;
  /** Tells this claim from later ones of the same key. */
  token: string;
  claimedAt: Date;
}

/** A request that is not settled after this time is given up: even if it is only slow, its work will not be committed. */
const ABANDONED_SECONDS = 30;

/** The request of a claim without a result has committed nothing. Such a claim is free if its process has no session left. */
const IS_ORPHANED = sql`
  c.owner is not null and not exists (
    select from pg_stat_activity a where a.datname = current_database() and a.application_name = c.owner)`;

/** Callers choose keys, which may contain addresses, so only a digest is stored. */
function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * Claims a key for one request. One statement decides, so of two simultaneous requests exactly one gets it; a claim
 * older than the time to live is taken over, and so is one whose process died or that nobody has settled for long.
 * @param claim `token` is a fresh UUID, by which a claim can be released even if its answer was lost
 * @returns the claim when the key is ours, otherwise the request that has it
 */
export async function claimIdempotencyKey(
  em: Em,
  claim: { projectId: string; key: string; token: string; request: string; ttlHours: number },
): Promise<{ claim: IdempotencyClaim } | { original: OriginalRequest }> {
  const { projectId, key, token } = claim;
  const [claimed] = await queryPrepared<{ created_at: Date }>(
    em,
    sql`
      insert into idempotency_claim as c (project_id, key, token, owner, request, created_at)
      values (${projectId}, ${digestOf(key)}, ${token}, current_setting('application_name'), ${claim.request}, now())
      on conflict (project_id, key) do update
        set token = excluded.token, owner = excluded.owner, request = excluded.request, status_code = null,
          created_at = excluded.created_at
        where c.created_at < now() - ${claim.ttlHours}::float8 * interval '1 hour'
          or c.status_code is null
            and (c.created_at < now() - ${ABANDONED_SECONDS}::int * interval '1 second' or ${IS_ORPHANED})
      returning created_at`,
  );
  if (claimed) return { claim: { projectId, key, token, claimedAt: claimed.created_at } };
  const original = await queryOne<{ request: string; created_at: Date; status_code: number | null }>(
    em,
    sql`select request, created_at, status_code from idempotency_claim where project_id = ${projectId} and key = ${digestOf(key)}`,
  );
  // Released between the two statements: the caller retries, as it would after the other request's failure.
  if (!original) return claimIdempotencyKey(em, claim);
  return { original: { request: original.request, at: original.created_at, statusCode: original.status_code } };
}

/** The row of a claim, as long as it is ours and has no result. */
function unsettled({ projectId, key, token }: Omit<IdempotencyClaim, 'claimedAt'>): SqlFragment {
  return sql`project_id = ${projectId} and key = ${digestOf(key)} and token = ${token} and status_code is null`;
}

/**
 * Notes the result of the claiming request, in the same transaction as its work. So a claim without a result means that
 * nothing was done.
 * @returns false when another request has taken the key over meanwhile: then the work must not be committed
 */
export async function settleIdempotencyKey(em: Em, claim: IdempotencyClaim, statusCode: number): Promise<boolean> {
  const settled = await queryPrepared(
    em,
    sql`update idempotency_claim set status_code = ${statusCode} where ${unsettled(claim)} returning key`,
  );
  return settled.length > 0;
}

/**
 * Frees the key of a request that failed, whatever its answer was. If only the answer to its COMMIT was lost, the claim
 * has its result and stays; a COMMIT still under way is waited for.
 */
export async function releaseIdempotencyKey(em: Em, claim: Omit<IdempotencyClaim, 'claimedAt'>): Promise<void> {
  await queryPrepared(em, sql`delete from idempotency_claim where ${unsettled(claim)}`);
}

/** Removes up to `limit` claims older than the time to live. @returns how many */
export async function sweepIdempotencyKeys(em: Em, ttlHours: number, limit: number): Promise<number> {
  const row = await queryOne<{ count: number }>(
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
  return row?.count ?? 0;
}
