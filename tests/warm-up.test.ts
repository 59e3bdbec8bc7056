import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wakeMail } from '../shared/domain/campaigns/wake.ts';
import { listSources } from '../shared/domain/emails/sources.ts';
import { deleteProject } from '../shared/domain/lifecycle/delete-project.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { sql } from '../shared/database/sql.ts';
import type { TestProject } from './support/api.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { runCommand } from './support/cli.ts';
import { query } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const PATIENCE_MS = 60_000;
const PLANS = [
  { name: 'tiny', perDay: [5, 10, 20] },
  { name: 'broad', perDay: [60, 120] },
];
/** Sources by their pools; the pool of the first has nothing else. */
const POOLS = { cold: 'cold', shy: 'mixed', warm: 'mixed', busy: 'busy', brief: 'brief' } as const;
type Name = keyof typeof POOLS;

const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-warm-up-'));
const file = path.join(folder, 'shaping.json');
const sinks = {} as Record<Name, SmtpSink>;
let stack: TestStack;

beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ plans: PLANS }));
  const names = Object.keys(POOLS) as Name[];
  for (const name of names) sinks[name] = await createSmtpSink();
  const moreRelays = names.map((name) => `${sinks[name].url}?pool=${POOLS[name]}&name=${name}`);
  stack = await startTestStack({ moreRelays, config: { SHAPING_FILE: file } });
  const body = { to: 'ada@first.test', from: 'hello@example.com', subject: 'S', body: 'B' };
  await stack.api('POST', '/v1/send', { body });
  await eventually(async () => (await listSources(stack.em())).length === names.length + 1, PATIENCE_MS);
  await stack.stopWorkers();
  await everpost('warm-up', 'start', 'cold', '--plan', 'tiny');
  await everpost('warm-up', 'start', 'shy', '--plan', 'tiny');
  await everpost('warm-up', 'start', 'busy', '--plan', 'broad');
  await everpost('warm-up', 'start', 'brief', '--plan', 'tiny');
  await stack.startWorkers();
}, 2 * PATIENCE_MS);
afterAll(async () => {
  await stack.stop();
  for (const sink of Object.values(sinks)) await sink.close();
  rmSync(folder, { recursive: true });
});

async function everpost(...args: string[]): Promise<any> {
  const { exitCode, out, error } = await runCommand([...args, '--json'], {
    DATABASE_URL: stack.database.url,
    SHAPING_FILE: file,
  });
  if (exitCode !== 0) throw new Error(error);
  return JSON.parse(out);
}
const providerOf = async (source: string, provider: string) =>
  (await everpost('warm-up', 'show', source))[0].providers.find((each: any) => each.provider === provider);

/** A project whose campaigns go over a pool. */
async function projectOver(pool: string, count: number, domain: string): Promise<TestProject> {
  const project = await stack.createProject();
  await updateProject(stack.em(), project.project.id, { pools: { marketing: pool } });
  await addReaders(stack.em(), project.project.id, count, domain);
  // The first ones are the oldest.
  await query(
    stack.em(),
    sql`
      update contact set created_at = now() - interval '100 days' + substring(email from '\\d+')::int * interval '1 hour'
      where project_id = ${project.project.id}`,
  );
  return project;
}

/** Records that a reader opened or clicked. */
async function engage({ project }: TestProject, reader: number, name: string, daysAgo: number, isMachine = false) {
  await query(
    stack.em(),
    sql`
      insert into event (id, project_id, contact_id, name, data, created_at)
      select everpost_uuid_v7(), project_id, id, ${name}, jsonb_build_object('isMachine', ${isMachine}::boolean),
        now() - ${daysAgo}::int * interval '1 day'
      from contact where project_id = ${project.id} and email like ${`reader${reader}@%`}`,
  );
}

/**
 * Resolves once so many emails of a campaign are held.
 * @param seconds for at least so long; until midnight they are only when a change of the source is some seconds ago
 */
async function untilHeld(campaignId: string, count: number, seconds = 0): Promise<void> {
  const held = sql`
    select from email
    where campaign_id = ${campaignId} and wait_reason = 'warm-up' and retry_at > now() + ${seconds}::int * interval '1 second'`;
  await eventually(async () => (await query(stack.em(), held)).length === count, PATIENCE_MS);
}

/** Resolves once the answers of today are counted, which happens once a second. */
async function untilCounted(source: string): Promise<void> {
  await eventually(async () => {
    const sums = sql`
      select (select sum(offered) from source_day where source = ${source} and day = (now() at time zone 'UTC')::date) =
        (select sum(v::int) from warm_up w, jsonb_each_text(w.use -> 'used') u (k, v) where w.source = ${source}) as same`;
    const [row] = await query(stack.em(), sums);
    return (row as { same: boolean | null }).same === true;
  }, PATIENCE_MS);
}

