import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inSql, sql, SqlFragment } from '../shared/database/sql.ts';
import { meetSources } from '../shared/domain/emails/sources.ts';
import { tablesOfFile, PROJECT_TABLES, columnsInSql } from '../shared/domain/project-files/project-tables.ts';
import { createProject } from '../shared/domain/projects/projects.ts';
import { findActiveClaims, REACHES } from '../shared/domain/lifecycle/reconciliation.ts';
import { createAutomation } from './support/automations.ts';
import { startTestApi, type TestApi, type TestProject } from './support/api.ts';
import { runCommand, type CliResult } from './support/cli.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { query, queryOne } from './support/rows.ts';

const APP_SECRET = randomBytes(24).toString('base64url');
const OTHER_SECRET = randomBytes(24).toString('base64url');

let app: TestApi;
let source: TestDatabase;
let owner: TestProject;
let folder: string;
let file: string;
const targets: TestDatabase[] = [];

async function target(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  targets.push(database);
  return database;
}

const command = (database: TestDatabase, args: string[], secrets: NodeJS.ProcessEnv = { APP_SECRET }) =>
  runCommand(['project', ...args], { ...secrets, DATABASE_URL: database.url });

async function succeed(running: Promise<CliResult>): Promise<any> {
  const { exitCode, out, error } = await running;
  expect([exitCode, error]).toEqual([0, '']);
  return JSON.parse(out);
}

