import type { Em } from '../orm.ts';
import { query, sql } from '../sql.ts';
import { countSegmentContacts } from './segment-contacts.ts';
import { SegmentEntity, type Segment } from './segment.entity.ts';
import { findSegment } from './segments.ts';

/**
 * Counts the contacts of a segment now and keeps the count; members and events stay as they are.
 * @throws AppError SEGMENT_NOT_FOUND
 */
export async function refreshMemberCount(em: Em, projectId: string, segmentId: string): Promise<number> {
  return refresh(em, await findSegment(em, projectId, segmentId));
}

async function refresh(em: Em, segment: Segment): Promise<number> {
  const count = await countSegmentContacts(em, segment, new Date());
  // `updatedAt` tells when the segment itself was changed, so the count leaves it alone.
  await query(
    em,
    sql`update segment set member_count = ${count} where id = ${segment.id} and member_count <> ${count}::int`,
  );
  return count;
}

/** As `refreshMemberCount`, for background work: a segment deleted meanwhile is passed over. */
export async function refreshMemberCountOf(em: Em, segmentId: string): Promise<void> {
  const segment = await em.findOne(SegmentEntity, { id: segmentId });
  if (segment) await refresh(em, segment);
}

export interface SegmentToRefresh {
  id: string;
  /** Whether its members are computed, which counts them as well. */
  isComputed: boolean;
}

/** The segments after `afterId`, by id, of the projects that are not disabled. */
export async function listSegmentsToRefresh(
  em: Em,
  afterId: string | null,
  limit: number,
): Promise<SegmentToRefresh[]> {
  return query<SegmentToRefresh>(
    em,
    sql`
      select s.id, s.type = 'DYNAMIC' and s.track_membership as "isComputed"
      from segment s join project p on p.id = s.project_id
      where not p.disabled and (${afterId}::uuid is null or s.id > ${afterId}::uuid) order by s.id limit ${limit}`,
  );
}
