import type { FilterCondition } from '../../shared/pure/filters/filter-condition.ts';
import { compileFilter, type CompileFilterOptions } from '../../shared/domain/filters/filter-compiler.ts';
import { json, sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import type { EvaluatedContact } from './filter-evaluator.ts';

/** A contact that is stored in several tables. */
export interface StoredContact extends EvaluatedContact {
  id: string;
}

let lastId = 0;

/** A UUID that differs from every other one of this process; the number makes failures readable. */
export function testId(): string {
  lastId += 1;
  return `0190e000-0000-7000-8000-${String(lastId).padStart(12, '0')}`;
}

/** A plain contact with the fields of `overrides`. */
export function storedContact(overrides: Partial<StoredContact> = {}): StoredContact {
  const id = overrides.id ?? testId();
  const createdAt = overrides.createdAt ?? new Date('2026-01-01T00:00:00Z');
  return {
    id,
    email: `${id}@example.com`,
    subscribed: true,
    data: {},
    createdAt,
    updatedAt: createdAt,
    events: [],
    emails: [],
    memberOf: [],
    topics: {},
    ...overrides,
  };
}

/** Stores contacts of one project with their events, emails, memberships and choices, each table with one statement. */
export async function storeContacts(em: Em, projectId: string, contacts: StoredContact[]): Promise<void> {
  const rows = contacts.map(({ id, email, subscribed, data, createdAt, updatedAt }) => {
    return { id, email, subscribed, data, created_at: createdAt, updated_at: updatedAt };
  });
  await query(
    em,
    sql`insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select id, ${projectId}::uuid, email, subscribed, data, created_at, updated_at
      from jsonb_to_recordset(${json(rows)}::jsonb) as row_of(id uuid, email text, subscribed boolean, data jsonb,
        created_at timestamptz, updated_at timestamptz)`,
  );
  const events = contacts.flatMap((contact) =>
    contact.events.map((event) => ({ contact_id: contact.id, name: event.name, created_at: event.createdAt })),
  );
  await query(
    em,
    sql`insert into event (id, project_id, contact_id, name, created_at)
      select gen_random_uuid(), ${projectId}::uuid, contact_id, name, created_at
      from jsonb_to_recordset(${json(events)}::jsonb) as row_of(contact_id uuid, name text, created_at timestamptz)`,
  );
  const emails = contacts.flatMap((contact) =>
    contact.emails.map((email) => ({
      contact_id: contact.id,
      sent_at: email.sentAt,
      delivered_at: email.deliveredAt,
      opened_at: email.openedAt,
      clicked_at: email.clickedAt,
      bounced_at: email.bouncedAt,
      complained_at: email.complainedAt,
      human_opened_at: email.humanOpenedAt,
      human_clicked_at: email.humanClickedAt,
    })),
  );
  await query(
    em,
    sql`insert into email (id, project_id, contact_id, to_address, status, created_at, sent_at, delivered_at, opened_at,
        clicked_at, bounced_at, complained_at, human_opened_at, human_clicked_at)
      select gen_random_uuid(), ${projectId}::uuid, contact_id, 'someone@example.com', 'SENT', now(), sent_at,
        delivered_at, opened_at, clicked_at, bounced_at, complained_at, human_opened_at, human_clicked_at
      from jsonb_to_recordset(${json(emails)}::jsonb) as row_of(contact_id uuid, sent_at timestamptz,
        delivered_at timestamptz, opened_at timestamptz, clicked_at timestamptz, bounced_at timestamptz,
        complained_at timestamptz, human_opened_at timestamptz, human_clicked_at timestamptz)`,
  );
  const members = contacts.flatMap((contact) =>
    contact.memberOf.map((segmentId) => ({ segment_id: segmentId, contact_id: contact.id })),
  );
  await query(
    em,
    sql`insert into segment_member (segment_id, contact_id)
      select segment_id, contact_id
      from jsonb_to_recordset(${json(members)}::jsonb) as row_of(segment_id uuid, contact_id uuid)`,
  );
  const choices = contacts.flatMap((contact) =>
    Object.entries(contact.topics).map(([key, subscribed]) => ({ key, contact_id: contact.id, subscribed })),
  );
  await query(
    em,
    sql`insert into topic_subscription (topic_id, contact_id, subscribed)
      select t.id, row_of.contact_id, row_of.subscribed
      from jsonb_to_recordset(${json(choices)}::jsonb) as row_of(key text, contact_id uuid, subscribed boolean)
      join topic t on t.project_id = ${projectId}::uuid and t.key = row_of.key`,
  );
}

/** Stores topics of a project, by their keys with whether contacts have them by default. */
export async function storeTopics(em: Em, projectId: string, topics: Readonly<Record<string, boolean>>): Promise<void> {
  for (const [key, byDefault] of Object.entries(topics)) {
    await query(
      em,
      sql`insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
        values (${testId()}::uuid, ${projectId}::uuid, ${key}, ${key}, ${byDefault ? 'opt_in' : 'opt_out'}, now(), now())`,
    );
  }
}

/** Stores a project to which segments can belong. */
export async function storeProject(em: Em): Promise<string> {
  const id = testId();
  await query(
    em,
    sql`insert into project (id, name, public_key, secret_key_hash, created_at, updated_at)
      values (${id}::uuid, 'Filters', ${`pk_${id}`}, ${id}, now(), now())`,
  );
  return id;
}

/** Stores a segment whose members are listed; live segments need no row. */
export async function storeMemberSegment(
  em: Em,
  projectId: string,
  id: string,
  type: 'DYNAMIC' | 'STATIC',
): Promise<void> {
  await query(
    em,
    sql`insert into segment (id, project_id, name, type, track_membership, created_at, updated_at)
      values (${id}::uuid, ${projectId}::uuid, 'Members', ${type}, ${type === 'DYNAMIC'}, now(), now())`,
  );
}

/** The ids of the project's contacts that a condition matches, in order. */
export async function selectMatching(
  em: Em,
  condition: FilterCondition,
  options: CompileFilterOptions,
): Promise<string[]> {
  const predicate = compileFilter(condition, options);
  const rows = await query(
    em,
    sql`select c.id from contact c where c.project_id = ${options.projectId}::uuid and ${predicate} order by c.id`,
  );
  return rows.map((row) => row.id);
}
