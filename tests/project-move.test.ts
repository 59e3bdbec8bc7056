import { access, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { ATTEMPT_ENDS_MS } from '../shared/domain/emails/orphaned-deliveries.ts';
import type { TestProject } from './support/api.ts';
import { createAutomation, executionThatIs } from './support/automations.ts';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { query, queryOne } from './support/rows.ts';
import { startCommand } from './support/run-node.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 240_000;
const EVENTS = 40_000;

let source: TestStack;
let target: TestStack;
let folder: string;
beforeAll(async () => {
  source = await startTestStack();
  target = await startTestStack();
  folder = await mkdtemp(path.join(tmpdir(), 'project-move-'));
}, PATIENCE_MS);
afterAll(async () => {
  await Promise.all([source.stop(), target.stop()]);
  await rm(folder, { recursive: true });
});

const environmentOf = (stack: TestStack) => ({
  DATABASE_URL: stack.database.url,
  APP_SECRET: stack.config.APP_SECRET,
  TEMPORAL_ADDRESS: testEnvironment().temporalAddress,
  TEMPORAL_NAMESPACE: stack.temporal.namespace,
});
const start = (stack: TestStack, args: string[], input?: string) =>
  startCommand(args, environmentOf(stack), input === undefined ? {} : { input });

async function run(stack: TestStack, ...args: string[]): Promise<any> {
  const { exitCode, out, error } = await runCommand([...args, '--json'], environmentOf(stack));
  expect([exitCode, error]).toEqual([0, '']);
  return JSON.parse(out);
}

/** Asks an installation with the keys that the project has everywhere. */
async function ask(stack: TestStack, key: string, method: string, url: string, body?: object): Promise<any> {
  const init = body && { body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${stack.url}${url}`, { method, headers, ...init });
  return { status: reply.status, body: await reply.json() };
}

const countsOf = (stack: TestStack, { project: { id } }: TestProject) =>
  queryOne(
    stack.em(),
    sql`
      select (select count(*)::int from project where id = ${id}) as projects,
        (select count(*)::int from contact where project_id = ${id}) as contacts,
        (select count(*)::int from event where project_id = ${id}) as events,
        (select count(*)::int from email where project_id = ${id}) as emails,
        (select count(*)::int from automation_execution where project_id = ${id}) as executions,
        (select count(*)::int from campaign where project_id = ${id}) as campaigns`,
  );

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

it(
  'a project moves with what is under way, whatever command is killed and repeated',
  async () => {
    const owner = await source.createProject();
    const { id } = owner.project;
    const from = 'hello@example.com';
    const workflowId = await createAutomation(owner, 'signed_up', {
      wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'paid', timeout: 777_600 },
        branches: { event: 'note' },
      },
      note: { type: 'UPDATE_CONTACT', config: { data: { paid: true } } },
    });
    await owner.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@mail.test', event: 'signed_up' } });
    await executionThatIs(owner, workflowId, 'WAITING');
    const later = new Date(Date.now() + 86_400_000).toISOString();
    const campaign = (
      await owner.api('POST', '/campaigns', { body: { name: 'N', subject: 'S', body: 'B', from, audienceType: 'ALL' } })
    ).body.data;
    await owner.api('POST', `/campaigns/${campaign.id}/send`, { body: { scheduledFor: later } });
    const sent = await owner.api('POST', '/v1/send', {
      body: { to: 'bo@mail.test', subject: 'S', body: 'B', from, scheduledAt: later },
    });
    const emailId = sent.body.data.emails[0].email;
    await query(
      source.em(),
      sql`
        insert into event (id, project_id, contact_id, name, data, created_at)
        select gen_random_uuid(), ${id}, c.id, 'seen', jsonb_build_object('n', n), now()
        from contact c, generate_series(1, ${EVENTS}::int) n where c.project_id = ${id} and c.email = 'ada@mail.test'`,
    );
    const openIn = (stack: TestStack) => {
      const mine = `ProjectId = '${id}' and ExecutionStatus = 'Running'`;
      return stack.temporal.client.workflow.count(mine).then(({ count }) => count);
    };
    const lastEndIn = async (stack: TestStack) => {
      const query = `ProjectId = '${id}' and ExecutionStatus = 'Terminated'`;
      let last = 0;
      for await (const { closeTime } of stack.temporal.client.workflow.list({ query })) {
        last = Math.max(last, Number(closeTime));
      }
      return last;
    };
    await eventually(async () => (await openIn(source)) >= 3);

    // The export is killed while it puts the project to rest.
    const file = path.join(folder, 'project.jsonl.gz');
    const resting = start(source, ['project', 'export', id, file, '--move']);
    await eventually(async () => (await openIn(source)) === 0, PATIENCE_MS);
    resting.kill();
    expect((await resting.ended).exitCode).toBeNull();
    expect([await exists(file), (await ask(source, owner.keys.secretKey, 'GET', '/contacts')).body.error.code]).toEqual(
      [false, 'PROJECT_DISABLED'],
    );

    // The next one waits all the same until nothing can be sent any more. It is killed while it writes.
    const writing = start(source, ['project', 'export', id, file, '--move']);
    await eventually(async () => (await stat(`${file}.part`)).size > 0, PATIENCE_MS);
    expect(Date.now() - (await lastEndIn(source))).toBeGreaterThanOrEqual(ATTEMPT_ENDS_MS);
    writing.kill();
    expect([(await writing.ended).exitCode, await exists(file)]).toEqual([null, false]);
    expect(await run(source, 'project', 'export', id, file, '--move')).toMatchObject({ id });
    expect([await exists(`${file}.part`), (await stat(file)).mode & 0o777, await openIn(source)]).toEqual([
      false,
      0o600,
      0,
    ]);

    // The import is killed while it stores: nothing of the project can be used.
    const storing = start(target, ['project', 'import', file]);
    await eventually(async () => (await countsOf(target, owner)).events > 0, PATIENCE_MS);
    storing.kill();
    expect((await storing.ended).exitCode).toBeNull();
    const half = await countsOf(target, owner);
    expect([half.projects, half.events < EVENTS]).toEqual([0, true]);
    expect((await ask(target, owner.keys.secretKey, 'GET', '/contacts')).status).toBe(401);
    const imported = await run(target, 'project', 'import', file);
    expect(imported).toMatchObject({ id, newSecrets: [], droppedSuppressions: 0, droppedDeliveries: 0 });
    expect(await countsOf(target, owner)).toEqual(await countsOf(source, owner));
    expect((await runCommand(['project', 'import', file], environmentOf(target))).error).toMatch(
      /has the project .* already/,
    );

    // It goes on where it was, once it is enabled.
    expect(await openIn(target)).toBe(0);
    await run(target, 'project', 'enable', id);
    await run(target, 'reconcile', '--now');
    await eventually(async () => (await openIn(target)) >= 3, PATIENCE_MS);
    const asked = (url: string) => ask(target, owner.keys.secretKey, 'GET', url);
    expect((await asked(`/campaigns/${campaign.id}`)).body).toMatchObject({ status: 'SCHEDULED', scheduledFor: later });
    expect((await asked(`/emails/${emailId}`)).body).toMatchObject({ status: 'PENDING' });
    await ask(target, owner.keys.publicKey, 'POST', '/v1/track', { email: 'ada@mail.test', event: 'paid' });
    await eventually(
      async () => (await asked(`/workflows/${workflowId}/executions`)).body.data[0].status === 'COMPLETED',
      PATIENCE_MS,
    );
    expect((await asked('/contacts?search=ada')).body.data[0].data).toMatchObject({ paid: true });
    // The scheduled email goes out when it is due, once, and from here.
    expect(target.sink.messages()).toEqual([]);
    await ask(target, owner.keys.secretKey, 'PATCH', `/emails/${emailId}`, { scheduledAt: new Date().toISOString() });
    await eventually(async () => (await asked(`/emails/${emailId}`)).body.status === 'SENT', PATIENCE_MS);
    expect([source, target].map(({ sink }) => sink.messages().length)).toEqual([0, 1]);
  },
  2 * PATIENCE_MS,
);

it(
  'a project goes from standard output to standard input',
  async () => {
    const owner = await source.createProject();
    await owner.api('POST', '/contacts', { body: { email: 'Ünï@mail.test', data: { text: 'a\nb "c"' } } });
    await owner.api('POST', '/contacts', { body: { email: 'bo@mail.test' } });
    const exported = await start(source, ['project', 'export', owner.project.id, '-']).ended;
    expect([exported.exitCode, exported.error, exported.out.split('\n').at(-1)]).toEqual([0, '', '']);
    const cut = start(target, ['project', 'import', '-', '--json'], exported.out.slice(0, -200));
    expect((await cut.ended).error).toMatch(/ends in the middle|damaged/);
    const imported = await start(target, ['project', 'import', '-', '--json'], exported.out).ended;
    expect([imported.exitCode, JSON.parse(imported.out).rows.contact]).toEqual([
      0,
      (await countsOf(source, owner)).contacts,
    ]);
    const file = path.join(folder, 'small.jsonl');
    await run(source, 'project', 'export', owner.project.id, file);
    const lines = (text: string) => text.split('\n').filter((line) => line.includes('@mail.test'));
    expect(lines(await readFile(file, 'utf8'))).toEqual(lines(exported.out));
  },
  PATIENCE_MS,
);
