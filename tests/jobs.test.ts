import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import type { TestProject, TestReply } from './support/api.ts';
import { uploadContacts } from './support/csv-files.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

function untilEnded(owner: TestProject, kind: 'import' | 'bulk', jobId: string): Promise<TestReply['body']> {
  return eventually(async () => {
    const { body } = await owner.api('GET', `/contacts/${kind}/${jobId}`);
    return (body.state === 'completed' || body.state === 'failed') && body;
  });
}

async function importFile(owner: TestProject, content: string | Buffer): Promise<TestReply['body']> {
  return untilEnded(owner, 'import', await uploadContacts(owner, content));
}

async function contactsOf(owner: TestProject): Promise<unknown[]> {
  return query(
    stack.em(),
    sql`select email, subscribed, data from contact where project_id = ${owner.project.id} order by email collate "C"`,
  );
}

async function eventNames(owner: TestProject): Promise<string[]> {
  const rows = await query(stack.em(), sql`select name from event where project_id = ${owner.project.id} order by id`);
  return rows.map((row) => row.name);
}

describe('an import', () => {
  it('creates and updates contacts, reports faulty rows and drops the file', async () => {
    const owner = await stack.createProject();
    await owner.api('POST', '/contacts', { body: { email: 'old@x.test', data: { plan: 'free', keep: 1 } } });
    await owner.api('POST', '/contacts', { body: { email: 'gone@x.test', subscribed: false } });
    await owner.api('POST', '/contacts', { body: { email: 'same@x.test', subscribed: false } });
    const jobId = await uploadContacts(
      owner,
      '\uFEFFPlan,plan,Email,Subscribed,age\r\n' +
        'A,pro,OLD@x.test,no,\r\n' +
        ',,new@x.test,,42\r\n' +
        ',,quiet@x.test,false,true\r\n' +
        ',,nonsense,,\r\n' +
        ',,gone@x.test,yes,\r\n' +
        ',,same@x.test,no,\r\n' +
        ',,new@x.test,,43\r\n',
    );
    const job = await untilEnded(owner, 'import', jobId);
    expect(job).toEqual({
      id: jobId,
      state: 'completed',
      progress: 100,
      result: {
        totalRows: 7,
        createdCount: 2,
        updatedCount: 4,
        failureCount: 1,
        errors: [{ row: 5, email: 'nonsense', error: expect.any(String) }],
        columns: [
          { column: 'Plan', becomes: 'data.Plan' },
          { column: 'plan', becomes: 'data.plan' },
          { column: 'Email', becomes: 'email' },
          { column: 'Subscribed', becomes: 'subscribed' },
          { column: 'age', becomes: 'data.age' },
        ],
      },
      failedReason: null,
    });
    expect(await contactsOf(owner)).toEqual([
      { email: 'gone@x.test', subscribed: true, data: {} },
      { email: 'new@x.test', subscribed: true, data: { age: 43 } },
      { email: 'old@x.test', subscribed: false, data: { Plan: 'A', plan: 'pro', keep: 1 } },
      { email: 'quiet@x.test', subscribed: false, data: { age: true } },
      { email: 'same@x.test', subscribed: false, data: {} },
    ]);
    expect((await eventNames(owner)).sort()).toEqual(['contact.subscribed', 'contact.unsubscribed']);
    expect(await query(stack.em(), sql`select from job_file where job_id = ${jobId}`)).toEqual([]);
    const fields = (await owner.api('GET', '/contacts/fields')).body.fields;
    expect(fields).toContainEqual({ field: 'data.age', type: 'number', isCustom: true, coverage: 0.4 });
  });

  it.each([
    ['whose last quote is never closed', 'email\na@x.test\n"b@x.test\n', /never closed/],
    ['that leaves open who is subscribed', 'email,status\na@x.test,enabled\nb@x.test,vip\n', /Row 3 .*"subscribed"/],
  ])('of a file %s fails with a reason and stores nothing', async (_what, content, reason) => {
    const owner = await stack.createProject();
    const job = await importFile(owner, content);
    expect(job).toMatchObject({ state: 'failed', progress: 0, result: null });
    expect(job.failedReason).toMatch(reason);
    expect(await contactsOf(owner)).toEqual([]);
    expect(await query(stack.em(), sql`select from job_file where job_id = ${job.id}`)).toEqual([]);
  });

  it('of another tool subscribes nobody who has left, and nobody again', async () => {
    const owner = await stack.createProject();
    const add = (email: string, subscribed: boolean) => owner.api('POST', '/contacts', { body: { email, subscribed } });
    for (const email of ['left@x.test', 'stays@x.test', 'goes@x.test']) await add(email, true);
    await add('left@x.test', false);
    await add('never@x.test', false);
    const rows = [
      'left,enabled',
      'stays,enabled',
      'goes,blocklisted',
      'never,blocklisted',
      'new,blocklisted',
      'fresh,enabled',
    ];
    const lines = rows.map((row) => row.replace(/,/, '@x.test,"{""city"": ""Graz""}",'));
    const job = await importFile(owner, `email,attributes,status\n${lines.join('\n')}\n`);
    expect(job).toMatchObject({
      state: 'completed',
      result: {
        createdCount: 2,
        failureCount: 0,
        columns: [{ becomes: 'email' }, { becomes: 'data.attributes' }, { becomes: 'subscribed' }],
      },
    });
    const contacts = await query(
      stack.em(),
      sql`
        select email, subscribed, opted_out_at is not null as "hasOptedOut", data #>> '{attributes,city}' as city
        from contact where project_id = ${owner.project.id}`,
    );
    const stateOf = (name: string, subscribed: boolean) => ({
      email: `${name}@x.test`,
      subscribed,
      hasOptedOut: !subscribed,
      city: 'Graz',
    });
    expect(contacts.sort((a, b) => (a.email < b.email ? -1 : 1))).toEqual([
      stateOf('fresh', true),
      stateOf('goes', false),
      stateOf('left', false),
      stateOf('never', false),
      stateOf('new', false),
      stateOf('stays', true),
    ]);
  });

  it('keeps values with line ends, quotes, separators and letters of all kinds as they are', async () => {
    const owner = await stack.createProject();
    const value = 'a\n"b"\r\n\tc,;\\n\u2028 {"d":\'e\'} \u{1F600} \\';
    await importFile(owner, `email,note\na@x.test,"${value.replaceAll('"', '""')}"\nb@x.test,\nzoë@x.test,plain\n`);
    expect(await contactsOf(owner)).toEqual([
      { email: 'a@x.test', subscribed: true, data: { note: value } },
      { email: 'b@x.test', subscribed: true, data: {} },
      { email: 'zoë@x.test', subscribed: true, data: { note: 'plain' } },
    ]);
  });

  it('of a header alone completes', async () => {
    const job = await importFile(await stack.createProject(), 'email\n');
    expect(job).toMatchObject({
      state: 'completed',
      progress: 100,
      result: { totalRows: 0, createdCount: 0, errors: [] },
    });
  });

  it('can run at the same time as another one with overlapping addresses', async () => {
    const owner = await stack.createProject();
    const rows = Array.from({ length: 6_000 }, (_, i) => `c${i}@x.test`);
    const shuffled = [...rows].sort((left, right) =>
      left.split('').reverse().join('') < right.split('').reverse().join('') ? -1 : 1,
    );
    const files = [rows, [...rows].reverse(), shuffled].map(
      (list, file) => `email,f${file},g${2 - file}\n${list.map((email, i) => `${email},${i},${i % 3}`).join('\n')}`,
    );
    const jobs: TestReply['body'][] = await Promise.all(files.map((file) => importFile(owner, file)));
    for (const job of jobs)
      expect(job).toMatchObject({ state: 'completed', result: { totalRows: 6_000, failureCount: 0 } });
    const created = jobs.reduce<number>((sum, job) => sum + Number(job.result.createdCount), 0);
    const updated = jobs.reduce<number>((sum, job) => sum + Number(job.result.updatedCount), 0);
    expect([created, updated]).toEqual([6_000, 12_000]);
    const contacts = (await contactsOf(owner)) as { data: object }[];
    expect(contacts).toHaveLength(6_000);
    expect(contacts.every((contact) => Object.keys(contact.data).length === 6)).toBe(true);
    // PostgreSQL counts the deadlocks it had to break.
    const [row] = await query(
      stack.em(),
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    expect(row?.deadlocks).toBe(0);
  });
});

describe('a bulk operation', () => {
  async function createContacts(owner: TestProject, states: boolean[]): Promise<string[]> {
    const ids: string[] = [];
    for (const [i, subscribed] of states.entries()) {
      ids.push((await owner.api('POST', '/contacts', { body: { email: `c${i}@x.test`, subscribed } })).body.id);
    }
    return ids;
  }

  async function run(owner: TestProject, verb: string, contactIds: string[]): Promise<TestReply['body']> {
    const { body } = await owner.api('POST', `/contacts/bulk-${verb}`, { body: { contactIds } });
    return untilEnded(owner, 'bulk', body.jobId);
  }

  it.each([
    ['subscribe', true, 'contact.subscribed'],
    ['unsubscribe', false, 'contact.unsubscribed'],
  ])('%s changes contacts in the other state and records an event for each', async (verb, subscribed, event) => {
    const owner = await stack.createProject();
    const ids = await createContacts(owner, [!subscribed, subscribed, !subscribed, !subscribed]);
    const unknown = randomUUID();
    const job = await run(owner, verb, [...ids.slice(0, 3), unknown, ids[0] ?? '']);
    expect(job).toMatchObject({ state: 'completed', progress: 100, failedReason: null });
    expect(job.result).toEqual({
      operation: verb,
      totalRequested: 5,
      successCount: 2,
      unchangedCount: 2,
      failureCount: 1,
      errors: [{ contactId: unknown, error: 'Contact not found' }],
    });
    expect(await contactsOf(owner)).toMatchObject([
      { subscribed },
      { subscribed },
      { subscribed },
      { subscribed: !subscribed },
    ]);
    expect(await eventNames(owner)).toEqual([event, event]);
  });

  it('delete removes only contacts of this project', async () => {
    const owner = await stack.createProject();
    const stranger = await stack.createProject();
    const ids = await createContacts(owner, [true, false, true]);
    const [theirs = ''] = await createContacts(stranger, [true]);
    const job = await run(owner, 'delete', [ids[0] ?? '', ids[1] ?? '', ids[1] ?? '', theirs]);
    expect(job.result).toMatchObject({
      operation: 'delete',
      totalRequested: 4,
      successCount: 2,
      unchangedCount: 1,
      failureCount: 1,
    });
    expect(await contactsOf(owner)).toMatchObject([{ email: 'c2@x.test' }]);
    expect(await contactsOf(stranger)).toHaveLength(1);
    expect(await eventNames(owner)).toEqual([]);
  });

  it('of 1,000 contacts is counted exactly', async () => {
    const owner = await stack.createProject();
    const rows = await query(
      stack.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{}', now(), now()
        from generate_series(1, 1000) i returning id`,
    );
    const job = await run(
      owner,
      'unsubscribe',
      rows.map((row) => row.id),
    );
    expect(job.result).toMatchObject({
      totalRequested: 1_000,
      successCount: 1_000,
      unchangedCount: 0,
      failureCount: 0,
    });
    expect(await eventNames(owner)).toHaveLength(1_000);
  });
});

describe('the deletion of a field that many contacts have', () => {
  it('continues in the background until no contact has the field', async () => {
    const owner = await stack.createProject();
    await query(
      stack.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{"plan":"pro","keep":1}', now(), now()
        from generate_series(1, 5500) i`,
    );
    const { status, body } = await owner.api('DELETE', '/contacts/fields/data.plan');
    expect([status, body.deletedFrom]).toEqual([202, 5_500]);
    const job = await untilEnded(owner, 'bulk', body.jobId);
    expect(job).toMatchObject({
      state: 'completed',
      result: { operation: 'deleteField', totalRequested: 5_500, successCount: 5_500 },
    });
    const left = await query(stack.em(), sql`select distinct data from contact where project_id = ${owner.project.id}`);
    expect(left).toEqual([{ data: { keep: 1 } }]);
  });
});
