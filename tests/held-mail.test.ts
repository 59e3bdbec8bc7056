import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTransaction, sql } from '../shared/database/sql.ts';
import { forgetOldRules } from '../shared/domain/emails/held-mail.ts';
import { drainSource, meetSources } from '../shared/domain/emails/sources.ts';
import { startWarmUp, moveWarmUp, stopWarmUp } from '../shared/domain/emails/warm-ups.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { uuidV7 } from '../shared/platform/uuid.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 60_000;
const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-held-'));
let stack: TestStack;
const workers: EverpostProcess[] = [];

beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await stack.stop();
  rmSync(folder, { recursive: true });
});

function startWorker(name: string, rules: object[]): EverpostProcess {
  const file = path.join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ rules }));
  const environment = { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath, SHAPING_FILE: file };
  const worker = startEverpostProcess('worker', stack.config, stack.temporal, environment);
  workers.push(worker);
  return worker;
}
const held = () =>
  query(
    stack.em(),
    sql`select id from email where wait_reason = 'traffic rule' and status = 'PENDING' and retry_at > now()`,
  );
async function send(count: number, domain: string): Promise<void> {
  const email = { from: 'hello@example.com', subject: 'S', body: 'B' };
  for (let n = 0; n < count; n++) {
    await stack.api('POST', '/v1/send', { body: { ...email, to: `${uuidV7()}@${domain}` } });
  }
}

describe('mail that a worker holds by a rule that another worker does not have', () => {
  it.each(['killed', 'stopped'] as const)(
    'goes soon after the worker was %s',
    async (end) => {
      const domain = `${end}.test`;
      const before = stack.sink.messageCount();
      const old = startWorker('old', [{ provider: domain, perDay: 2 }]);
      const project = await stack.createProject();
      await addReaders(stack.em(), project.project.id, 4, domain);
      const { id } = await sendToAll(project);
      await send(3, domain);
      await eventually(async () => (await held()).length === 5, PATIENCE_MS);
      const next = startWorker('next', [{ provider: domain, perDay: 100 }]);
      await eventually(
        async () => (await query(stack.em(), sql`select from rules_in_use where ends_at > now()`)).length > 1,
        PATIENCE_MS,
      );
      // Both work now. One of them holds what it takes.
      await send(6, domain);
      await (end === 'killed' ? old.kill() : old.terminate());
      await stack.sink.waitForMessages(before + 13, PATIENCE_MS);
      await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
      expect([...stack.sink.recipientCounts().values()].filter((count) => count > 1)).toEqual([]);
      await next.kill();
    },
    120_000,
  );
});

const rows = (statement: ReturnType<typeof sql>) => query(stack.em(), statement);
const wakes = async () =>
  (await rows(sql`delete from outbox where kind = 'heldMail' returning project_id`)).map(
    ({ project_id }) => project_id,
  );

describe('what lets held mail go', () => {
  const source = { name: 'way', kind: 'relay' as const, pool: 'p', label: 'way:25' };
  const everybody = ['ffffffff-ffff-ffff-ffff-ffffffffffff'];

  it('is committed with each change of rules, pools and sources', async () => {
    const { project } = await stack.createProject();
    await meetSources(stack.em(), [source]);
    await rows(sql`delete from rules_in_use`);
    await wakes();
    const perDay = { '*': [5, 10] };
    const changes = [
      () => drainSource(stack.em(), 'way', false),
      () => startWarmUp(stack.em(), 'way', { plan: 'p', step: 0, perDay }),
      () => moveWarmUp(stack.em(), 'way', 1),
      () => stopWarmUp(stack.em(), 'way'),
    ];
    for (const change of changes) {
      await change();
      expect(await wakes()).toEqual(everybody);
    }
    await updateProject(stack.em(), project.id, { trafficRules: [] });
    await updateProject(stack.em(), project.id, { pools: {} });
    expect(await wakes()).toEqual([project.id, project.id]);
    await updateProject(stack.em(), project.id, { name: 'N' });
    await drainSource(stack.em(), 'way', true);
    expect(await wakes()).toEqual([]);
    const failed = inTransaction(stack.em(), async (tx) => {
      await updateProject(tx, project.id, { pools: {} });
      throw new Error('failed');
    });
    await expect(failed).rejects.toThrow('failed');
    expect(await wakes()).toEqual([]);
  });

  it('is the end of the last worker with rules that another one has replaced', async () => {
    await rows(sql`delete from rules_in_use`);
    const silent = (digest: string, seconds: number) =>
      rows(sql`
        update rules_in_use set ends_at = now() - ${seconds}::int * interval '1 second' where digest = ${`${digest} 0`}`);
    const known = async () =>
      (await rows(sql`select digest from rules_in_use order by 1`)).map(({ digest }) => digest.split(' ')[0]);
    await meetSources(stack.em(), [source], { digest: 'old', seconds: 60, emailsPerSecond: 0 });
    await silent('old', 60);
    await forgetOldRules(stack.em());
    expect([await known(), await wakes()]).toEqual([['old'], []]);
    await meetSources(stack.em(), [source], { digest: 'new', seconds: 60, emailsPerSecond: 0 });
    await meetSources(stack.em(), [source], { digest: 'old', seconds: 60, emailsPerSecond: 0 });
    await forgetOldRules(stack.em());
    expect([await known(), await wakes()]).toEqual([['new', 'old'], []]);
    await silent('old', 6);
    await Promise.all([forgetOldRules(stack.em()), forgetOldRules(stack.em())]);
    expect([await known(), await wakes()]).toEqual([['new'], everybody]);
    // Nobody has sent for a while, and the older worker still lives.
    await meetSources(stack.em(), [source], { digest: 'old', seconds: 60, emailsPerSecond: 0 });
    await silent('new', 9);
    await silent('old', 8);
    await forgetOldRules(stack.em());
    expect([await known(), await wakes()]).toEqual([['old'], everybody]);
  });

  it('is the end of the last worker with another speed, for projects that have booked it', async () => {
    await rows(sql`delete from rules_in_use`);
    const [waiting, own, idle] = await Promise.all([1, 2, 3].map(async () => (await stack.createProject()).project.id));
    await updateProject(stack.em(), own!, { emailsPerSecond: 1 });
    await rows(sql`delete from project_permit`);
    for (const [id, seconds] of [
      [waiting, 3_600],
      [own, 3_600],
      [idle, -1],
    ] as const) {
      const freeAt = sql`now() + ${seconds}::int * interval '1 second'`;
      await rows(sql`insert into project_permit (project_id, next_free_at) values (${id}, ${freeAt})`);
    }
    await wakes();
    const booked = async () =>
      (await rows(sql`select project_id from project_permit`)).map((row) => row.project_id).sort();
    const replace = async (...[before, after]: [digest: string, emailsPerSecond: number][]) => {
      for (const [digest, emailsPerSecond] of [before!, after!])
        await meetSources(stack.em(), [source], { digest, emailsPerSecond, seconds: 60 });
      await rows(sql`
        update rules_in_use set ends_at = now() - interval '1 second' where digest = ${before!.join(' ')}`);
      await forgetOldRules(stack.em());
    };
    // Other rules alone change no booking.
    await replace(['a', 1], ['b', 1]);
    expect([await booked(), await wakes()]).toEqual([[waiting, own, idle].sort(), everybody]);
    await replace(['b', 1], ['b', 100]);
    expect([await booked(), (await wakes()).sort()]).toEqual([[own, idle].sort(), [waiting, ...everybody].sort()]);
  });
});
