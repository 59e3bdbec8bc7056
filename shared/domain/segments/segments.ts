import { AppError, badRequest, tooLarge } from '../../pure/app-error.ts';
import { ACTIVE_CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { LIMITS } from '../../pure/limits.ts';
import { audienceType } from '../../database/constants.ts';
import { query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';
import { clearSegmentFault } from './segment-faults.ts';
import { assertFilterSemantics } from '../filters/filter-semantics.ts';
import { assertFilterSize } from '../filters/filter-size.ts';
import {
  countSegmentsAbove,
  dependentSegments,
  loadReferencedSegments,
  referencesOf,
} from '../filters/segment-references.ts';
import { assertSegmentsAbove } from './segments-above.ts';
import { SegmentEntity, type Segment } from './segment.entity.ts';

export interface NewSegment {
  name: string;
  description?: string | null;
  type: 'DYNAMIC' | 'STATIC';
  /** The condition of a DYNAMIC segment. */
  condition?: FilterCondition;
  trackMembership: boolean;
}

export interface SegmentChanges {
  name?: string;
  description?: string | null;
  condition?: FilterCondition | null;
  trackMembership?: boolean;
}

/** All segments of a project, newest first. */
export async function listSegments(em: Em, projectId: string): Promise<Segment[]> {
  return em.find(SegmentEntity, { projectId }, { orderBy: { createdAt: 'desc', id: 'desc' } });
}

/** Loads a segment. @throws AppError SEGMENT_NOT_FOUND */
export async function findSegment(em: Em, projectId: string, segmentId: string): Promise<Segment> {
  const segment = await em.findOne(SegmentEntity, { id: segmentId, projectId });
  if (!segment) throw new AppError('SEGMENT_NOT_FOUND');
  return segment;
}

/**
 * Locks the row of a segment for the transaction, so that changes of the segment and of its members run one after the
 * other.
 * @throws AppError SEGMENT_NOT_FOUND
 */
export async function lockSegment(em: Em, projectId: string, segmentId: string): Promise<Segment> {
  await query(em, sql`select from segment where id = ${segmentId} and project_id = ${projectId} for no key update`);
  return findSegment(em, projectId, segmentId);
}

/** The first key of the advisory lock for the conditions of a project's segments. */
const CONDITIONS_LOCK = 7_310_527;

/** Locks the conditions of a project's segments, so that their references to one another can be checked. */
async function lockConditions(tx: Em, projectId: string): Promise<void> {
  await query(tx, sql`select pg_advisory_xact_lock(${CONDITIONS_LOCK}, hashtext(${projectId}))`);
}

/** Checks a condition, and that chains of segments that end in the segment of the condition stay within the limits. */
async function assertCondition(
  tx: Em,
  projectId: string,
  condition: FilterCondition,
  segmentId?: string,
): Promise<void> {
  assertFilterSize(condition, 'condition');
  const segments = await loadReferencedSegments(tx, projectId, condition, { isLive: false });
  const segmentsAbove = 1 + (segmentId === undefined ? 0 : await countSegmentsAbove(tx, projectId, segmentId));
  assertFilterSemantics(condition, { segments, segmentId, segmentsAbove });
}

/**
 * Checks the limits for all segments of a project, which `GET /segments` answers together.
 * @param segmentId the segment that gets the condition; null for a new one
 * @throws AppError VALIDATION_ERROR when there are too many, or their conditions are too large together
 */
async function assertRoomForSegment(
  em: Em,
  projectId: string,
  condition: FilterCondition | undefined,
  segmentId: string | null = null,
): Promise<void> {
  const others = await queryOne(
    em,
    sql`
      select count(*), coalesce(sum(octet_length(condition::text)), 0) as bytes from segment
      where project_id = ${projectId} and id is distinct from ${segmentId}::uuid`,
    { count: number, bytes: number },
  );
  if ((others?.count ?? 0) >= LIMITS.segmentsPerProject) {
    throw tooLarge('name', `A project may have at most ${LIMITS.segmentsPerProject} segments`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(condition ?? null)) + (others?.bytes ?? 0);
  if (bytes <= LIMITS.segmentConditionsBytes) return;
  throw tooLarge(
    'condition',
    `The conditions of all segments of a project may have at most ${LIMITS.segmentConditionsBytes} bytes`,
  );
}

/**
 * Creates a segment.
 * @throws AppError BAD_REQUEST with the path of the filter when the condition is not valid, VALIDATION_ERROR beyond a
 * limit
 */
export async function createSegment(em: Em, projectId: string, input: NewSegment): Promise<Segment> {
  return inTransaction(em, async (tx) => {
    const condition = input.type === 'DYNAMIC' ? input.condition : undefined;
    await lockConditions(tx, projectId);
    await assertRoomForSegment(tx, projectId, condition);
    if (condition) await assertCondition(tx, projectId, condition);
    const { name, description, type, trackMembership } = input;
    const segment = tx.create(SegmentEntity, { projectId, name, description, type, condition, trackMembership });
    await tx.flush();
    return segment;
  });
}

/** Checks a new condition of a segment, and that the segments above it stay within the limits. */
async function assertChange(
  tx: Em,
  { id, projectId, type, condition, trackMembership, computedAt }: Segment,
  newCondition: FilterCondition | null,
  isUntracked: boolean,
): Promise<void> {
  if (newCondition) {
    await assertRoomForSegment(tx, projectId, newCondition, id);
    await assertCondition(tx, projectId, newCondition, id);
  }
  const changed = {
    id,
    type,
    condition: newCondition ?? condition ?? null,
    trackMembership: !isUntracked && trackMembership && Boolean(computedAt),
  };
  await assertSegmentsAbove(tx, projectId, changed, newCondition ? 'condition' : 'trackMembership');
}

/**
 * Changes the fields that are given. Switching tracking off removes the members of a dynamic segment. So the first
 * computation after tracking is on again records an entry for every member.
 * @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST for a condition that is not valid, or for a condition of a STATIC
 * segment, VALIDATION_ERROR beyond a limit, also of a segment that refers to this one
 */
export async function updateSegment(
  em: Em,
  projectId: string,
  segmentId: string,
  changes: SegmentChanges,
): Promise<Segment> {
  return inTransaction(em, async (tx) => {
    if (changes.condition || changes.trackMembership === false) await lockConditions(tx, projectId);
    const segment = await lockSegment(tx, projectId, segmentId);
    const { condition, ...plain } = changes;
    if (condition && segment.type === 'STATIC') throw badRequest('A STATIC segment has members, not a condition');
    const isUntracked = segment.type === 'DYNAMIC' && segment.trackMembership && changes.trackMembership === false;
    if (condition || isUntracked) await assertChange(tx, segment, condition ?? null, isUntracked);
    tx.assign(segment, { ...plain, ...(condition && { condition }), ...(isUntracked && { computedAt: null }) });
    await tx.flush();
    if (condition || changes.trackMembership !== undefined) {
      await clearSegmentFault(tx, segmentId);
      Object.assign(segment, { computeError: null, computeErrorAt: null });
    }
    if (isUntracked) await query(tx, sql`delete from segment_member where segment_id = ${segmentId}`);
    return segment;
  });
}

/**
 * Active campaigns whose audience depends on the segment: as their audience, in a condition, or through other segments.
 */
async function findActiveUsers(em: Em, projectId: string, segmentId: string): Promise<{ id: string; name: string }[]> {
  return query(
    em,
    sql`
      with ${dependentSegments(projectId, segmentId)}
      select c.id, c.name from campaign c
      where c.project_id = ${projectId} and c.status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])
        and case c.audience_type
          when ${audienceType.SEGMENT} then c.segment_id in (select id from dependent)
          when ${audienceType.FILTERED} then exists (
            select from (${referencesOf(sql`c.audience_condition`)}) r where r.target in (select id from dependent))
        end
      order by c.created_at, c.id`,
    { id: tables.campaign.id, name: tables.campaign.name },
  );
}

/**
 * Deletes a segment with its memberships; contacts stay. Conditions that refer to it remain: campaigns cannot be sent
 * by them, and tracked segments keep their members.
 * @throws AppError SEGMENT_NOT_FOUND, CONFLICT while a scheduled or running campaign uses it
 */
export async function deleteSegment(em: Em, projectId: string, segmentId: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    // A campaign that is being sent or stored holds its segments, and is seen once the segment is locked.
    await query(tx, sql`select from segment where id = ${segmentId} and project_id = ${projectId} for update`);
    await findSegment(tx, projectId, segmentId);
    const campaigns = await findActiveUsers(tx, projectId, segmentId);
    if (campaigns.length > 0) {
      throw new AppError('CONFLICT', {
        message: 'An active campaign uses this segment',
        details: { campaigns },
        suggestion: 'Cancel the campaign, or wait until it has been sent',
      });
    }
    await query(tx, sql`delete from segment where id = ${segmentId}`);
  });
}
