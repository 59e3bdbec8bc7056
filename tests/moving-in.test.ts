import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import type { TestProject } from './support/api.ts';
import { runCommand } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { startListmonk, startPlunk, startResend, startSendGrid } from './support/fake-services.ts';
import { startFakeTool, type FakeTool } from './support/fake-tool.ts';
import { query } from './support/rows.ts';
import { startCommand } from './support/run-node.ts';
import { startTestStack, type TestStack } from './support/stack.ts';
import { zipOf } from './support/zip-files.ts';

const KEY = 'key-of-another-tool';
const PATIENCE_MS = 240_000;
let stack: TestStack;
let folder: string;
beforeAll(async () => {
  stack = await startTestStack();
  folder = await mkdtemp(path.join(tmpdir(), 'moving-in-'));
}, PATIENCE_MS);
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

type Options = Parameters<typeof startCommand>[2];

const environment = () => ({ DATABASE_URL: stack.database.url, EVERPOST_IMPORT_KEY: KEY });
const whole = (owner: TestProject, args: string[]) => ['import', ...args, '--project', owner.project.id, '--json'];
const start = (owner: TestProject, args: string[], options?: Options) =>
  startCommand(whole(owner, args), environment(), options);
const runHere = (owner: TestProject, args: string[]) => runCommand(whole(owner, args), environment());

/** Runs a command to its end, as a process where it has options. @returns its answer, or what it failed with */
async function run(owner: TestProject, args: string[], options?: Options): Promise<any> {
  const { exitCode, out, error } = await (options ? start(owner, args, options).ended : runHere(owner, args));
  expect(`${out}${error}`).not.toContain(KEY);
  return exitCode === 0 ? { ...JSON.parse(out), notes: error } : { failure: error };
}

/** All that is known of contacts, topics, suppressions and templates, without ids and moments. */
async function stateOf({ project: { id } }: TestProject): Promise<Record<string, any>> {
  const [state] = await query(
    stack.em(),
    sql`
      select (
        select jsonb_object_agg(c.email, jsonb_build_object('subscribed', c.subscribed, 'data', c.data, 'topics', (
          select jsonb_object_agg(t.key, s.subscribed) from topic_subscription s join topic t on t.id = s.topic_id
          where s.contact_id = c.id))) from contact c where c.project_id = ${id}) as contacts,
        (select jsonb_object_agg(email, reason) from suppression where project_id = ${id}) as suppressed,
        (select jsonb_object_agg(key, visibility) from topic where project_id = ${id}) as topics,
        (select jsonb_object_agg(name, type || ': ' || subject || ' / ' || body) from template where project_id = ${id}) as templates,
        (select count(*)::int from contact where project_id = ${id}) as count,
        (select count(*)::int from event where project_id = ${id}) as events`,
  );
  return state ?? {};
}

const contactsOf = async ({ project: { id } }: TestProject): Promise<number> => {
  const [row] = await query(stack.em(), sql`select count(*)::int as n from contact where project_id = ${id}`);
  return row?.n;
};

interface World {
  start: (key: string) => Promise<FakeTool>;
  /** What the command answers. */
  answer: Record<string, unknown>;
  templates: [name: string, outcome: string, problem?: string][];
  state: Record<string, unknown>;
  refusal: string;
  faults: RegExp[];
}

