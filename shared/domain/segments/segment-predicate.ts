import { sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { compileFilter } from '../filters/filter-compiler.ts';
import { assertSegmentsExist, loadReferencedSegments } from '../filters/segment-references.ts';
import type { Segment } from './segment.entity.ts';

type Evaluated = Pick<Segment, 'id' | 'projectId' | 'type'> & Partial<Pick<Segment, 'condition'>>;

/**
 * The contacts of a segment, as a predicate over `contact c`: the members of a STATIC segment, or the contacts that
 * match the condition of a DYNAMIC segment at `asOf`.
 * @param isStored the result changes the stored members, so nothing that the condition depends on may be missing
 * @throws AppError BAD_REQUEST when the condition cannot be evaluated
 */
export async function segmentPredicate(
  em: Em,
  segment: Evaluated,
  asOf: Date,
  { isStored = false } = {},
): Promise<SqlFragment> {
  const { id, projectId, condition } = segment;
  if (segment.type === 'STATIC') {
    return sql`exists (select from segment_member m where m.segment_id = ${id} and m.contact_id = c.id)`;
  }
  if (!condition) return sql`false`;
  const segments = await loadReferencedSegments(em, projectId, condition, { isLive: true });
  if (isStored) assertSegmentsExist(condition, segments);
  return sql`(${compileFilter(condition, { asOf, projectId, segments })})`;
}
