import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import type { Config } from '../../platform/config.ts';
import { testConfig } from '../../../tests/support/config.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import { CLEAN_UP_CHUNK, cleanUpChunk, type CleanUpReport } from './maintenance.ts';
import { retentionOf } from './retention.ts';
import { createProject } from '../projects/projects.ts';
import { sql, SqlFragment } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';

const DAY_MS = 24 * 60 * 60_000;

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
});

async function sweep(kind: keyof CleanUpReport, config: Partial<Config>): Promise<number> {
  return (await cleanUpChunk(em(), kind, retentionOf(testConfig(config)))).removed;
}

/** An id of version 7 of this age in days. */
function idOfAge(days: number): string {
  return uuidV7({ msecs: Date.now() - days * DAY_MS });
}

async function idsOf(table: string): Promise<string[]> {
  const rows = await query(em(), sql`select id from ${new SqlFragment(table)}`);
  return rows.map((row) => row.id);
}

async function addCampaign(status: string): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, sent_count, created_at, updated_at)
      values (${id}, ${projectId}, 'C', 'S', 'B', 'a@example.com', ${status}, 'ALL', 1, now(), now())`,
  );
  return id;
}

async function addEmail(days: number, status: string, campaignId: string | null = null): Promise<string> {
  const id = idOfAge(days);
  await query(
    em(),
    sql`
      insert into email (id, project_id, campaign_id, campaign_seq, to_address, status, created_at)
      values (${id}, ${projectId}, ${campaignId}, ${campaignId === null ? null : 1}, 'a@mail.test', ${status},
        now() - ${days}::float8 * interval '1 day')`,
  );
  const setId = idOfAge(days);
  await query(
    em(),
    sql`
      with files as (
        insert into attachment (set_id, position, filename, content_type, disposition, content, created_at)
        select ${setId}, 0, 'f', 'text/plain', 'attachment', '\\x00', created_at from email where id = ${id}
      )
      insert into email_content (email_id, from_address, html, body_text, attachment_set_id, created_at)
      select id, 'a@example.com', 'h', 't', ${setId}, created_at from email where id = ${id}`,
  );
  return id;
}

describe('retention of emails', () => {
  it('deletes contents and attachments of emails that have an outcome, then the emails, and changes no counter', async () => {
    const sending = await addCampaign('SENDING');
    const sent = await addCampaign('SENT');
    const old = await addEmail(40, 'SENT', sent);
    const waiting = await addEmail(40, 'PENDING');
    const underWay = await addEmail(40, 'SENT', sending);
    const young = await addEmail(20, 'SENT');
    const contents = async () =>
      (await query(em(), sql`select email_id as id from email_content`)).map((row) => row.id).sort();

    expect(await sweep('attachments', { RETENTION_ATTACHMENTS_DAYS: 35 })).toBe(2);
    expect(await sweep('attachments', {})).toBe(1);
    expect(await sweep('emailContents', { RETENTION_EMAIL_CONTENT_DAYS: 0 })).toBe(0);
    expect(await sweep('emailContents', {})).toBe(2);
    expect(await contents()).toEqual([waiting, young].sort());

    expect(await sweep('emails', {})).toBe(0);
    expect(await sweep('emails', { RETENTION_EMAILS_DAYS: 30 })).toBe(1);
    const left = await idsOf('email');
    expect(left).not.toContain(old);
    expect(left.sort()).toEqual([waiting, underWay, young].sort());
    expect(await queryOne(em(), sql`select sent_count from campaign where id = ${sent}`)).toEqual({ sent_count: 1 });
  });
});

it('attachments go with the last content that has them, however long attachments are kept', async () => {
  const emailId = await addEmail(10, 'SENT');
  const kept = { RETENTION_ATTACHMENTS_DAYS: 0 };
  expect(await sweep('attachments', kept)).toBe(0);
  await query(em(), sql`delete from email_content where email_id = ${emailId}`);
  expect(await sweep('attachments', kept)).toBe(1);
});

describe('retention of events', () => {
  it('deletes old events of all projects in chunks, each of which begins where the one before ended', async () => {
    const other = (await createProject(em(), 'Other')).project.id;
    for (const [owner, count, days] of [
      [projectId, CLEAN_UP_CHUNK, 40],
      [other, 3, 31],
      [other, 2, 29],
    ] as const) {
      await query(
        em(),
        sql`
          insert into event (id, project_id, name, created_at)
          select (left(${idOfAge(days)}, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${owner}, 'n',
            now() - ${days}::int * interval '1 day'
          from generate_series(1, ${count}::int) n`,
      );
    }
    expect(await sweep('events', {})).toBe(0);
    const retention = retentionOf(testConfig({ RETENTION_EVENTS_DAYS: 30 }));
    const { removed, next } = await cleanUpChunk(em(), 'events', retention);
    expect(removed).toBe(CLEAN_UP_CHUNK);
    expect(await queryOne(em(), sql`select count(*) from event where id <= ${next}`)).toEqual({ count: 0 });
    expect(await cleanUpChunk(em(), 'events', retention, next)).toEqual({ removed: 3 });
    expect(await idsOf('event')).toHaveLength(2);
  });

  it('deletes the names that no event has any more', async () => {
    await query(em(), sql`delete from event`);
    const add = (name: string, days: number) =>
      query(
        em(),
        sql`
          insert into event (id, project_id, name, created_at)
          values (${idOfAge(days)}, ${projectId}, ${name}, now() - ${days}::int * interval '1 day')`,
      );
    await add('old', 40);
    await add('both', 40);
    await add('both', 20);
    expect(await sweep('events', { RETENTION_EVENTS_DAYS: 30 })).toBe(2);
    const names = await query(em(), sql`select name from event_name where project_id = ${projectId} and name <> 'n'`);
    expect(names).toEqual([{ name: 'both' }]);
  });
});

describe('retention of executions', () => {
  async function addExecution(contactId: string, automationId: string, days: number, isFirst: boolean) {
    const id = idOfAge(days);
    await query(
      em(),
      sql`
        insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, context,
          exit_reason, started_at, completed_at, created_at, updated_at)
        select ${id}, ${projectId}, ${automationId}, ${randomUUID()}, ${contactId}, 'EXITED', ${isFirst}, '{"a": 1}', 'r', at, at, at, at
        from (select now() - ${days}::int * interval '1 day' as at) t`,
    );
    await query(
      em(),
      sql`
        insert into step_execution (id, execution_id, step_number, step_id, status, started_at)
        values (${randomUUID()}, ${id}, 1, ${randomUUID()}, 'COMPLETED', now())`,
    );
    return id;
  }

  it('keeps the row of the first execution of a contact, which bars re-entry, and deletes the others', async () => {
    const automationId = randomUUID();
    await query(
      em(),
      sql`
        insert into automation (id, project_id, name, trigger_event, created_at, updated_at)
        values (${automationId}, ${projectId}, 'A', 'e', now(), now())`,
    );
    const [contact] = await upsertContacts(em(), {
      projectId,
      emails: ['a@mail.test'],
      subscribedDefault: true,
      cause: { reason: 'send' },
    });
    const contactId = contact?.id ?? '';
    const first = await addExecution(contactId, automationId, 40, true);
    await addExecution(contactId, automationId, 35, false);
    await addExecution(randomUUID(), automationId, 35, true);
    await addExecution(randomUUID(), randomUUID(), 35, true);
    const young = await addExecution(contactId, automationId, 20, false);

    expect(await sweep('executions', {})).toBe(0);
    expect(await sweep('executions', { RETENTION_EXECUTIONS_DAYS: 30 })).toBe(4);
    expect(await sweep('executions', { RETENTION_EXECUTIONS_DAYS: 30 })).toBe(0);
    expect((await idsOf('automation_execution')).sort()).toEqual([first, young].sort());
    const kept = await queryOne(
      em(),
      sql`select context, exit_reason, status from automation_execution where id = ${first}`,
    );
    expect(kept).toEqual({ context: {}, exit_reason: null, status: 'EXITED' });
    const steps = await query(em(), sql`select execution_id from step_execution`);
    expect(steps).toEqual([{ execution_id: young }]);
  });
});

describe('retention of hashes of deleted contacts', () => {
  it('deletes the hashes that are old and settled', async () => {
    const add = (days: number, isSettled: boolean) =>
      query(
        em(),
        sql`
          insert into erased_contact (contact_id, project_id, address_hash, erased_at, due_at)
          values (${randomUUID()}, ${projectId}, '\\x00', now() - ${days}::int * interval '1 day',
            case when ${isSettled}::boolean then null else now() end)`,
      );
    for (const [days, isSettled] of [
      [40, true],
      [40, false],
      [20, true],
    ] as const)
      await add(days, isSettled);
    expect(await sweep('erasedContacts', {})).toBe(0);
    expect(await sweep('erasedContacts', { RETENTION_ERASED_CONTACTS_DAYS: 30 })).toBe(1);
  });
});

it('entries of the audit are kept for as long as the operator says, and then go, those of all projects', async () => {
  const other = (await createProject(em(), 'Audited')).project.id;
  const add = (days: number, owner: string | null) =>
    query(
      em(),
      sql`
        insert into audit_entry (id, project_id, actor, operation, status, created_at)
        values (${idOfAge(days)}, ${owner}, 'operator', 'test', 0, now() - ${days}::int * interval '1 day')`,
    );
  for (const owner of [projectId, other, null]) for (const days of [400, 300]) await add(days, owner);
  expect(await sweep('auditEntries', { RETENTION_AUDIT_DAYS: 0 })).toBe(0);
  expect(await sweep('auditEntries', { RETENTION_AUDIT_DAYS: 365 })).toBe(3);
  expect(await sweep('auditEntries', { RETENTION_AUDIT_DAYS: 365 })).toBe(0);
  const left = await query(
    em(),
    sql`select created_at < now() - interval '1 year' as is_old from audit_entry where operation = 'test'`,
  );
  expect(left).toEqual([{ is_old: false }, { is_old: false }, { is_old: false }]);
});

describe('the record of consent', () => {
  const bo = randomUUID();
  async function addConsent(days: number, contactId: string, state: string, wording?: string): Promise<void> {
    await query(
      em(),
      sql`
        insert into consent_record (contact_id, id, project_id, state, cause, wording_id, created_at)
        values (${contactId}, ${idOfAge(days)}, ${projectId}, ${state}, 'api', ${wording ?? null},
          now() - ${days}::float8 * interval '1 day')`,
    );
  }
  const statesOf = async (contactId: string) =>
    (await query(em(), sql`select state from consent_record where contact_id = ${contactId} order by id`)).map(
      ({ state }) => state,
    );

  it('keeps the last entry of each kind, however old', async () => {
    for (const state of ['subscribed', 'tracking_allowed', 'unsubscribed']) await addConsent(400, bo, state);
    await addConsent(10, bo, 'subscribed');
    expect(await sweep('consents', {})).toBe(0);
    expect(await sweep('consents', { RETENTION_CONSENTS_DAYS: 365 })).toBe(2);
    expect(await statesOf(bo)).toEqual(['tracking_allowed', 'subscribed']);
    expect(await sweep('consents', { RETENTION_CONSENTS_DAYS: 1 })).toBe(0);
  });

  it('lets a pause, a request or its end replace nothing but its like', async () => {
    const [cy, di] = [randomUUID(), randomUUID()];
    for (const [n, state] of ['subscribed', 'paused', 'resumed'].entries()) await addConsent(400 - n, cy, state);
    for (const [n, state] of ['unsubscribed', 'pending', 'expired'].entries()) await addConsent(400 - n, di, state);
    expect(await sweep('consents', { RETENTION_CONSENTS_DAYS: 365 })).toBe(2);
    expect([await statesOf(cy), await statesOf(di)]).toEqual([
      ['subscribed', 'resumed'],
      ['unsubscribed', 'expired'],
    ]);
    await addConsent(1, di, 'subscribed');
    expect(await sweep('consents', { RETENTION_CONSENTS_DAYS: 365 })).toBe(2);
    expect(await statesOf(di)).toEqual(['subscribed']);
  });

  it('keeps the words that an entry refers to, and those of today', async () => {
    await query(
      em(),
      sql`insert into wording (id, content, created_at)
        values ('used', 'a', now() - interval '9 days'), ('unused', 'b', now() - interval '9 days'), ('new', 'c', now())`,
    );
    await addConsent(5, randomUUID(), 'subscribed', 'used');
    expect(await sweep('wordings', {})).toBe(1);
    expect((await idsOf('wording')).sort()).toEqual(['new', 'used']);
  });
});
