import type { Em } from '../orm.ts';
import { queryOne, queryPrepared, sql } from '../sql.ts';

/** The request that used a key first. */
export interface OriginalRequest {
  request: string;
  at: Date;
  /** Null while that request is still running. */
  statusCode: number | null;
}

/**
 * Claims a key for one request. One statement decides, so of two simultaneous requests exactly one gets it; a claim
 * older than the time to live is taken over.
 * @returns undefined when the key is ours, otherwise the request that has it
 */
export async function claimIdempotencyKey(
  em: Em,
  claim: { projectId: string; key: string; request: string; ttlHours: number },
): Promise<OriginalRequest | undefined> {
  const [claimed] = await queryPrepared(
    em,
    sql`
      insert into idempotency_claim as c (project_id, key, request, created_at)
      values (${claim.projectId}, ${claim.key}, ${claim.request}, now())
      on conflict (project_id, key) do update
        set request = excluded.request, status_code = null, created_at = excluded.created_at
        where c.created_at < now() - ${claim.ttlHours}::float8 * interval '1 hour'
      returning key`,
  );
  if (claimed) return undefined;
  const original = await queryOne<{ request: string; created_at: Date; status_code: number | null }>(
    em,
    sql`select request, created_at, status_code from idempotency_claim where project_id = ${claim.projectId} and key = ${claim.key}`,
  );
  // Released between the two statements: the caller retries, as it would after the other request's failure.
  if (!original) return claimIdempotencyKey(em, claim);
  return { request: original.request, at: original.created_at, statusCode: original.status_code };
}

/** Notes how the claiming request ended: a 4xx changed nothing and frees the key, everything else keeps it. */
export async function settleIdempotencyKey(em: Em, projectId: string, key: string, statusCode: number): Promise<void> {
  const isReleased = statusCode >= 400 && statusCode < 500;
  await queryPrepared(
    em,
    isReleased
      ? sql`delete from idempotency_claim where project_id = ${projectId} and key = ${key}`
      : sql`update idempotency_claim set status_code = ${statusCode} where project_id = ${projectId} and key = ${key}`,
  );
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
