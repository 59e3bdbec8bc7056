import { AppError, badRequest } from '../../pure/app-error.ts';
import { readClock } from '../../database/clock.ts';
import { isStatementTimeout } from '../../database/database-errors.ts';
import { IN_LOCK_ORDER } from '../contacts/contact-locks.ts';
import { segmentType } from '../../database/constants.ts';
import { limitStatements, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, number, pick, tables } from '../../database/tables.ts';
import { clearSegmentFault } from './segment-faults.ts';
import { recordMembershipEvents } from './segment-members.ts';
import { segmentPredicate } from './segment-predicate.ts';
import type { Segment } from './segment.entity.ts';
import { findSegment } from './segments.ts';

/** The most contacts that enter or leave in one transaction, each with its event. */
const CHUNK = 5_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface MembershipChange {
  added: number;
  removed: number;
}

export interface ComputedMembership extends MembershipChange {
  /** The number of members afterwards. */
  total: number;
}

export interface ComputeOptions {
  /** The limit of each statement; by default the limit of the session. */
  statementMs?: number;
  /** Called inside the transaction of each chunk. */
  onChunk?: () => Promise<void>;
}

/**
 * Computes the membership of a tracked segment while the caller waits, because the answer has the number of changes. If
 * this process dies, the next refresh of all segments does the rest.
 * @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST unless the segment is dynamic and tracked, CONFLICT when it was
 *   changed meanwhile, SERVICE_UNAVAILABLE when it takes too long
 */
export async function computeMembershipNow(em: Em, projectId: string, segmentId: string): Promise<ComputedMembership> {
  const segment = await findSegment(em, projectId, segmentId);
  if (segment.type === 'STATIC') throw badRequest('A STATIC segment has no condition, so there is nothing to compute');
  if (!segment.trackMembership) {
    throw badRequest('Membership is computed for tracked segments only', {
      suggestion: 'Set trackMembership to true first, or use refresh to count',
    });
  }
  const computed = await computeMembership(em, segmentId).catch((error: unknown) => {
    if (!isStatementTimeout(error)) throw error;
    throw new AppError('SERVICE_UNAVAILABLE', {
      message: 'The segment takes too long to compute within the request, so it is computed in the background',
      cause: error,
    });
  });
  if (!computed) throw new AppError('CONFLICT', { message: 'The segment was changed while it was computed' });
  return computed;
}

type Tracked = Pick<Segment, 'id' | 'projectId' | 'type' | 'name' | 'condition'>;

/**
 * Loads and locks a segment for one chunk. Concurrent computations of it share the chunks, and record no event twice.
 */
async function lockTracked(em: Em, segmentId: string): Promise<Tracked | undefined> {
  return queryOne(
    em,
    sql`
      select id, project_id as "projectId", type, name, condition from segment
      where id = ${segmentId} and type = ${segmentType.DYNAMIC} and track_membership for no key update`,
    pick(tables.segment, 'type', 'id', 'projectId', 'name', 'condition'),
  );
}

/**
 * Brings the members of a tracked dynamic segment in line with its condition, and records an entry or exit for each
 * change. Each chunk of changes is committed with its events. So a call that dies has recorded nothing twice, and the
 * next call does the rest. Members that stay are read, not written.
 * @returns undefined when the segment is not tracked, or no longer exists
 */
export async function computeMembership(
  em: Em,
  segmentId: string,
  given: ComputeOptions = {},
): Promise<ComputedMembership | undefined> {
  const options = { ...given, asOf: await readClock(em) };
  const added = await moveAll(em, segmentId, 'entry', options);
  if (added === undefined) return undefined;
  const removed = await moveAll(em, segmentId, 'exit', options);
  if (removed === undefined) return undefined;
  return { added, removed, total: await recordTotal(em, segmentId) };
}

type Direction = 'entry' | 'exit';

interface MoveOptions extends ComputeOptions {
  /** The present for every time window of the condition. */
  asOf: Date;
}

