import { uuidV7 } from '../../platform/uuid.ts';
import { badRequest } from '../../pure/app-error.ts';
import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { segmentEventName } from '../../pure/events/segment-events.ts';
import { successorUpdate } from '../contacts/successors.ts';
import { createdConsentsInsert } from '../consent/records.ts';
import { recordEvents } from '../events/events.ts';
import { respell } from '../suppressions/spellings.ts';
import { IN_LOCK_ORDER } from '../contacts/contact-locks.ts';
import { json, query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import type { Segment } from './segment.entity.ts';
import { lockSegment } from './segments.ts';

/** Records the entry or exit of contacts, with the present name of the segment. */
export async function recordMembershipEvents(
  em: Em,
  segment: Pick<Segment, 'id' | 'projectId' | 'name'>,
  change: 'entry' | 'exit',
  contactIds: string[],
): Promise<void> {
  const name = segmentEventName(segment, change);
  const data = { segmentId: segment.id, segmentName: segment.name };
  await recordEvents(
    em,
    contactIds.map((contactId) => ({ projectId: segment.projectId, name, contactId, data })),
  );
}

async function lockStaticSegment(em: Em, projectId: string, segmentId: string): Promise<Segment> {
  const segment = await lockSegment(em, projectId, segmentId);
  if (segment.type !== 'STATIC') {
    throw badRequest('The members of a DYNAMIC segment follow from its condition; they cannot be added or removed');
  }
  return segment;
}

export interface NewMembers {
  /** The addresses as the caller wrote them. */
  emails: string[];
  /** Whether contacts are created for addresses without one. */
  createMissing: boolean;
  /** The subscription of contacts that are created. */
  subscribed: boolean;
}

export interface AddedMembers {
  /** The number of contacts that were not members before. */
  added: number;
  created: number;
  /** Addresses without a contact, as the caller wrote them. */
  notFound: string[];
}

/**
 * Adds contacts to a STATIC segment by address, all or none. Existing members stay.
 * @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST for a DYNAMIC segment
 */
export async function addMembers(
  em: Em,
  projectId: string,
  segmentId: string,
  members: NewMembers,
): Promise<AddedMembers> {
  // Sorted like `IN_LOCK_ORDER`.
  const emails = [...new Set(members.emails.map(normalizeAddress))].sort();
  return inTransaction(em, async (tx) => {
    const segment = await lockStaticSegment(tx, projectId, segmentId);
    await respell(tx, projectId, emails);
    const created = members.createMissing ? await createMissing(tx, projectId, emails, members.subscribed) : 0;
    const contacts = await query(
      tx,
      sql`
        select id, email from contact where project_id = ${projectId} and email = any(${emails}::text[])
        ${IN_LOCK_ORDER} for key share`,
      { id: tables.contact.id, email: tables.contact.email },
    );
    const joined = await query(
      tx,
      sql`
        insert into segment_member (segment_id, contact_id)
        select ${segmentId}, i from unnest(${contacts.map((contact) => contact.id)}::uuid[]) as n (i)
        on conflict do nothing returning contact_id as id`,
      { id: tables.segmentMember.contactId },
    );
    await changeCount(tx, segmentId, joined.length);
    const joinedIds = joined.map((row) => row.id);
    if (segment.trackMembership) await recordMembershipEvents(tx, segment, 'entry', joinedIds);
    const known = new Set(contacts.map((contact) => contact.email));
    const notFound = members.emails.filter((email) => !known.has(normalizeAddress(email)));
    return { added: joined.length, created, notFound: [...new Set(notFound)] };
  });
}

const CAUSE = { reason: 'api', endpoint: 'POST /segments/:id/members' };

async function createMissing(em: Em, projectId: string, emails: string[], subscribed: boolean): Promise<number> {
  const rows = await query(
    em,
    sql`
      with created as (
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select i, ${projectId}, e, ${subscribed}, '{}', now(), now()
        from unnest(${emails.map(() => uuidV7())}::uuid[], ${emails}::text[]) as n (i, e)
        -- This locks the contacts that exist in the same order, and changes nothing.
        on conflict (project_id, email) do update set updated_at = now() where false returning id, email
      ),
      consents as (${createdConsentsInsert(projectId, sql`select id, ${json(CAUSE)}::jsonb from created where ${subscribed}::boolean`)}),
      returned as (${successorUpdate(projectId, sql`created n`)})
      select id from created`,
    { id: tables.contact.id },
  );
  return rows.length;
}

async function changeCount(em: Em, segmentId: string, by: number): Promise<void> {
  if (by === 0) return;
  await query(
    em,
    sql`update segment set member_count = greatest(member_count + ${by}::int, 0) where id = ${segmentId}`,
  );
}

/**
 * Removes contacts from a STATIC segment by address. Addresses without a contact or a membership are ignored.
 * @returns how many were members
 * @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST for a DYNAMIC segment
 */
export async function removeMembers(em: Em, projectId: string, segmentId: string, emails: string[]): Promise<number> {
  return inTransaction(em, async (tx) => {
    const segment = await lockStaticSegment(tx, projectId, segmentId);
    const left = await query(
      tx,
      sql`
        delete from segment_member m using contact c
        where m.segment_id = ${segmentId} and c.id = m.contact_id and c.project_id = ${projectId}
          and c.email = any(${emails.map(normalizeAddress).flatMap(spellingsOf)}::text[])
        returning m.contact_id as id`,
      { id: tables.segmentMember.contactId },
    );
    await changeCount(tx, segmentId, -left.length);
    const leftIds = left.map((row) => row.id);
    if (segment.trackMembership) await recordMembershipEvents(tx, segment, 'exit', leftIds);
    return left.length;
  });
}
