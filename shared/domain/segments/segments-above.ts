import { tooLarge } from '../../pure/app-error.ts';
import { collectReferences } from '../../pure/filters/filter-target.ts';
import { LIMITS } from '../../pure/limits.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { boolean, pick, tables } from '../../database/tables.ts';
import { createSizes, INLINED_FILTERS_MAX, type InlinedSize } from '../filters/filter-semantics.ts';
import { inlinedSegment, type SegmentForFilter } from '../filters/segment-references.ts';

interface NamedSegment extends SegmentForFilter {
  name: string;
}

type Segments = ReadonlyMap<string, SegmentForFilter>;

async function loadSegments(em: Em, projectId: string): Promise<NamedSegment[]> {
  return query(
    em,
    sql`
      select id, name, type, condition, track_membership and computed_at is not null as "trackMembership"
      from segment where project_id = ${projectId}`,
    { ...pick(tables.segment, 'name', 'id', 'type', 'condition'), trackMembership: boolean },
  );
}

function referencesOf({ condition }: SegmentForFilter): string[] {
  return condition ? collectReferences(condition).segments : [];
}

/** The segments that reach one of these, directly or through others. */
function segmentsAbove(segments: NamedSegment[], segmentId: string): NamedSegment[] {
  const users = new Map<string, NamedSegment[]>();
  for (const segment of segments) {
    for (const target of referencesOf(segment)) users.set(target, [...(users.get(target) ?? []), segment]);
  }
  const above = new Map<string, NamedSegment>();
  const pending = [segmentId];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    for (const user of users.get(id) ?? []) {
      if (above.has(user.id) || user.id === segmentId) continue;
      above.set(user.id, user);
      pending.push(user.id);
    }
  }
  return [...above.values()];
}

/** The number of segments that are loaded to evaluate one; counting stops beyond the limit. */
function reachedBy(segment: SegmentForFilter, segments: Segments): number {
  const reached = new Set(referencesOf(segment));
  for (const id of reached) {
    if (reached.size > LIMITS.segmentsReached) break;
    const inner = segments.get(id);
    if (inner && inlinedSegment(inner)) for (const next of referencesOf(inner)) reached.add(next);
  }
  return reached.size;
}

/** Creates the function that says why a segment can no longer be evaluated; undefined when it can. */
function createFaults(segments: Segments): (segment: SegmentForFilter) => string | undefined {
  const sizeOf: (segment: SegmentForFilter) => InlinedSize = createSizes(segments);
  return (segment) => {
    const { filters, cost } = sizeOf(segment);
    if (filters > INLINED_FILTERS_MAX) return `would have more than ${INLINED_FILTERS_MAX} filters`;
    if (cost > LIMITS.inlinedFilterCost) return 'would cost too much to evaluate';
    return reachedBy(segment, segments) > LIMITS.segmentsReached
      ? `would reach more than ${LIMITS.segmentsReached} segments`
      : undefined;
  };
}

/**
 * Checks that a change of a segment leaves the segments above it, those that reach it, within the limits of what can be
 * evaluated. One that is beyond them already does not count.
 * @param changed the segment after the change
 * @param field the field of the request that an error names
 * @throws AppError VALIDATION_ERROR that names the segment above
 */
export async function assertSegmentsAbove(
  em: Em,
  projectId: string,
  changed: SegmentForFilter,
  field: 'condition' | 'trackMembership',
): Promise<void> {
  const segments = await loadSegments(em, projectId);
  const before = new Map<string, SegmentForFilter>(segments.map((segment) => [segment.id, segment]));
  const faultBefore = createFaults(before);
  const faultAfter = createFaults(new Map(before).set(changed.id, changed));
  for (const above of segmentsAbove(segments, changed.id)) {
    const fault = faultAfter(above);
    if (fault === undefined || faultBefore(above) !== undefined) continue;
    throw tooLarge(field, `The segment "${above.name}" (${above.id}), which refers to this one, ${fault}`);
  }
}
