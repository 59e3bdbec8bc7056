import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { runCommand } from './support/cli.ts';
import { query } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 60_000;
const PER_SECOND = 5;

const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-shaping-'));
const file = path.join(folder, 'shaping.json');
const rules = [
  { provider: 'slow.test', perSecond: PER_SECOND, because: 'slow.test is slow' },
  { provider: 'hourly.test', perHour: 3 },
  { provider: 'narrow.test', connections: 2, messagesPerConnection: 4 },
  { provider: 'daily.test', perDay: 4 },
];
/** When the server got a message for slow.test. */
const arrivedMs: number[] = [];
let bulk: SmtpSink;
let stack: TestStack;

beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ rules }));
  bulk = await createSmtpSink();
  stack = await startTestStack({
    sink: { onMessage: ({ to }) => void (to[0]?.endsWith('@slow.test') && arrivedMs.push(Date.now())) },
    moreRelays: [`${bulk.url}?pool=bulk&name=bulk`],
    config: { SHAPING_FILE: file },
  });
});
beforeEach(() => {
  stack.sink.clear();
  bulk.clear();
});
afterAll(async () => {
  await stack.stop();
  await bulk.close();
  rmSync(folder, { recursive: true });
});

async function send(to: string, { api }: Pick<TestStack, 'api'> = stack): Promise<void> {
  const from = 'hello@example.com';
  const { status } = await api('POST', '/v1/send', { body: { to, from, subject: 'S', body: 'B' } });
  expect(status).toBe(200);
}
const waitOf = async (to: string, { api }: Pick<TestStack, 'api'> = stack) => {
  const { body } = await api('GET', `/emails?address=${to}`);
  return (await api('GET', `/emails/${body.emails[0]?.id}`)).body.waiting;
};
const show = async (...args: string[]) =>
  runCommand([...args, '--json'], { DATABASE_URL: stack.database.url, SHAPING_FILE: file }).then(({ out }) =>
    JSON.parse(out),
  );