/**
 * Makes yesterday of today, for a source, once so many emails of a campaign are held.
 * @param isBad whether 10 % of the day was deferred or refused. One statement says so: a worker may ask at any moment
 */
async function passDay(source: string, campaignId: string, held: number, isBad = false): Promise<void> {
  // None of them may ask before the test has looked at the new day.
  await untilHeld(campaignId, held, 60);
  await untilCounted(source);
  const bad = sql`${isBad}::boolean and day = (now() at time zone 'UTC')::date`;
  await query(
    stack.em(),
    sql`
      with results as (
        update source_day set day = day - 1, offered = case when ${bad} then 20 else offered end,
          deferred_reputation = (${bad})::int, refused_reputation = (${bad})::int
        where source = ${source} returning 1
      )
      update warm_up set day = day - 1 where source = ${source}`,
  );
  // What a worker decides on the day before holds mail only briefly.
  await query(stack.em(), sql`update source set changed_at = now() where name = ${source}`);
}

const numbersOf = (sink: SmtpSink): number[] =>
  sink.messages().map(({ to }) => Number(/^reader(\d+)@/.exec(to[0] ?? '')?.[1]));
const inOrder = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);

describe('a campaign over a source that warms up', () => {
  it('sends what the day allows, to the most engaged first, shows why it waits, and goes on the next day', async () => {
    const project = await projectOver('cold', 30, 'news.test');
    await engage(project, 4, 'email.open', 9);
    await engage(project, 4, 'email.open', 200);
    await engage(project, 2, 'email.click', 1);
    await engage(project, 7, 'email.open', 30);
    await engage(project, 1, 'email.open', 0, true);
    const draft = await project.api('POST', '/campaigns', {
      body: { name: 'N', subject: 'N', body: '<p>N</p>', from: 'news@example.com', audienceType: 'ALL' },
    });
    const check = (await project.api('POST', `/campaigns/${draft.body.data.id}/check`, { body: {} })).body;
    expect(check.warmUp).toEqual({ days: 3, provider: 'news.test' });
    expect(check.problems).toContainEqual({
      code: 'WARM_UP',
      level: 'warning',
      message:
        'This campaign will take 3 days, because 30 of its emails go to news.test: source cold is on day 1 of 3 of its ' +
        'warm-up and sends 5 more today.',
    });

    const { id } = await sendToAll(project);
    const waiting = await eventually(
      async () => (await project.api('GET', `/campaigns/${id}`)).body.waiting ?? false,
      PATIENCE_MS,
    );
    const words =
      /^Source cold warms up: on day 1 of 3 it sends 5 emails to news\.test, which are used up\. It goes on at \d{4}-\d\d-\d\d 00:00 UTC$/;
    expect(waiting.reason).toMatch(words);
    // The audience in its order: those who opened or clicked, and then the newest.
    await eventually(async () => {
      const { body } = await project.api('GET', '/emails?status=PENDING&limit=100');
      return body.emails.length === 25;
    }, PATIENCE_MS);
    expect(inOrder(numbersOf(sinks.cold))).toEqual([2, 4, 7, 29, 30]);
    const pending = (await project.api('GET', '/emails?status=PENDING&limit=1')).body.emails[0];
    const waitOf = async () => (await project.api('GET', `/emails/${pending.id}`)).body.waiting;
    // Just after the start of a warm-up mail asks again and again.
    const held = await eventually(async () => {
      const found = await waitOf();
      return found?.reason === 'warm-up' && found;
    }, PATIENCE_MS);
    expect(held.words).toMatch(words);
    const { waiting: queue } = await everpost('queue', '--project', project.project.id);
    expect(queue).toContainEqual(
      expect.objectContaining({ kind: 'campaign recipient', rows: 25, reason: expect.stringMatching(words) }),
    );
    expect(await providerOf('cold', 'news.test')).toEqual({
      provider: 'news.test',
      isWarm: false,
      day: 1,
      days: 3,
      allowed: 5,
      used: 5,
      reason: null,
    });

    // A worker ends in between.
    await passDay('cold', id, 25);
    await stack.stopWorkers();
    await wakeMail(stack.em());
    await stack.startWorkers();
    await sinks.cold.waitForMessages(15, PATIENCE_MS);
    await eventually(async () => (await providerOf('cold', 'news.test')).used === 10, PATIENCE_MS);
    expect(inOrder(numbersOf(sinks.cold).slice(5))).toEqual([19, 20, 21, 22, 23, 24, 25, 26, 27, 28]);

    // A bad day is repeated.
    await passDay('cold', id, 15, true);
    expect(await providerOf('cold', 'news.test')).toMatchObject({
      day: 2,
      used: 0,
      reason: expect.stringMatching(/is repeated: 10 % was deferred or refused for speed or reputation$/),
    });
    await wakeMail(stack.em());
    await sinks.cold.waitForMessages(25, PATIENCE_MS);
    await eventually(async () => (await providerOf('cold', 'news.test')).used === 10, PATIENCE_MS);
    expect(await stack.metrics.text()).toContain(
      'everpost_warm_up_days_total{source="cold",provider="other",outcome="repeated"} 1',
    );
    const { waiting: again } = (await project.api('GET', `/campaigns/${id}`)).body;
    expect(again.reason).toContain('on day 2 of 3 it sends 10 emails');

    await untilCounted('cold');
    await query(
      stack.em(),
      sql`update source_day set deferred_reputation = 4, offered = 20 where source = 'cold' and offered in (10, 20)`,
    );
    const { results } = await everpost('deliverability', '--source', 'cold');
    expect(results[0].signs.map(({ sentence }: { sentence: string }) => sentence)).toContainEqual(
      expect.stringMatching(/^news\.test defers .* for reputation .*; a day of the warm-up is repeated$/),
    );

    // An operator knows better.
    await untilHeld(id, 5);
    expect((await everpost('warm-up', 'skip', 'cold'))[0].providers).toMatchObject([
      { day: 3, used: 10, reason: null },
    ]);
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    expect(sinks.cold.recipientCounts().size).toBe(30);
    expect(sinks.cold.messageCount()).toBe(30);
  }, 300_000);

  it('sends what exceeds the day over the other sources of the pool, and no mail waits', async () => {
    const project = await projectOver('mixed', 40, 'mixed.test');
    const { id } = await sendToAll(project);
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', PATIENCE_MS);
    expect([sinks.shy.messageCount(), sinks.warm.messageCount()]).toEqual([5, 35]);
    expect(inOrder(numbersOf(sinks.shy))).toEqual([36, 37, 38, 39, 40]);
  }, 120_000);
});