/** Moves contacts in one direction, chunk by chunk. @returns how many; undefined when the segment is not tracked */
async function moveAll(
  em: Em,
  segmentId: string,
  direction: Direction,
  options: MoveOptions,
): Promise<number | undefined> {
  let count = 0;
  let after: string | undefined = FIRST_ID;
  while (after !== undefined) {
    const chunk: Chunk | undefined = await moveChunk(em, segmentId, { direction, after }, options);
    if (!chunk) return undefined;
    count += chunk.contactIds.length;
    after = chunk.lastId;
  }
  return count;
}

async function moveChunk(
  em: Em,
  segmentId: string,
  { direction, after }: { direction: Direction; after: string },
  { asOf, statementMs, onChunk }: MoveOptions,
): Promise<Chunk | undefined> {
  return inTransaction(em.fork(), async (tx) => {
    if (statementMs !== undefined) await limitStatements(tx, statementMs);
    const segment = await lockTracked(tx, segmentId);
    if (!segment) return undefined;
    const move = direction === 'entry' ? enterNext : leaveNext;
    const chunk = await move(tx, segment, after, asOf);
    await recordMembershipEvents(tx, segment, direction, chunk.contactIds);
    await onChunk?.();
    return chunk;
  });
}

interface Chunk {
  /** The contacts that have entered or left. */
  contactIds: string[];
  /** The id after which the next chunk begins; undefined after the last chunk. */
  lastId: string | undefined;
}

function chunkOf(rows: { id: string; exists: boolean }[]): Chunk {
  const contactIds = rows.filter((row) => row.exists).map((row) => row.id);
  return { contactIds, lastId: rows.length < CHUNK ? undefined : rows.at(-1)?.id };
}

async function enterNext(em: Em, segment: Tracked, after: string, asOf: Date): Promise<Chunk> {
  const predicate = await segmentPredicate(em, segment, asOf, { isStored: true });
  // The lock keeps a concurrent deletion of a contact from leaving its membership behind.
  const rows = await query(
    em,
    sql`
      with entering as materialized (
        select c.id from contact c
        where c.project_id = ${segment.projectId} and ${predicate} and c.id > ${after}::uuid
          and not exists (select from segment_member m where m.segment_id = ${segment.id} and m.contact_id = c.id)
        order by c.id limit ${CHUNK}
      ), held as materialized (
        select id from contact where id in (select id from entering) ${IN_LOCK_ORDER} for key share
      ), entered as (
        insert into segment_member (segment_id, contact_id) select ${segment.id}, id from held on conflict do nothing
      )
      select id, id in (select id from held) as exists from entering order by id`,
    { id: tables.contact.id, exists: boolean },
  );
  return chunkOf(rows);
}

async function leaveNext(em: Em, segment: Tracked, after: string, asOf: Date): Promise<Chunk> {
  const predicate = await segmentPredicate(em, segment, asOf, { isStored: true });
  // The contacts are looked up member by member. A join would read all contacts for each chunk when many leave.
  const rows = await query(
    em,
    sql`
      with leaving as materialized (
        select m.contact_id as id, exists (select from contact c where c.id = m.contact_id) as exists
        from segment_member m
        where m.segment_id = ${segment.id} and m.contact_id > ${after}::uuid
          and (select ${predicate} from contact c where c.id = m.contact_id) is not true
        order by m.contact_id limit ${CHUNK} for update of m
      ), gone as (
        delete from segment_member m using leaving l where m.segment_id = ${segment.id} and m.contact_id = l.id
      )
      select id, exists from leaving order by id`,
    { id: tables.segmentMember.contactId, exists: boolean },
  );
  return chunkOf(rows);
}

/** Stores the number of members, and that they are completely known. @returns the number */
async function recordTotal(em: Em, segmentId: string): Promise<number> {
  const row = await queryOne(
    em,
    sql`
      with counted as (select count(*)::int as total from segment_member where segment_id = ${segmentId})
      update segment set member_count = total, computed_at = coalesce(computed_at, now())
      from counted where id = ${segmentId} and track_membership returning total`,
    { total: number },
  );
  await clearSegmentFault(em, segmentId);
  return row?.total ?? 0;
}