const SERVICES: Record<string, World> = {
  plunk: {
    start: startPlunk,
    answer: { rows: 250, createdCount: 250, failureCount: 0, leftCounts: { unsubscribed: 5 }, createdTopics: [] },
    templates: [
      ['Receipt', 'created'],
      ['News', 'created'],
      ['Digest', 'created'],
      ['Later', 'created'],
      ['Broken', 'not translated', 'body, line 2'],
    ],
    state: {
      contacts: {
        'p1@plunk.test': { subscribed: true, data: { firstName: 'P1', plan: 'pro' } },
        'p7@plunk.test': { subscribed: true, data: {} },
        'p50@plunk.test': { subscribed: false },
        'p250@plunk.test': { subscribed: false },
      },
      suppressed: null,
      templates: {
        Receipt: 'TRANSACTIONAL: Receipt {{firstName}} / <p>{{ order }}</p>',
        Digest: 'HEADLESS: Digest {{firstName}} / <p>{{#each items}}{{this}}{{/each}}</p>',
      },
    },
    refusal: 'answered 401: {"success":false,"error":{"code":"UNAUTHORIZED"',
    faults: [/the status 429; trying again in 0 s/, /failed \(.+\); try/, /not JSON; trying/, /the status 503/],
  },
  listmonk: {
    start: startListmonk,
    answer: {
      rows: 120,
      createdCount: 120,
      failureCount: 0,
      createdTopics: ['list-1', 'list-2'],
      leftCounts: { unsubscribed: 1, notSubscribed: 2, blocked: 1 },
    },
    templates: [
      ['Receipt', 'created'],
      ['Layout', 'not translated', 'body, line 2: {{ template "content" . }}'],
    ],
    state: {
      contacts: {
        'l1@listmonk.test': { data: { name: 'L 1', city: 'Graz' }, topics: { 'list-1': true, 'list-2': false } },
        'l3@listmonk.test': { subscribed: false, topics: null },
        'l120@listmonk.test': { subscribed: true, topics: { 'list-1': true } },
      },
      suppressed: { 'l5@listmonk.test': 'MANUAL' },
      templates: { Receipt: 'TRANSACTIONAL: Order {{id}} / <p>{{name}}</p>' },
    },
    refusal: 'answered 403: {"message":"invalid API credentials"}',
    faults: [/the status 502; trying again in 1 s/, /the status 429; trying again in 1 s/],
  },
  resend: {
    start: startResend,
    answer: {
      rows: 105,
      createdCount: 105,
      failureCount: 0,
      createdTopics: ['betas', 'news'],
      leftCounts: { bounced: 1, complained: 1, blocked: 1, unsubscribed: 1 },
    },
    templates: [
      ['Template 0', 'created'],
      ['Template 1', 'created'],
      ['Template 2', 'not translated', 'body, line 1: {{{bad name}}}'],
      ['Template 3', 'created'],
    ],
    state: {
      contacts: {
        'r1@resend.test': { data: { firstName: 'R1', plan: 'pro', seats: 1 }, topics: { news: true, betas: false } },
        'r2@resend.test': { subscribed: false },
        'r3@resend.test': { subscribed: true, topics: { news: false, betas: false } },
        'r102@resend.test': { subscribed: true },
      },
      suppressed: {
        'bounce@resend.test': 'HARD_BOUNCE',
        'complaint@resend.test': 'COMPLAINT',
        'manual@resend.test': 'MANUAL',
      },
      topics: { news: 'public', betas: 'private' },
      templates: {
        'Template 0': 'TRANSACTIONAL: Hi {{firstName}} / <p>{{firstName ?? "there"}}</p>',
        'Template 1': 'TRANSACTIONAL: Template 1 / <p>{{{ORDER}}} {{{PRICE ?? "0"}}}</p>',
      },
    },
    refusal: 'answered 401: {"statusCode":401,"name":"restricted_api_key"',
    faults: [/c9\/topics\?limit=100: the status 429/, /tpl1: the status 500/],
  },
  sendgrid: {
    start: startSendGrid,
    answer: {
      rows: 1_206,
      createdCount: 1_206,
      failureCount: 0,
      createdTopics: ['weekly'],
      leftCounts: { bounced: 1_203, complained: 1, unsubscribed: 1 },
    },
    templates: [
      ['Template d-1', 'created'],
      ['Template d-3', 'not translated', 'subject, line 1: <%subject%>'],
    ],
    state: {
      contacts: {
        'b1203@sg.test': { subscribed: false },
        'left@sg.test': { subscribed: false },
        'weekly@sg.test': { subscribed: true, topics: { weekly: false } },
      },
      suppressed: { 'b1@sg.test': 'HARD_BOUNCE', 'spam@sg.test': 'COMPLAINT' },
      templates: { 'Template d-1': 'TRANSACTIONAL: Hi {{firstName}} / <p>{{#if vip}}{{name ?? "you"}}{{/if}}</p>' },
    },
    refusal: 'answered 401: {"errors":[{"field":null,"message":"authorization required"}]}',
    faults: [/offset=500: the status 429/, /asm\/groups\/7\/suppressions: the status 500/],
  },
};