describe('a campaign that sends to the most engaged first', () => {
  it('loses and doubles nobody over pauses and resends', async () => {
    const project = await projectOver('mixed', 60, 'paused.test');
    await updateProject(stack.em(), project.project.id, { emailsPerSecond: 30 });
    for (const reader of [3, 50, 51]) await engage(project, reader, 'email.click', reader);
    const refused = [9, 51].map((n) => `reader${n}@paused.test`);
    const ways = [sinks.shy, sinks.warm];
    for (const sink of ways) {
      for (const address of refused) sink.replyTo(address, { code: 552, text: '5.3.4 Message too big', stage: 'data' });
    }
    const counts = () =>
      ways.flatMap((sink) => [...sink.recipientCounts()]).filter(([address]) => address.endsWith('@paused.test'));
    const { id } = await sendToAll(project);
    const post = async (action: string, body: object = {}) =>
      expect((await project.api('POST', `/campaigns/${id}/${action}`, { body })).status).toBe(200);
    for (const least of [5, 25]) {
      await eventually(() => Promise.resolve(counts().length >= least), PATIENCE_MS);
      await post('pause');
      // Nothing is on its way any more.
      await eventually(async () => {
        const [row] = await query(
          stack.em(),
          sql`select count(*)::int as count from email where campaign_id = ${id} and status = 'SENDING'`,
        );
        return row?.count === 0;
      }, PATIENCE_MS);
      await post('resume');
    }
    const ended = () =>
      eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.status === 'SENT', 2 * PATIENCE_MS);
    await ended();
    expect(counts().filter(([, count]) => count > 1)).toEqual([]);
    expect(counts()).toHaveLength(60 - refused.length);
    for (const sink of ways) for (const address of refused) sink.clearFor(address);
    await post('resend', { states: ['FAILED'] });
    await eventually(() => Promise.resolve(counts().length === 60), PATIENCE_MS);
    await ended();
    expect(counts().filter(([, count]) => count > 1)).toEqual([]);
  }, 240_000);
});

