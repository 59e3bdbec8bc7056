import type { FilterCondition } from '../../pure/filter-condition.ts';
import { collectReferences } from '../../pure/filter-target.ts';

/** What the compiler must know of a segment that a filter refers to. */
export interface SegmentForFilter {
  id: string;
  type: 'DYNAMIC' | 'STATIC';
  condition: FilterCondition | null;
  trackMembership: boolean;
}

/** The condition to evaluate in place of a membership, or undefined when the member table is read instead. */
export function inlinedSegment(segment: SegmentForFilter | undefined): FilterCondition | undefined {
  if (segment === undefined || segment.type === 'STATIC' || segment.trackMembership) return undefined;
  return segment.condition ?? undefined;
}

/**
 * Loads every segment that a condition refers to, directly or through other segments, level by level.
 * `load` answers the segments of the project among the ids it is given; deleted ones are simply missing.
 */
export async function loadReferencedSegments(
  condition: FilterCondition,
  load: (ids: string[]) => Promise<SegmentForFilter[]>,
): Promise<Map<string, SegmentForFilter>> {
  const segments = new Map<string, SegmentForFilter>();
  const asked = new Set<string>();
  let wanted = collectReferences(condition).segments;
  while (wanted.length > 0) {
    wanted.forEach((id) => asked.add(id));
    const loaded = await load(wanted);
    const next = new Set<string>();
    for (const segment of loaded) {
      segments.set(segment.id, segment);
      if (segment.condition === null) continue;
      for (const id of collectReferences(segment.condition).segments) if (!asked.has(id)) next.add(id);
    }
    wanted = [...next];
  }
  return segments;
}

/**
 * Looks for a way from the segments in `references` back to `segmentId`, through the conditions of the segments between.
 * Answers the ids along the way, first and last being `segmentId`, or undefined when there is none. Tracked segments
 * count as well: tracking can be switched off later.
 */
export function findSegmentCycle(
  segmentId: string,
  references: string[],
  conditionOf: (id: string) => FilterCondition | null | undefined,
): string[] | undefined {
  const cameFrom = new Map<string, string>(references.map((id) => [id, segmentId]));
  const pending = [...cameFrom.keys()];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === segmentId) return wayBack(segmentId, cameFrom);
    const condition = conditionOf(id) ?? undefined;
    if (condition === undefined) continue;
    for (const next of collectReferences(condition).segments) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, id);
      pending.push(next);
    }
  }
  return undefined;
}

function wayBack(segmentId: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [segmentId];
  let id = cameFrom.get(segmentId);
  while (id !== undefined && id !== segmentId) {
    way.unshift(id);
    id = cameFrom.get(id);
  }
  return [segmentId, ...way];
}