describe('a traffic rule', () => {
  it('keeps a campaign below its rate in every second, and all of it arrives', async () => {
    const project = await stack.createProject();
    await addReaders(stack.em(), project.project.id, 40, 'slow.test');
    const { id } = await sendToAll(project);
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    expect(arrivedMs).toHaveLength(40);
    const most = Math.max(...arrivedMs.map((at) => arrivedMs.filter((each) => each >= at && each < at + 1_000).length));
    // Messages may be delayed between their permits and the server.
    expect(most).toBeLessThanOrEqual(PER_SECOND + 2);
  }, 120_000);

  it('is shared in turns by the campaigns of projects and by transactional mail', async () => {
    const [large, small] = [await stack.createProject(), await stack.createProject()];
    await addReaders(stack.em(), large.project.id, 150, 'slow.test');
    await addReaders(stack.em(), small.project.id, 20, 'slow.test');
    await query(stack.em(), sql`update contact set email = 'small-' || email where project_id = ${small.project.id}`);
    await sendToAll(large);
    await stack.sink.waitForMessages(10, PATIENCE_MS);
    await sendToAll(small);
    await send('now@slow.test', large);
    await stack.sink.waitForMessages(171, PATIENCE_MS);
    const order = stack.sink.messages().map(({ to: [to = ''] }) => to);
    // Either would be among the last ones if it waited behind the large campaign.
    expect(order.indexOf('now@slow.test')).toBeLessThan(60);
    expect(order.findLastIndex((to) => to.startsWith('small-'))).toBeLessThan(100);
  }, 120_000);

  it('holds what exceeds it, says so at the email, in the queue and in the command, and counts no attempt', async () => {
    for (let n = 0; n < 5; n++) await send(`reader-${n}@hourly.test`);
    await stack.sink.waitForMessages(3, PATIENCE_MS);
    const held = await eventually(async () => {
      const { body } = await stack.api('GET', '/emails?status=PENDING');
      return body.emails.length === 2 && body.emails[0].to;
    }, PATIENCE_MS);
    const waiting = await eventually(async () => {
      const found = await waitOf(held);
      return found?.reason === 'traffic rule' && found;
    }, PATIENCE_MS);
    expect(waiting.words).toMatch(
      /^The traffic rule for hourly\.test is used up: source \S+ may have 3 messages an hour$/,
    );
    expect(stack.sink.messageCount()).toBe(3);
    const { provider, limits } = await show('shaping', 'show', 'hourly.test');
    expect(provider).toBe('hourly.test');
    const [limit] = limits.filter(({ used }: { used: number }) => used > 0);
    for (const named of ['no domain', '*', '192.0.2.1', 'a@[192.0.2.1]', 'com']) {
      const refused = await runCommand(['shaping', 'show', named], { DATABASE_URL: stack.database.url });
      expect(refused.error).toBe(`${named} is no domain such as gmail.com\n`);
    }
    expect(limit).toMatchObject({ limit: 'perHour', value: 3, used: 3, isUsedUp: true, because: 'SHAPING_FILE' });
  }, 120_000);

  it('ends a connection after its messages, and uses no more connections', async () => {
    const project = await stack.createProject();
    await addReaders(stack.em(), project.project.id, 30, 'narrow.test');
    const usable = stack.sink.openConnectionCount() - stack.sink.connectionCount();
    const { id } = await sendToAll(project);
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    expect(stack.sink.messageCount()).toBe(30);
    expect(stack.sink.connectionCount() + usable).toBeGreaterThanOrEqual(Math.ceil(30 / 4));
  }, 120_000);

  it('of a project holds its mail over all sources, and no mail of others', async () => {
    const project = await stack.createProject();
    const { api, project: row } = project;
    const body = { trafficRules: [{ provider: 'Own.test', perDay: 2 }] };
    expect((await api('PATCH', `/users/@me/projects/${row.id}`, { body })).body.trafficRules).toEqual([
      { provider: 'own.test', perDay: 2 },
    ]);
    const twice = { trafficRules: [...body.trafficRules, ...body.trafficRules] };
    expect((await api('PATCH', `/users/@me/projects/${row.id}`, { body: twice })).status).toBe(422);
    await addReaders(stack.em(), row.id, 4, 'own.test');
    const { id } = await sendToAll(project);
    await stack.sink.waitForMessages(2, PATIENCE_MS);
    const waiting = await eventually(
      async () => (await api('GET', `/campaigns/${id}`)).body.waiting ?? false,
      PATIENCE_MS,
    );
    expect(waiting.reason).toMatch(/own\.test is used up: the project may have 2 messages a day/);
    for (let n = 0; n < 3; n++) await send(`other-${n}@own.test`);
    await stack.sink.waitForMessages(5, PATIENCE_MS);
    await send('late@own.test', project);
    await eventually(async () => (await waitOf('late@own.test', project))?.reason === 'traffic rule', PATIENCE_MS);

    // Mail does not wait for the end of a rule that is gone.
    const raised = { trafficRules: [{ provider: 'own.test', perDay: 3 }] };
    await api('PATCH', `/users/@me/projects/${row.id}`, { body: raised });
    await stack.sink.waitForMessages(6, PATIENCE_MS);
    await api('PATCH', `/users/@me/projects/${row.id}`, { body: { trafficRules: null } });
    await eventually(async () => (await api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    await stack.sink.waitForMessages(8, PATIENCE_MS);
    expect(stack.sink.messageCount()).toBe(8);
    expect(stack.sink.recipientCounts().size).toBe(8);
  }, 120_000);

  it('of SHAPING_FILE that has changed when a worker starts keeps no mail to its old end', async () => {
    const project = await stack.createProject();
    await addReaders(stack.em(), project.project.id, 5, 'daily.test');
    const { id } = await sendToAll(project);
    for (let n = 0; n < 3; n++) await send(`single-${n}@daily.test`);
    await stack.sink.waitForMessages(4, PATIENCE_MS);
    const held = () =>
      query(
        stack.em(),
        sql`select id, retry_at from email where wait_reason = 'traffic rule' and status = 'PENDING' order by id`,
      );
    await eventually(async () => (await held()).filter((row) => row.retry_at).length === 6, PATIENCE_MS);
    await stack.stopWorkers();
    writeFileSync(
      file,
      JSON.stringify({ rules: rules.map((rule) => ({ ...rule, ...('perDay' in rule && { perDay: 100 }) })) }),
    );
    await stack.startWorkers();
    await stack.sink.waitForMessages(8, PATIENCE_MS);
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    expect([...stack.sink.recipientCounts().values()].filter((count) => count > 1)).toEqual([]);
  }, 120_000);
});

describe('a pool', () => {
  it('carries the stream of a project that uses it, and nothing else', async () => {
    const project = await stack.createProject();
    await updateProject(stack.em(), project.project.id, { pools: { marketing: 'bulk' } });
    await addReaders(stack.em(), project.project.id, 20, 'mail.test');
    await sendToAll(project);
    await bulk.waitForMessages(20, PATIENCE_MS);
    const from = 'hello@example.com';
    await project.api('POST', '/v1/send', { body: { to: 'ada@mail.test', from, subject: 'S', body: 'B' } });
    await stack.sink.waitForMessages(1, PATIENCE_MS);
    expect([bulk.messageCount(), stack.sink.messageCount()]).toEqual([20, 1]);
  }, 120_000);

  it('loses no mail when its sources are drained: it waits, and goes when one is resumed', async () => {
    const project = await stack.createProject();
    await updateProject(stack.em(), project.project.id, { pools: { marketing: 'bulk', transactional: 'bulk' } });
    const sources = await show('source', 'list');
    expect(sources.map(({ name, pool }: { name: string; pool: string }) => `${name} ${pool}`)).toContain('bulk bulk');
    expect(await show('source', 'drain', 'bulk')).toMatchObject({ name: 'bulk', drainedAt: expect.any(String) });
    // The worker learns it with its next exchange; a campaign that begins before could be sent completely.
    await eventually(async () => {
      const to = `early-${randomUUID()}@early.test`;
      await send(to, project);
      return eventually(async () => {
        const { body } = await project.api('GET', `/emails?address=${to}`);
        const isOnItsWay = body.emails[0].status === 'PENDING' || body.emails[0].status === 'SENDING';
        const reason = (await waitOf(to, project))?.reason;
        return (reason === 'no source' || !isOnItsWay) && { isHeld: reason === 'no source' };
      }, PATIENCE_MS).then(({ isHeld }) => isHeld);
    }, PATIENCE_MS);
    bulk.clear();
    await addReaders(stack.em(), project.project.id, 300, 'mail.test');
    const { id } = await sendToAll(project);
    const waiting = await eventually(
      async () => (await project.api('GET', `/campaigns/${id}`)).body.waiting ?? false,
      PATIENCE_MS,
    );
    expect(waiting.reason).toBe('Every source of pool bulk is drained: bulk');
    expect(bulk.messageCount()).toBe(0);
    const early = bulk.messageCount();
    const resumedMs = Date.now();
    await show('source', 'resume', 'bulk');
    await eventually(
      () => Promise.resolve([...bulk.recipientCounts().keys()].some((to) => to.endsWith('@early.test'))),
      PATIENCE_MS,
    );
    // Mail without a source looks for one every 30 seconds.
    expect([early, Date.now() - resumedMs < 15_000]).toEqual([0, true]);
    await eventually(
      async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT',
      2 * PATIENCE_MS,
    );
    await bulk.waitForMessages(301, PATIENCE_MS);
    expect(bulk.recipientCounts().size).toBe(301);
    expect(stack.sink.messageCount()).toBe(0);
  }, 240_000);
});
