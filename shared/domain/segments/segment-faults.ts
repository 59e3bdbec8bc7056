import { AppError } from '../../pure/app-error.ts';
import { isStatementTimeout } from '../../database/database-errors.ts';
import { query, sql, type Em } from '../../database/sql.ts';

/** A segment that could not be computed is skipped for this long. The pause doubles each time, up to a day. */
const FIRST_PAUSE_SECONDS = 300;
const PAUSE_SECONDS_MAX = 86_400;

/**
 * Why a segment cannot be computed, for its owner; undefined when the fault is not of the segment itself, such as an
 * unavailable database.
 */
export function describeSegmentFault(error: unknown, statementMs: number): string | undefined {
  if (error instanceof AppError) return error.statusCode < 500 ? error.message : undefined;
  if (!isStatementTimeout(error)) return undefined;
  return (
    `The condition takes longer than ${statementMs / 1_000} seconds to evaluate. Use fewer filters: those on ` +
    'fields deep inside of custom data, and on how often events happened, cost most'
  );
}

/** Stores the fault of a segment, which its owner can see, and when to try again. */
export async function recordSegmentFault(em: Em, segmentId: string, message: string): Promise<void> {
  await query(
    em,
    sql`
      update segment set compute_error = ${message}, compute_error_at = now(), compute_failures = compute_failures + 1,
        retry_at = now() + least(${FIRST_PAUSE_SECONDS}::int * 2 ^ least(compute_failures, 10), ${PAUSE_SECONDS_MAX}::int)
          * interval '1 second'
      where id = ${segmentId}`,
  );
}

/** Clears the fault of a segment after it was computed or counted, or its condition has changed. */
export async function clearSegmentFault(em: Em, segmentId: string): Promise<void> {
  await query(
    em,
    sql`
      update segment set compute_error = null, compute_error_at = null, compute_failures = 0, retry_at = null
      where id = ${segmentId} and compute_failures > 0`,
  );
}
