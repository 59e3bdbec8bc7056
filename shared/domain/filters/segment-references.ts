import { badRequest, tooLarge } from '../../pure/app-error.ts';
import { walkFilters, type FilterCondition } from '../../pure/filters/filter-condition.ts';
import { collectReferences, filterTarget } from '../../pure/filters/filter-target.ts';
import { LIMITS } from '../../pure/limits.ts';
import { query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, number, pick, tables, type RowOf } from '../../database/tables.ts';

/** A segment that a filter refers to. */
const SEGMENT_FOR_FILTER = {
  ...pick(tables.segment, 'id', 'type', 'condition'),
  /**
   * Whether members are stored. False until they have been computed first, so that a new segment is not read as empty.
   */
  trackMembership: boolean,
};
export type SegmentForFilter = RowOf<typeof SEGMENT_FOR_FILTER>;

/** The condition to evaluate instead of reading the member table; undefined if the member table must be read. */
export function inlinedSegment(segment: SegmentForFilter | undefined): FilterCondition | undefined {
  if (segment === undefined || segment.type === 'STATIC' || segment.trackMembership) return undefined;
  return segment.condition ?? undefined;
}

/**
 * Loads every segment that a condition reaches, directly or through other segments, in one statement. Deleted segments
 * are missing in the result. With `isLive`, the references of segments with stored members are not followed, because
 * their conditions need not be evaluated. With `isHeld`, none of them can be deleted until the transaction ends, and no
 * topic of the condition.
 * @throws AppError BAD_REQUEST with the path of a filter whose topic does not exist, VALIDATION_ERROR naming `rootPath`
 *   when there are more than `LIMITS.segmentsReached`
 */
export async function loadReferencedSegments(
  em: Em,
  projectId: string,
  condition: FilterCondition,
  { isLive, isHeld = !isLive, rootPath = 'condition' }: { isLive: boolean; isHeld?: boolean; rootPath?: string },
): Promise<Map<string, SegmentForFilter>> {
  await assertTopicsExist(em, projectId, condition, isHeld, rootPath);
  const { segments: ids } = collectReferences(condition);
  if (ids.length === 0) return new Map();
  const rows = await query(
    em,
    sql`
      with recursive reached (id) as (
        select unnest(${ids}::uuid[])
        union
        select r.target from reached
        join segment s on s.id = reached.id and s.project_id = ${projectId}
          and (not ${isLive}::boolean or not (s.track_membership and s.computed_at is not null))
        cross join lateral (${referencesOf(sql`s.condition`)}) r
      )
      select s.id, s.type, s.condition, s.track_membership and s.computed_at is not null as "trackMembership"
      from reached join segment s on s.id = reached.id and s.project_id = ${projectId}
      limit ${LIMITS.segmentsReached + 1} ${isHeld ? sql`for key share of s` : sql``}`,
    SEGMENT_FOR_FILTER,
  );
  if (rows.length > LIMITS.segmentsReached) {
    throw tooLarge(rootPath, `A condition may refer to at most ${LIMITS.segmentsReached} segments`);
  }
  return new Map(rows.map((row) => [row.id, row]));
}

/** Checks the topics of a condition. */
async function assertTopicsExist(
  em: Em,
  projectId: string,
  condition: FilterCondition,
  isHeld: boolean,
  rootPath: string,
): Promise<void> {
  const keys = collectReferences(condition).fields.flatMap((field) => /^topic[.](.*)$/.exec(field)?.[1] ?? []);
  if (keys.length === 0) return;
  const topics = await query(
    em,
    sql`
      select key from topic where project_id = ${projectId} and key = any(${keys}::text[])
      ${isHeld ? sql`for key share` : sql``}`,
    { key: tables.topic.key },
  );
  const known = new Set(topics.map(({ key }) => key));
  walkFilters(
    condition,
    (filter, path) => {
      const target = filterTarget(filter);
      if (target.kind !== 'topic' || known.has(target.key)) return;
      throw badRequest(`${path}.field: no topic has the key ${target.key}`);
    },
    `${rootPath}.`,
  );
}

/**
 * Checks that a condition, and the conditions that are evaluated with it, refer to segments that exist. A deleted
 * segment has no members, so a condition that excludes its members would match them.
 * @param segments as `loadReferencedSegments` returns them
 * @throws AppError BAD_REQUEST naming a segment that was deleted
 */