/** All rows of a project by their tables. */
async function rowsOf(database: TestDatabase, projectId: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, { belongs }] of tablesOfFile()) {
    const rows = await query(
      database.orm.em.fork(),
      sql`select row_to_json(r)::text as row from ${new SqlFragment(inSql(name))} r where ${belongs(projectId)} order by 1`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const ODD = {
  'a "b"\\': 'line\r\nnext\t"\u2028\u{1F600}',
  empty: '',
  none: null,
  deep: [[{ n: 1.5e-9 }], 1234567890123456],
};

/** Rows of every kind, many of them odd. */
async function fill(): Promise<void> {
  const { id } = owner.project;
  const run = (statement: SqlFragment) => query(app.em(), statement);
  const post = async (url: string, body: object) => {
    const reply = await owner.api('POST', url, { body });
    expect([url, reply.status < 300]).toEqual([url, true]);
    return reply.body;
  };
  const from = 'hello@example.com';
  const topic = await post('/topics', { key: 'news', name: 'N\u00e9ws', defaultSubscription: 'opt_out' });
  const contact = await post('/contacts', { email: 'ada@example.com', data: { city: 'Graz' }, topics: { news: true } });
  await run(sql`update contact set data = ${JSON.stringify(ODD)}::jsonb where id = ${contact.id}`);
  const template = await post('/templates', { name: 'T', subject: 'S', body: '<p>"\\n"</p>', from, topicId: topic.id });
  const segment = await post('/segments', { name: 'Some', type: 'STATIC' });
  await post(`/segments/${segment.id}/members`, { emails: ['ada@example.com'] });
  await post('/campaigns', { name: 'C', subject: 'S', body: '<p>B</p>', from, audienceType: 'ALL' });
  await createAutomation(owner, 'signed_up', { pause: { type: 'DELAY', config: { amount: 9, unit: 'days' } } });
  await post('/webhooks', { url: 'https://hooks.example/', events: ['*'], enabled: false });
  await post('/domains', { projectId: id, domain: 'mail.example.com' });
  await post('/suppressions', { emails: ['no@example.com'] });
  const fileOf = { filename: 'ü.bin', content: randomBytes(3_000).toString('base64'), contentType: 'a/b' };
  await post('/v1/send', { to: 'ada@example.com', template: template.id, from, attachments: [fileOf] });
  await owner.api('POST', '/v1/track', { key: 'public', body: { email: 'bob@example.com', event: 'signed_up' } });
  await run(sql`
    insert into event (id, project_id, contact_id, name, data, created_at)
    select gen_random_uuid(), ${id}, ${contact.id}, 'seen', ${JSON.stringify(ODD)}::jsonb || jsonb_build_object('n', n), now()
    from generate_series(1, 2500) n`);
  await run(sql`
    insert into step_execution (id, execution_id, step_number, step_id, status, output, started_at)
    select gen_random_uuid(), id, 1, gen_random_uuid(), 'COMPLETED', ${JSON.stringify(ODD)}::jsonb, now()
    from automation_execution where project_id = ${id}`);
}

beforeAll(async () => {
  source = await createTestDatabase();
  app = await startTestApi({ database: source, databaseUrl: source.url, config: { APP_SECRET } });
  owner = await app.createProject();
  await createProject(app.em(), 'Another project');
  await fill();
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-project-'));
  file = path.join(folder, 'project.jsonl');
  await succeed(command(source, ['export', owner.project.id, file, '--with-address-key', '--json']));
}, 120_000);
afterAll(async () => {
  await app.stop();
  for (const database of [source, ...targets]) await database.drop();
  await rm(folder, { recursive: true });
});

describe('the tables of a file', () => {
  it('are all tables with all their columns', async () => {
    const columns = await query(
      app.em(),
      sql`
        select table_name as "table", array_agg(column_name::text order by column_name) as columns
        from information_schema.columns join information_schema.tables t using (table_schema, table_name)
        where table_schema = current_schema() and t.table_type = 'BASE TABLE' and table_name not like 'mikro_orm%'
        group by 1`,
    );
    const own = Object.keys(PROJECT_TABLES) as (keyof typeof PROJECT_TABLES)[];
    expect(own.map((name) => [inSql(name), columnsInSql(name).sort()]).sort()).toEqual(
      columns.map(({ table, columns: names }) => [table, names.sort()]).sort(),
    );
  });

  it('come after those to which their foreign keys lead, and are early only where none leads to the project', async () => {
    const keys = await query(
      app.em(),
      sql`select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint where contype = 'f'`,
    );
    const inOrder = tablesOfFile().map(([name, { isEarly }]) => ({ name: inSql(name), isEarly }));
    const at = (name: string) => inOrder.findIndex((table) => table.name === name);
    for (const { child, parent } of keys) {
      if (at(child) < 0) continue;
      expect([child, parent, at(parent) < at(child)]).toEqual([child, parent, true]);
      if (inOrder[at(child)]?.isEarly)
        expect([child, parent, inOrder[at(parent)]?.isEarly]).toEqual([child, parent, true]);
    }
  });
});

describe('everpost project export and import', () => {
  it('bring every row to an empty installation as it was, at rest', async () => {
    const database = await target();
    const before = await rowsOf(source, owner.project.id);
    expect(Object.keys(before).filter((name) => before[name]?.length === 0).length).toBeLessThan(18);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const imported = await succeed(command(database, ['import', file, '--json']));
    expect(imported).toMatchObject({ id: owner.project.id, newSecrets: [], droppedSuppressions: 0 });
    const after = await rowsOf(database, owner.project.id);
    // The commands leave rows themselves, after they have read and written the others.
    for (const rows of [before, after])
      rows['auditEntry'] = rows['auditEntry']?.filter((row) => !row.includes('operator')) ?? [];
    const { project, senderDomain, webhookEndpoint, ...others } = before;
    const { project: projectAfter, senderDomain: domainAfter, webhookEndpoint: endpointAfter, ...othersAfter } = after;
    expect(othersAfter).toEqual(others);
    const without = (rows: string[] = [], ...names: string[]) =>
      rows.map((row) => ({ ...JSON.parse(row), ...Object.fromEntries(names.map((name) => [name, null])) }));
    expect(without(projectAfter, 'disabled')).toEqual(without(project, 'disabled'));
    const ofDomain = ['return_path', 'next_check_at'];
    expect(without(domainAfter, ...ofDomain)).toEqual(without(senderDomain, ...ofDomain));
    const ofEndpoint = ['cursor_no', 'news_no', 'parked_at'];
    expect(without(endpointAfter, ...ofEndpoint)).toEqual(without(webhookEndpoint, ...ofEndpoint));
    const em = database.orm.em.fork();
    expect(await findActiveClaims(em, REACHES.all, undefined, 100)).toEqual([]);
    await succeed(command(database, ['enable', owner.project.id, '--json']));
    const claims = await findActiveClaims(em, REACHES.all, undefined, 100);
    expect(claims.map(({ kind }) => kind).sort()).toEqual(expect.arrayContaining(['email', 'execution']));
    expect(await queryOne(em, sql`select count(*)::int as count from outbox`)).toEqual({ count: 0 });
    expect((await command(database, ['import', file])).error).toMatch(/has the project .* already/);
  });

  it('go on after an import that was interrupted, and can be undone', async () => {
    const database = await target();
    const text = await readFile(file, 'utf8');
    const half = path.join(folder, 'half.jsonl');
    await writeFile(half, text.slice(0, text.lastIndexOf('"seen"')));
    const ended = await command(database, ['import', half]);
    expect([ended.exitCode, ended.error]).toEqual([
      1,
      expect.stringMatching(/^The file ends in the middle, at the rows of event/),
    ]);
    const em = () => database.orm.em.fork();
    const stored = async () => (await queryOne(em(), sql`select count(*)::int as count from event`)).count;
    expect(await stored()).toBeGreaterThan(0);
    expect(await findActiveClaims(em(), REACHES.all, undefined, 100)).toEqual([]);
    expect((await queryOne(em(), sql`select count(*)::int as count from project`)).count).toBe(0);
    const undone = await succeed(command(database, ['import', half, '--undo', '--json']));
    expect([undone.rows > 1_000, await stored()]).toEqual([true, 0]);
    await command(database, ['import', half]);
    await succeed(command(database, ['import', file, '--json']));
    expect((await rowsOf(database, owner.project.id))['event']).toEqual(
      (await rowsOf(source, owner.project.id))['event'],
    );
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['is damaged', (text) => text.replace('Graz', 'Linz').replace('signed_up', 'signed_in'), /damaged: its checksum/],
    ['has lost a line', (text) => text.replace(/\n\{[^\n]*"seen"[^\n]*(?=\n)/, ''), /damaged: its checksum/],
    ['is of another kind', () => 'email\nada@example.com\n', /no file that .* has written/],
    ['is empty', () => '', /no file that .* has written/],
    ['has a later format', (text) => text.replace('"format":1', '"format":2'), /has the format 2/],
    [
      'comes from a newer version',
      (text) => text.replace('"schema":[', '"schema":["29990101-x",'),
      /newer version .* 29990101-x/,
    ],
  ])('refuse a file that %s, and leave no project', async (_what, change, message) => {
    const database = await target();
    const changed = path.join(folder, 'changed.jsonl');
    await writeFile(changed, change(await readFile(file, 'utf8')));
    const ended = await command(database, ['import', changed]);
    expect([ended.exitCode, ended.error]).toEqual([1, expect.stringMatching(message)]);
    expect(await query(database.orm.em.fork(), sql`select id from project`)).toEqual([]);
  });

  it('warn about pools that the installation does not have, also when a setting names them', async () => {
    const { project } = await createProject(app.em(), 'With pools');
    const set = await command(source, ['set', project.id, '--marketing-pool', 'bulk', '--json']);
    const warning =
      /^No worker has a source in pool bulk, which marketing mail of the project uses: .* `everpost project set [-\da-f]{36} --marketing-pool ""` uses pool default instead\.\n$/;
    expect([set.exitCode, set.error, JSON.parse(set.out).pools]).toEqual([
      0,
      expect.stringMatching(warning),
      { marketing: 'bulk' },
    ]);
    const moved = path.join(folder, 'pools.jsonl');
    await succeed(command(source, ['export', project.id, moved, '--with-address-key', '--json']));
    const database = await target();
    const imported = await command(database, ['import', moved, '--json']);
    expect([imported.exitCode, imported.error]).toEqual([0, expect.stringMatching(warning)]);
    const known = { kind: 'relay', label: 'a:25', name: 'a', pool: 'bulk' } as const;
    await meetSources(database.orm.em.fork(), [known]);
    await succeed(command(database, ['set', project.id, '--marketing-pool', 'bulk', '--json']));
  });

  it('need the old secret for keys, or replace them', async () => {
    const database = await target();
    const refused = await command(database, ['import', file], { APP_SECRET: OTHER_SECRET });
    expect(refused.error).toMatch(/^APP_SECRET does not open the keys of mail.example.com.*APP_SECRETS_PREVIOUS/s);
    const args = ['import', file, '--new-secrets', '--json'];
    const imported = await succeed(command(database, args, { APP_SECRET: OTHER_SECRET }));
    expect(imported.newSecrets).toEqual(expect.arrayContaining(['mail.example.com', 'https://hooks.example/']));
    const moved = await target();
    const both = { APP_SECRET: OTHER_SECRET, APP_SECRETS_PREVIOUS: APP_SECRET };
    expect((await succeed(command(moved, ['import', file, '--json'], both))).newSecrets).toEqual([]);
  });

  it('hash addresses with the key of an installation that has projects, or say what is lost', async () => {
    const database = await target();
    await createProject(database.orm.em.fork(), 'Here already');
    await succeed(command(database, ['import', file, '--json']));
    const em = database.orm.em.fork();
    const { fits } = await queryOne(
      em,
      sql`
        select address_hash = everpost_address_hash(k.inner_pad, k.outer_pad, project_id, email) as fits
        from suppression, address_hash_key k where project_id = ${owner.project.id}`,
    );
    expect(fits).toBe(true);
    const text = await readFile(file, 'utf8');
    expect(text).toContain('"email":"no@example.com"');
  });

  it('work compressed, and through standard output', async () => {
    const [database, zipped] = [await target(), path.join(folder, 'project.jsonl.gz')];
    await succeed(command(source, ['export', owner.project.id, zipped, '--json']));
    expect((await stat(zipped)).size).toBeLessThan((await stat(file)).size / 2);
    await succeed(command(database, ['import', zipped, '--json']));
    expect((await command(database, ['import', `${zipped}-not`])).error).toMatch(/ENOENT/);
    await writeFile(zipped, (await readFile(zipped)).subarray(0, -9));
    expect((await command(await target(), ['import', zipped])).error).toMatch(/project.jsonl.gz cannot be unpacked/);
  });

  it('end once when two import the same file at the same time', async () => {
    const database = await target();
    const both = await Promise.all([1, 2].map(() => command(database, ['import', file])));
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    expect(both.map(({ error }) => error).join('')).toMatch(/^This installation has the project .* already/);
    expect((await rowsOf(database, owner.project.id))['apiKey']).toHaveLength(2);
  });

  it('leave nothing that cannot become a file, and do not put the project to rest for it', async () => {
    const { project } = await createProject(app.em(), 'Stays');
    const taken = path.join(folder, 'folder');
    await mkdir(taken);
    const refusals: [string, RegExp][] = [
      [taken, /folder is not a file; `-` is standard output$/m],
      [path.join(folder, 'none', 'file'), /^ENOENT/],
      ['/dev/null', /^.dev.null is not a file/],
    ];
    for (const [name, message] of refusals) {
      const refused = await command(source, ['export', project.id, name, '--move']);
      expect([refused.exitCode, refused.error]).toEqual([1, expect.stringMatching(message)]);
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    const { disabled } = await queryOne(app.em(), sql`select disabled from project where id = ${project.id}`);
    expect(disabled).toBe(false);
  });

  it('leave out suppressions that this installation cannot know again, only when that is asked for', async () => {
    const [database, empty] = [await target(), await target()];
    const erasing = await app.createProject();
    const emails = ['gone@example.com', 'no@example.com'];
    expect((await erasing.api('POST', '/suppressions', { body: { emails } })).status).toBeLessThan(300);
    await query(
      app.em(),
      sql`update suppression set email = null where project_id = ${erasing.project.id} and email = 'gone@example.com'`,
    );
    const [without, withKey] = ['without.jsonl', 'with.jsonl'].map((name) => path.join(folder, name));
    await succeed(command(source, ['export', erasing.project.id, without!, '--json']));
    await succeed(command(source, ['export', erasing.project.id, withKey!, '--with-address-key', '--json']));
    // The databases of tests have one key; those of installations have their own.
    for (const { orm } of [database, empty])
      await query(
        orm.em.fork(),
        sql`update address_hash_key set inner_pad = set_byte(inner_pad, 0, 255 - get_byte(inner_pad, 0))`,
      );
    await createProject(database.orm.em.fork(), 'Here already');
    // Neither file fits an installation that has projects: its key stays.
    for (const name of [without!, withKey!]) {
      const refused = await command(database, ['import', name]);
      expect([refused.exitCode, refused.error]).toEqual([
        1,
        expect.stringMatching(/^1 suppressions are of erased people/),
      ]);
      expect(await query(database.orm.em.fork(), sql`select name from project`)).toEqual([{ name: 'Here already' }]);
      await succeed(command(database, ['import', name, '--undo', '--json']));
    }
    expect(await succeed(command(database, ['import', without!, '--drop-hashes', '--json']))).toMatchObject({
      droppedSuppressions: 1,
    });
    const suppressed = (where: TestDatabase) =>
      query(
        where.orm.em.fork(),
        sql`select email from suppression where project_id = ${erasing.project.id} order by email`,
      );
    expect(await suppressed(database)).toEqual([{ email: 'no@example.com' }]);
    expect(await succeed(command(empty, ['import', withKey!, '--json']))).toMatchObject({ droppedSuppressions: 0 });
    expect(await suppressed(empty)).toHaveLength(2);
  });
});
