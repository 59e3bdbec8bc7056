import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { projectRoot } from '../shared/platform/paths.ts';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { createAutomation, executionThatIs } from './support/automations.ts';
import type { TestProject } from './support/api.ts';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

const command = (...args: string[]) =>
  runCommand(args, {
    DATABASE_URL: stack.database.url,
    TEMPORAL_ADDRESS: testEnvironment().temporalAddress,
    TEMPORAL_NAMESPACE: stack.temporal.namespace,
  });

const from = 'hello@example.com';
const content = { name: 'N', subject: 'S', body: '<p>B</p>', from };
const FILTER = { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] };

/** A project with rows of every kind, and with open workflows. */
async function fill(owner: TestProject): Promise<void> {
  const post = async (path: string, body: object) => {
    const reply = await owner.api('POST', path, { body });
    expect([path, reply.status < 300]).toEqual([path, true]);
    return reply.body;
  };
  await createAutomation(owner, 'signed_up', { pause: { type: 'DELAY', config: { amount: 9, unit: 'days' } } });
  const file = { filename: 'a.txt', content: 'aGVsbG8=', contentType: 'text/plain' };
  await post('/templates', content);
  await post('/webhooks', { url: 'https://hooks.example/', events: ['*'], enabled: false });
  await post('/segments', { name: 'All', type: 'DYNAMIC', condition: FILTER, trackMembership: true });
  const segment = await post('/segments', { name: 'Some', type: 'STATIC' });
  await post('/v1/send', {
    to: 'ada@mail.test',
    subject: 'S',
    body: 'B',
    from,
    attachments: [file],
    data: { plan: 'pro' },
  });
  await post('/v1/send', { to: 'bounced@sandbox.everpost.test', subject: 'S', body: 'B', from });
  await post(`/segments/${segment.id}/members`, { emails: ['ada@mail.test'] });
  await owner.api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'ada@mail.test', event: 'signed_up', subscribed: true },
  });
  const campaign = (await post('/campaigns', { ...content, audienceType: 'ALL' })).data;
  await post(`/campaigns/${campaign.id}/send`, {});
  const later = (await post('/campaigns', { ...content, audienceType: 'ALL' })).data;
  await post(`/campaigns/${later.id}/send`, { scheduledFor: '2999-01-01T00:00:00Z' });
  const { id } = (await owner.api('POST', '/contacts', { body: { email: 'gone@mail.test' } })).body;
  await owner.api('DELETE', `/contacts/${id}`);
  await query(
    stack.em(),
    sql`insert into provider_day (project_id, provider, day, sent) values (${owner.project.id}, 'a.test', now(), 1)`,
  );
  await query(
    stack.em(),
    sql`
      insert into trace_context (subject_id, trace_parent, created_at)
      select id, 'trace', now() from email where project_id = ${owner.project.id}`,
  );
  const ended = await createAutomation(owner, 'left', { out: { type: 'EXIT', config: {} } });
  await owner.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@mail.test', event: 'left' } });
  await executionThatIs(owner, ended, 'EXITED');
  await eventually(async () => (await running(owner)) >= 2);
  await eventually(async () => (await owner.api('GET', `/campaigns/${campaign.id}`)).body.status === 'SENT');
}

async function running({ project }: TestProject): Promise<number> {
  const { count } = await stack.temporal.client.workflow.count(
    `ProjectId = '${project.id}' and ExecutionStatus = 'Running'`,
  );
  return count;
}

