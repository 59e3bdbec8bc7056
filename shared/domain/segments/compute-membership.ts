import { badRequest } from '../../pure/app-error.ts';
import { IN_LOCK_ORDER } from '../contacts/contact-locks.ts';
import type { Em } from '../database/em.ts';
import { limitStatements, query, queryOne, sql } from '../database/sql.ts';
import { clearSegmentFault } from './segment-faults.ts';
import { recordMembershipEvents } from './segment-members.ts';
import { segmentPredicate } from './segment-predicate.ts';
import type { Segment } from './segment.entity.ts';
import { findSegment } from './segments.ts';
import { inTransaction } from '../database/transaction.ts';

/** Contacts that join or leave in one transaction, each with its event. */
const CHUNK = 5_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface MembershipChange {
  added: number;
  removed: number;
}

export interface ComputedMembership extends MembershipChange {
  /** Members afterwards. */
  total: number;
}

export interface ComputeOptions {
  /** "Now" for every time window of the condition. */
  asOf: Date;
  /** Longest statement, in milliseconds; what the session allows when left out. */
  statementMs?: number;
  /** Called inside the transaction of each chunk. */
  onChunk?: (tx: Em) => Promise<void>;
}

/** @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST unless the segment is dynamic and tracked */
export async function assertComputable(em: Em, projectId: string, segmentId: string): Promise<void> {
  const segment = await findSegment(em, projectId, segmentId);
  if (segment.type === 'STATIC') throw badRequest('A STATIC segment has no condition, so there is nothing to compute');
  if (!segment.trackMembership) {
    throw badRequest('Membership is computed for tracked segments only', {
      suggestion: 'Set trackMembership to true first, or use refresh to count',
    });
  }
}

type Tracked = Pick<Segment, 'id' | 'projectId' | 'type' | 'name' | 'condition'>;

/** The segment as it is for this chunk, its row locked: two computations share the work and emit nothing twice. */
async function lockTracked(em: Em, segmentId: string): Promise<Tracked | undefined> {
  return queryOne<Tracked>(
    em,
    sql`
      select id, project_id as "projectId", type, name, condition from segment
      where id = ${segmentId} and type = 'DYNAMIC' and track_membership for no key update`,
  );
}

/**
 * Brings the members of a tracked dynamic segment in line with its condition and emits an entry or exit for each
 * change. Each chunk of changes is committed with its events, so a call that dies has counted nothing twice and the
 * next one does the rest. Members that stay are read, not written.
 * @returns undefined when the segment is not tracked (any more), or gone
 */
export async function computeMembership(
  em: Em,
  segmentId: string,
  options: ComputeOptions,
): Promise<ComputedMembership | undefined> {
  const change: MembershipChange = { added: 0, removed: 0 };
  for (const direction of ['entry', 'exit'] as const) {
    let after: string | undefined = FIRST_ID;
    while (after !== undefined) {
      const cursor: string = after;
      const chunk = await inTransaction(em.fork(), async (tx) => {
        if (options.statementMs !== undefined) await limitStatements(tx, options.statementMs);
        const segment = await lockTracked(tx, segmentId);
        if (!segment) return undefined;
        const move = direction === 'entry' ? enterNext : leaveNext;
        const { contactIds, lastId } = await move(tx, segment, cursor, options.asOf);
        await recordMembershipEvents(tx, segment, direction, contactIds);
        await options.onChunk?.(tx);
        return { lastId, count: contactIds.length };
      });
      if (!chunk) return undefined;
      change[direction === 'entry' ? 'added' : 'removed'] += chunk.count;
      after = chunk.lastId;
    }
  }
  return { ...change, total: await recordTotal(em, segmentId) };
}

interface Moved {
  contactIds: string[];
  /** Where the next chunk begins; undefined after the last one. */
  lastId: string | undefined;
}

function moved(rows: { id: string; exists?: boolean }[]): Moved {
  const contactIds = rows.filter((row) => row.exists !== false).map((row) => row.id);
  return { contactIds, lastId: rows.length < CHUNK ? undefined : rows.at(-1)?.id };
}

async function enterNext(em: Em, segment: Tracked, after: string, asOf: Date): Promise<Moved> {
  const predicate = await segmentPredicate(em, segment, asOf);
  // The lock keeps a contact that is being deleted from leaving a member behind.
  const rows = await query<{ id: string; exists: boolean }>(
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
  );
  return moved(rows);
}

async function leaveNext(em: Em, segment: Tracked, after: string, asOf: Date): Promise<Moved> {
  const predicate = await segmentPredicate(em, segment, asOf);
  // Looked up member by member: a join would read all contacts for each chunk where many leave.
  const rows = await query<{ id: string; exists: boolean }>(
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
  );
  return moved(rows);
}

async function recordTotal(em: Em, segmentId: string): Promise<number> {
  const row = await queryOne<{ total: number }>(
    em,
    sql`
      with counted as (select count(*)::int as total from segment_member where segment_id = ${segmentId})
      update segment set member_count = total, computed_at = coalesce(computed_at, now())
      from counted where id = ${segmentId} and track_membership returning total`,
  );
  await clearSegmentFault(em, segmentId);
  return row?.total ?? 0;
}