export function assertSegmentsExist(
  condition: FilterCondition | undefined,
  segments: ReadonlyMap<string, SegmentForFilter>,
): void {
  const inlined = [...segments.values()].map(inlinedSegment);
  for (const each of [condition, ...inlined]) {
    const missing = each && collectReferences(each).segments.find((id) => !segments.has(id));
    if (missing === undefined) continue;
    throw badRequest(`The segment ${missing}, which the condition depends on, was deleted`, {
      details: { segmentId: missing },
      suggestion: 'Remove it from the condition, or from that of the segment that refers to it',
    });
  }
}

/** The filters of a condition that name a segment. */
const MEMBER_FILTERS = '$.**.filters[*] ? (@.operator == "memberOfSegment" || @.operator == "notMemberOfSegment")';

/** The segments that a stored condition names, as rows `target`. */
export function referencesOf(condition: SqlFragment): SqlFragment {
  return sql`
    select named.id::uuid as target from (
      select coalesce(substring(f ->> 'field' from '^segment[.](.*)$'), f ->> 'value') as id
      from jsonb_path_query(${condition}, ${MEMBER_FILTERS}::jsonpath) f
    ) named
    where named.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`;
}

/** The references between the segments of a project, for a materialized CTE: `id` names `target`. */
function referencesBetween(projectId: string): SqlFragment {
  return sql`
    select s.id, r.target from segment s cross join lateral (${referencesOf(sql`s.condition`)}) r
    where s.project_id = ${projectId}`;
}

/** CTEs of which `dependent` has the id of a segment and of all segments that reach it. */
export function dependentSegments(projectId: string, segmentId: string): SqlFragment {
  return sql`
    recursive reference as materialized (${referencesBetween(projectId)}),
    dependent (id) as (
      select ${segmentId}::uuid
      union
      select reference.id from dependent join reference on reference.target = dependent.id
    )`;
}

/**
 * The number of segments above a segment, in the longest chain in which each refers to the next. The segment itself
 * does not count. Counting stops at `LIMITS.segmentChain`.
 */
export async function countSegmentsAbove(em: Em, projectId: string, segmentId: string): Promise<number> {
  const row = await queryOne(
    em,
    sql`
      with recursive reference as materialized (${referencesBetween(projectId)}), above (id, level) as (
        select ${segmentId}::uuid, 0
        union
        select reference.id, above.level + 1 from above join reference on reference.target = above.id
        where above.level < ${LIMITS.segmentChain}::int
      )
      select max(level)::int as level from above`,
    { level: number },
  );
  return row?.level ?? 0;
}

/**
 * The number of segments in the longest chain that begins with this segment, including it. A segment in a cycle counts
 * once.
 * @param lengths the results so far, to which new ones are added
 */
export function chainLength(
  segmentId: string,
  conditionOf: (id: string) => FilterCondition | null | undefined,
  lengths: Map<string, number>,
): number {
  const known = lengths.get(segmentId);
  if (known !== undefined) return known;
  lengths.set(segmentId, 0);
  const condition = conditionOf(segmentId);
  const below = condition ? collectReferences(condition).segments : [];
  const length = 1 + Math.max(0, ...below.map((id) => chainLength(id, conditionOf, lengths)));
  lengths.set(segmentId, length);
  return length;
}

/**
 * Looks for a cycle: a path from `segmentId` through `references` and the conditions of further segments back to it.
 * Tracked segments count as well, because tracking can be switched off later.
 * @returns the ids along the path, which begins and ends with `segmentId`; undefined when there is no cycle
 */
export function findSegmentCycle(
  segmentId: string,
  references: string[],
  conditionOf: (id: string) => FilterCondition | null | undefined,
): string[] | undefined {
  const cameFrom = new Map<string, string>(references.map((id) => [id, segmentId]));
  const pending = [...cameFrom.keys()];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === segmentId) return cycleOf(segmentId, cameFrom);
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

function cycleOf(segmentId: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [segmentId];
  let id = cameFrom.get(segmentId);
  while (id !== undefined && id !== segmentId) {
    path.unshift(id);
    id = cameFrom.get(id);
  }
  return [segmentId, ...path];
}
