import { readClock } from '../../database/clock.ts';
import { segmentType } from '../../database/constants.ts';
import { limitStatements, query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, tables, type RowOf } from '../../database/tables.ts';
import { countSegmentContacts } from './segment-contacts.ts';
import { clearSegmentFault } from './segment-faults.ts';
import { SegmentEntity, type Segment } from './segment.entity.ts';
import { findSegment } from './segments.ts';

/**
 * Counts the contacts of a segment now and stores the count. Changes no membership and records no event.
 * @throws AppError SEGMENT_NOT_FOUND
 */
export async function refreshMemberCount(em: Em, projectId: string, segmentId: string): Promise<number> {
  return refresh(em, await findSegment(em, projectId, segmentId));
}

async function refresh(em: Em, segment: Segment): Promise<number> {
  const count = await countSegmentContacts(em, segment, await readClock(em));
  // `updatedAt` is the time of a change to the segment itself, so the count does not set it.
  await query(
    em,
    sql`update segment set member_count = ${count} where id = ${segment.id} and member_count <> ${count}::int`,
  );
  await clearSegmentFault(em, segment.id);
  return count;
}

/** Does the same as `refreshMemberCount` in the background. Skips a segment that was deleted meanwhile. */
export async function refreshMemberCountOf(em: Em, segmentId: string, statementMs: number): Promise<void> {
  await inTransaction(em, async (tx) => {
    await limitStatements(tx, statementMs);
    const segment = await tx.findOne(SegmentEntity, { id: segmentId });
    if (segment) await refresh(tx, segment);
  });
}

const SEGMENT_TO_REFRESH = {
  id: tables.segment.id,
  /** Whether its members are computed, which counts them as well. */
  isComputed: boolean,
};
export type SegmentToRefresh = RowOf<typeof SEGMENT_TO_REFRESH>;

/**
 * The next segment of each project that was not refreshed since `since`, the longest waiting first. One segment of each
 * project is listed, so that projects take turns, however many segments they have and however long these take. Segments
 * of disabled projects are left out, and segments that could not be computed until their pause is over.
 */
export async function listSegmentsToRefresh(em: Em, since: Date, limit: number): Promise<SegmentToRefresh[]> {
  return query(
    em,
    sql`
      select id, "isComputed" from (
        select distinct on (s.project_id) s.id, s.type = ${segmentType.DYNAMIC} and s.track_membership as "isComputed", s.refreshed_at
        from segment s join project p on p.id = s.project_id
        where not p.disabled and (s.refreshed_at is null or s.refreshed_at < ${since})
          and (s.retry_at is null or s.retry_at <= now())
        order by s.project_id, s.refreshed_at nulls first, s.id
      ) next
      order by refreshed_at nulls first, id limit ${limit}`,
    SEGMENT_TO_REFRESH,
  );
}

/** Records that a segment was refreshed in the run that began at `since`, successfully or not. */
export async function noteRefresh(em: Em, segmentId: string, since: Date): Promise<void> {
  await query(em, sql`update segment set refreshed_at = ${since} where id = ${segmentId}`);
}