describe.each(Object.keys(SERVICES))('the API of %s', (tool) => {
  const world = SERVICES[tool] as World;

  it(
    'is read whole in spite of faults that pass, and changes nothing the second time',
    async () => {
      const owner = await stack.createProject();
      await trustDomain(stack.em(), owner.project.id, 'local.test');
      const service = await world.start(KEY);
      const args = [tool, '--url', `${service.url}/`, '--templates', '--from', 'hello@local.test'];
      const { notes, templates, ...answer } = await run(owner, args);
      expect(answer).toMatchObject(world.answer);
      for (const fault of world.faults) expect(notes).toMatch(fault);
      expect(templates.map(({ name, outcome, problems }: any) => [name, outcome, problems.join()])).toEqual(
        world.templates.map(([name, outcome, problem]) => [
          name,
          outcome,
          problem ? expect.stringContaining(problem) : '',
        ]),
      );
      const state = await stateOf(owner);
      expect(state).toMatchObject(world.state);
      const again = await run(owner, args);
      expect(again).toMatchObject({ createdCount: 0, failureCount: 0, createdTopics: [] });
      expect(again.templates.filter(({ outcome }: any) => outcome === 'created')).toEqual([]);
      expect(await stateOf(owner)).toEqual(state);
      await service.stop();
    },
    PATIENCE_MS,
  );

  it(
    'that refuses the key ends the command with its own words, and nothing is stored',
    async () => {
      const owner = await stack.createProject();
      const service = await world.start('another-key');
      const { failure } = await run(owner, [tool, '--url', service.url]);
      await service.stop();
      expect(failure).toContain(world.refusal);
      expect(service.requests).toHaveLength(1);
      expect(service.requests[0]?.authorization).toContain(KEY);
      expect(await contactsOf(owner)).toBe(0);
    },
    PATIENCE_MS,
  );
});