async function tablesOfProjects(): Promise<string[]> {
  const rows = await query(
    stack.em(),
    sql`
      select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'project_id' and t.table_type = 'BASE TABLE' order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** The tables that hold rows of a project. The query is text, because it names every table. */
async function tablesWith(projectId: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await tablesOfProjects()) {
    const [row] = await stack.database.orm.em
      .getConnection()
      .execute(`select count(*)::int as count from "${name}" where project_id = '${projectId}'`);
    if (row?.count > 0) found.push(name);
  }
  return found;
}

/** Rows whose project does not exist any more. */
async function orphans(): Promise<Record<string, number> | undefined> {
  return queryOne(
    stack.em(),
    sql`
      select
        (select count(*)::int from step_execution s where not exists (
          select from automation_execution x where x.id = s.execution_id)) as steps,
        (select count(*)::int from attachment a where not exists (
          select from email_content c where c.attachment_set_id = a.set_id)) as attachments,
        (select count(*)::int from trace_context t where not exists (
          select from email e where e.id = t.subject_id)) as traces,
        (select count(*)::int from ended_execution_count n where not exists (
          select from automation a where a.id = n.automation_id)) as counts`,
  );
}

describe('everpost project delete', () => {
  it('deletes all rows of the project, terminates its workflows, and changes no other project', async () => {
    const [owner, other] = [await stack.createProject(), await stack.createProject()];
    await fill(owner);
    await fill(other);
    // The dispatcher empties the outbox.
    const lasting = async () => (await tablesWith(other.project.id)).filter((name) => name !== 'outbox');
    const before = await lasting();
    expect((await tablesWith(owner.project.id)).length).toBeGreaterThan(12);

    const days = { [owner.project.id]: 3, [other.project.id]: 2, deleted: 4 };
    const use = { used: days, waits: { [owner.project.id]: [5, 1], [other.project.id]: [6, 1] }, lentMs: 7 };
    await query(
      stack.em(),
      sql`insert into source (name, kind, pool, relay) values ('cold', 'relay', 'default', 'cold:25')`,
    );
    await query(
      stack.em(),
      sql`
        insert into warm_up (source, provider, day, step, use)
        values ('cold', 'mail.test', current_date, 0, ${JSON.stringify(use)}::jsonb)`,
    );

    const ended = await command('project', 'delete', owner.project.id, '--yes', 'Test', '--json');
    expect(ended.exitCode).toBe(0);
    // What it sent counts for the day all the same.
    expect((await queryOne(stack.em(), sql`select use from warm_up`))?.use).toEqual({
      used: { [other.project.id]: 2, deleted: 7 },
      waits: { [other.project.id]: [6, 1] },
      lentMs: 7,
    });
    expect(JSON.parse(ended.out)).toEqual({ id: owner.project.id, name: 'Test', rows: expect.any(Number) });
    expect(await tablesWith(owner.project.id)).toEqual([]);
    expect(await orphans()).toEqual({ steps: 0, attachments: 0, traces: 0, counts: 0 });
    await eventually(async () => (await running(owner)) === 0);
    expect((await owner.api('GET', '/contacts')).status).toBe(401);

    expect(await lasting()).toEqual(before);
    expect(await running(other)).toBeGreaterThanOrEqual(2);
    expect((await other.api('GET', '/contacts')).status).toBe(200);
  });

  it('covers every table that has rows of projects', async () => {
    const text = readFileSync(path.join(projectRoot, 'shared/domain/lifecycle/delete-project.ts'), 'utf8');
    expect((await tablesOfProjects()).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  it('continues where an earlier attempt was interrupted', async () => {
    const owner = await stack.createProject();
    await owner.api('POST', '/contacts', { body: { email: 'ada@mail.test' } });
    await query(stack.em(), sql`update project set disabled = true where id = ${owner.project.id}`);
    expect((await command('project', 'delete', owner.project.id, '--yes', 'Test')).exitCode).toBe(0);
    expect(await tablesWith(owner.project.id)).toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    ['the name is not given', [], /deletes contacts, emails, .* repeat the command with --yes "Test"/],
    ['another name is given', ['--yes', 'test'], /repeat the command with --yes "Test"/],
  ])('changes nothing when %s', async (_what, options, message) => {
    const { project, api } = await stack.createProject();
    const ended = await command('project', 'delete', project.id, ...options);
    expect([ended.exitCode, ended.error]).toEqual([1, expect.stringMatching(message)]);
    expect((await api('GET', '/contacts')).status).toBe(200);
  });

  it('says that the project does not exist', async () => {
    expect((await command('project', 'delete', uuidV7(), '--yes', 'Test')).error).toMatch(/^Project not found/);
  });
});

describe('everpost queue', () => {
  it('shows what waits by project, kind and age, and the state of the relays', async () => {
    const [owner, other] = [await stack.createProject(), await stack.createProject()];
    await stack.stopWorkers();
    await owner.api('POST', '/v1/send', { body: { to: 'ada@mail.test', subject: 'S', body: 'B', from } });
    await query(
      stack.em(),
      sql`
        insert into provider_health (relay, provider, state) values ('relay.test:25', 'gmail.com', ${JSON.stringify({
          window: [],
          pause: { sinceMs: 0, untilMs: 0, step: 0, reason: '421 slow down' },
        })}::jsonb)`,
    );
    const read = async (...args: string[]) => JSON.parse((await command('queue', ...args, '--json')).out);
    const { waiting, relays } = await read('--project', owner.project.id);
    expect(waiting).toContainEqual({
      projectId: owner.project.id,
      project: 'Test',
      kind: 'email',
      rows: 1,
      reason: null,
      oldestSeconds: expect.any(Number),
    });
    expect(relays).toEqual([
      {
        relay: 'relay.test:25',
        provider: 'gmail.com',
        state: 'paused',
        reason: '421 slow down',
        until: '1970-01-01T00:00:00.000Z',
        emailsPerSecond: null,
      },
    ]);
    expect((await read('--project', other.project.id)).waiting).toEqual([]);
    expect((await command('queue')).out).toMatch(/^PROJECT +WHAT +ROWS +OLDEST +WHY\n[^]*gmail\.com +paused/);
    await query(stack.em(), sql`delete from provider_health`);
  });
});
