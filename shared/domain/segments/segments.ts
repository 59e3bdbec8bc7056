import type { Em } from '../orm.ts';
import { query, sql } from '../sql.ts';
import type { SegmentForFilter } from './segment-references.ts';

/** The segments of a project among the given ids, as the filter compiler reads them. */
export async function findSegmentsForFilter(em: Em, projectId: string, ids: string[]): Promise<SegmentForFilter[]> {
  return query<SegmentForFilter>(
    em,
    sql`
      select id, type, condition, track_membership as "trackMembership" from segment
      where project_id = ${projectId} and id = any(${ids}::uuid[])`,
  );
}