describe('an API', () => {
  const page = (data: object[], more: object = {}) => ({ body: { data, ...more } });
  it.each<[string, string, Parameters<typeof startFakeTool>[0], string]>([
    ['without contacts', 'plunk', () => page([], { hasMore: false }), ''],
    [
      'with an empty page before the last',
      'plunk',
      (asked) =>
        asked.includes('cursor')
          ? page([{ email: 'a@x.test' }], { hasMore: false, extra: [] })
          : page([], { hasMore: true, cursor: 'x' }),
      '',
    ],
    [
      'that names a page twice',
      'plunk',
      (asked) =>
        page([{ email: `${asked.slice(-1)}@x.test` }], {
          hasMore: true,
          cursor: asked.includes('cursor=a') ? 'b' : 'a',
        }),
      'a second time',
    ],
    [
      'that knows no pages',
      'sendgrid',
      () => ({ body: [{ email: 'a@x.test', created: 1 }] }),
      'with the page before it',
    ],
    ['that says there is more and gives nothing', 'resend', () => page([], { has_more: true }), 'a second time'],
    ['that is another one', 'listmonk', () => ({ body: { ok: true } }), 'without the list "data.results"'],
    [
      'that has moved',
      'plunk',
      () => ({ status: 302, headers: { location: 'https://elsewhere.test/' } }),
      'answered 302',
    ],
  ])(
    '%s does no harm',
    async (_what, tool, answer, message) => {
      const owner = await stack.createProject();
      const service = await startFakeTool(answer);
      const { exitCode, out, error } = await runHere(owner, [tool, '--url', service.url, '--dry-run']);
      await service.stop();
      if (message === '') expect(JSON.parse(out)).toMatchObject({ failureCount: 0 });
      else expect([exitCode, error]).toEqual([1, expect.stringContaining(message)]);
      expect(await contactsOf(owner)).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'is read on after a kill: nobody is doubled, and what was stored is not stored again',
    async () => {
      const owner = await stack.createProject();
      const total = 45_000;
      let isFirst = true;
      let release: () => void = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      const service = await startFakeTool(async (asked) => {
        if (asked.startsWith('/api/lists')) return { body: { data: { results: [] } } };
        const at = (Number(new URLSearchParams(asked.split('?')[1]).get('page')) - 1) * 500;
        // The command is killed while it waits for this page.
        if (at === 42_000 && isFirst) await held;
        const size = Math.max(0, Math.min(500, total - at));
        const results = Array.from({ length: size }, (_, n) => ({
          email: (at + n) % 100 === 0 ? 'nobody' : `k${at + n}@x.test`,
          status: 'enabled',
          lists: [{ name: 'All' }],
        }));
        return { body: { data: { results, total } } };
      });
      const args = ['listmonk', '--url', service.url];
      const command = start(owner, args);
      await eventually(async () => (await contactsOf(owner)) > 0, PATIENCE_MS);
      command.kill();
      expect((await command.ended).exitCode).toBeNull();
      isFirst = false;
      release();
      const again = await run(owner, args);
      await service.stop();
      const failureCount = total / 100;
      const created = total - failureCount;
      expect(again).toMatchObject({ rows: total, createdCount: created, failureCount, createdTopics: [] });
      expect(again.notes).toContain('Going on with the import');
      const [counts] = await query(
        stack.em(),
        sql`
          select (select count(*)::int from contact where project_id = ${owner.project.id}) as contacts,
            (select count(*)::int from job where project_id = ${owner.project.id}) as jobs,
            (select count(*)::int from topic where project_id = ${owner.project.id}) as topics,
            (select count(*)::int from topic_subscription s join topic t on t.id = s.topic_id
              where t.project_id = ${owner.project.id}) as members`,
      );
      expect(counts).toEqual({ contacts: created, jobs: 3, topics: 1, members: created });
    },
    PATIENCE_MS,
  );
});

describe('everpost import as a process', () => {
  it(
    'reads the standard input, as CSV, as JSON lines and as the export of a tool',
    async () => {
      const owner = await stack.createProject();
      const csv = 'email,plan\na@in.test,pro\nnobody,x\n';
      expect(await run(owner, ['contacts', '-'], { input: csv })).toMatchObject({ createdCount: 1, failureCount: 1 });
      const service = await startPlunk('another-key');
      const withKey = ['plunk', '--url', service.url, '--key-stdin'];
      const { failure: refusal } = await run(owner, withKey, { input: 'third-key\n' });
      expect(refusal).toContain('answered 401');
      expect(service.requests[0]?.authorization).toContain('third-key');
      await service.stop();
      const lines = '{"email":"b@in.test"}\n{"email":"c@in.test","subscribed":false}\n';
      const { createdCount } = await run(owner, ['contacts', '-', '--format', 'jsonl'], { input: lines });
      expect(createdCount).toBe(2);
      const own = 'email,status,name\nd@in.test,enabled,D\ne@in.test,blocklisted,E\n';
      expect(await run(owner, ['listmonk', '-'], { input: own })).toMatchObject({
        createdCount: 2,
        leftCounts: { blocked: 1 },
      });
      expect((await run(owner, ['contacts', '-'], {})).failure).toContain('The file is empty');
      expect(await contactsOf(owner)).toBe(5);
    },
    PATIENCE_MS,
  );

  it(
    'reads a packed export in the same memory, whatever its rows',
    async () => {
      const owner = await stack.createProject();
      const head = 'Email Address,First Name,MEMBER_RATING,TAGS\n';
      const rowsOf = (from: number, count: number) =>
        Array.from(
          { length: count },
          (_, n) => `m${from + n}@mc.test,"Name ${from + n}",2,"""a"",""b ${n % 7}"""\n`,
        ).join('');
      const peakOf = async (rows: number): Promise<number> => {
        const content = Buffer.concat([
          Buffer.from(head),
          ...Array.from({ length: rows / 20_000 }, (_, n) => Buffer.from(rowsOf(n * 20_000, 20_000))),
        ]);
        const file = path.join(folder, `audience-${rows}.zip`);
        await writeFile(file, zipOf({ 'subscribed_members_export_1.csv': { content, flags: 8, isZip64: true } }));
        const peak = `data:text/javascript,${encodeURIComponent("process.on('exit', () => process.stderr.write(`peak ${process.resourceUsage().maxRSS} kB`))")}`;
        const result = await run(owner, ['mailchimp', file, '--dry-run'], {
          nodeArguments: ['--import', peak, '--max-old-space-size=192'],
        });
        expect(result).toMatchObject({ rows, failureCount: 0 });
        await rm(file);
        return Number(/peak (\d+) kB/.exec(result.notes)?.[1]) / 1_024;
      };
      const [small, large] = [await peakOf(20_000), await peakOf(100_000)];
      // A row is 60 octets as it is packed here, and more than 1 kB as an object. Near the limit of its heap, V8 spends most
      // of its time on collecting garbage.
      expect(large).toBeLessThan(small + 100);
    },
    PATIENCE_MS,
  );
});
