import type { Contact } from '../contacts/contact.entity.ts';
import type { Em } from '../orm.ts';
import { query, queryOne, sql } from '../sql.ts';
import { segmentPredicate } from './segment-predicate.ts';
import type { Segment } from './segment.entity.ts';

/** How many contacts belong to a segment now. */
export async function countSegmentContacts(em: Em, segment: Segment, asOf: Date): Promise<number> {
  // Members are counted where they are listed; the join leaves out those whose contact is just being deleted.
  const statement =
    segment.type === 'STATIC'
      ? sql`select count(*) from segment_member m join contact c on c.id = m.contact_id where m.segment_id = ${segment.id}`
      : sql`
        select count(*) from contact c
        where c.project_id = ${segment.projectId} and ${await segmentPredicate(em, segment, asOf)}`;
  return (await queryOne<{ count: number }>(em, statement))?.count ?? 0;
}

/** One page of the contacts of a segment, newest first, and how many there are; evaluated now. */
export async function listSegmentContacts(
  em: Em,
  segment: Segment,
  list: { page: number; pageSize: number },
): Promise<{ contacts: Contact[]; total: number }> {
  const asOf = new Date();
  const total = await countSegmentContacts(em, segment, asOf);
  const offset = (list.page - 1) * list.pageSize;
  if (offset >= total) return { contacts: [], total };
  const contacts = await query<Contact>(
    em,
    sql`
      select c.id, c.project_id as "projectId", c.email, c.subscribed, c.opted_out_at as "optedOutAt", c.data,
        c.created_at as "createdAt", c.updated_at as "updatedAt"
      from contact c
      where c.project_id = ${segment.projectId} and ${await segmentPredicate(em, segment, asOf)}
      order by c.created_at desc, c.id desc limit ${list.pageSize} offset ${offset}`,
  );
  return { contacts, total };
}