describe('in the middle of a warm-up', () => {
  const warmUp = async () => await query(stack.em(), sql`select day, step, use from warm_up where source = 'brief'`);

  it('a project is deleted, the plan begins again and the source is removed, and nothing is left over', async () => {
    const gone = await projectOver('brief', 12, 'brief.test');
    await untilHeld((await sendToAll(gone)).id, 7);
    await untilCounted('brief');
    await deleteProject(stack.em(), gone.project.id, () => Promise.resolve());
    const project = await projectOver('brief', 12, 'brief.test');
    const { id, read } = await sendToAll(project);
    // What the project had sent counts for the day.
    await untilHeld(id, 12);
    expect(sinks.brief.messageCount()).toBe(5);
    await eventually(async () => !JSON.stringify(await warmUp()).includes(gone.project.id), PATIENCE_MS);

    await everpost('warm-up', 'stop', 'brief');
    await everpost('warm-up', 'start', 'brief', '--plan', 'tiny');
    await sinks.brief.waitForMessages(10, PATIENCE_MS);
    await untilHeld(id, 7);
    expect(await warmUp()).toMatchObject([{ step: 0, use: { used: { [project.project.id]: 5 } } }]);

    await stack.stopWorkers();
    await query(stack.em(), sql`update source set seen_at = now() - interval '1 hour' where name = 'brief'`);
    await everpost('source', 'remove', 'brief');
    expect(await warmUp()).toEqual([]);
    await stack.startWorkers();
    await eventually(async () => (await read()).status === 'SENT', PATIENCE_MS);
    expect(sinks.brief.messageCount()).toBe(17);
    expect(await warmUp()).toEqual([]);
  }, 300_000);
});

describe('workers that are killed', () => {
  it('send no more than the day allows, and all emails in the end', async () => {
    const project = await projectOver('busy', 150, 'busy.test');
    await stack.stopWorkers();
    let workers: WorkerProcess[] = [];
    const start = (): void => void (workers = [1, 2].map(() => startWorkerProcess(stack.config, stack.temporal)));
    const kill = () => Promise.all(workers.map((worker) => worker.kill()));
    start();
    const { id } = await sendToAll(project);
    await sinks.busy.waitForMessages(20, PATIENCE_MS);
    await kill();
    const before = sinks.busy.messageCount();
    start();
    await eventually(async () => (await project.api('GET', `/campaigns/${id}`)).body.waiting ?? false, PATIENCE_MS);
    expect(before).toBeLessThanOrEqual(60);
    expect(sinks.busy.messageCount()).toBeLessThanOrEqual(60);
    await eventually(async () => {
      const { status, waiting } = (await project.api('GET', `/campaigns/${id}`)).body;
      if (waiting) {
        await query(stack.em(), sql`update warm_up set day = day - 1 where source = 'busy'`);
        await wakeMail(stack.em());
      }
      return status === 'SENT';
    }, 2 * PATIENCE_MS);
    expect(sinks.busy.recipientCounts().size).toBe(150);
    await kill();
    await stack.startWorkers();
  }, 300_000);
});

describe('the command warm-up', () => {
  it('refuses what makes no sense, with the reason', async () => {
    await expect(everpost('warm-up', 'start', 'nowhere')).rejects.toThrow('No worker has had a source nowhere');
    await expect(everpost('warm-up', 'start', 'cold')).rejects.toThrow('Source cold warms up already');
    await expect(everpost('warm-up', 'start', 'warm', '--plan', 'none')).rejects.toThrow(
      'has no plan none for source warm',
    );
    await expect(everpost('warm-up', 'start', 'warm', '--day', '0')).rejects.toThrow('--day must be a whole number');
    await expect(everpost('warm-up', 'skip', 'warm')).rejects.toThrow('Source warm does not warm up');
    await expect(everpost('warm-up', 'back', 'cold', '--provider', 'x.test')).rejects.toThrow(
      'does not warm up at x.test',
    );
    await expect(everpost('warm-up', 'stop', 'warm')).rejects.toThrow('Source warm does not warm up');
  });

  it('begins on a given day, moves all providers and those to come, and stops', async () => {
    expect(await everpost('warm-up', 'start', 'warm', '--day', '3')).toEqual([
      { source: 'warm', pool: 'mixed', plan: 'default', firstDay: 3, providers: [] },
    ]);
    expect(await everpost('warm-up', 'back', 'warm', '--days', '5')).toMatchObject([{ firstDay: 1 }]);
    expect(await everpost('warm-up', 'skip', 'warm', '--days', '2')).toMatchObject([{ firstDay: 3 }]);
    // No further than the plan.
    expect(await everpost('warm-up', 'skip', 'warm', '--days', '300')).toMatchObject([{ firstDay: null }]);
    const shown = await runCommand(['warm-up', 'show', 'warm'], { DATABASE_URL: stack.database.url });
    expect(shown.out).toMatch(/^warm +default +all +warm *$/m);
    expect(await everpost('warm-up', 'back', 'warm')).toMatchObject([{ firstDay: 26 }]);
    expect(await everpost('warm-up', 'stop', 'warm')).toEqual([]);
    await expect(everpost('warm-up', 'show', 'nowhere')).rejects.toThrow('No worker has had a source nowhere');
  });
});
