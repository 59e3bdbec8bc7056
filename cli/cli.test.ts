import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADDRESS_HASH_KEY, addressHash } from '../shared/domain/suppressions/address-hash.ts';
import { hashKey } from '../shared/domain/projects/keys.ts';
import { readWebhookSecret } from '../shared/domain/projects/projects.ts';
import { ProjectEntity } from '../shared/domain/projects/project.entity.ts';
import { SenderDomainEntity } from '../shared/domain/domains/sender-domain.entity.ts';
import { meetSources } from '../shared/domain/emails/sources.ts';
import { query, sql } from '../shared/database/sql.ts';
import { runCommand, type CliResult } from '../tests/support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../tests/support/database.ts';
import { testEnvironment } from '../tests/support/environment.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let database: TestDatabase;
/** An empty folder, without files of a local stack. */
let home: string;

beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(path.join(tmpdir(), 'everpost-cli-'));
});
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

function runIn(environment: NodeJS.ProcessEnv, ...args: string[]): Promise<CliResult> {
  return runCommand(args, { EVERPOST_HOME: home, ...environment });
}

function run(...args: string[]): Promise<CliResult> {
  return runIn({ DATABASE_URL: database.url }, ...args);
}

/** Runs a command with `--json` and returns the one value it prints. */
async function runForJson<T>(...args: string[]): Promise<T> {
  const result = await run(...args, '--json');
  expect({ exitCode: result.exitCode, error: result.error }).toEqual({ exitCode: 0, error: '' });
  return JSON.parse(result.out) as T;
}

interface CreatedProject {
  id: string;
  name: string;
  publicKey: string;
  secretKey: string;
  domains: string[];
}

describe('everpost project', () => {
  it('creates a project with its keys and trusted domains, and stores no secret key', async () => {
    const created = await runForJson<CreatedProject>(
      'project',
      'create',
      '--name',
      ' Acme ',
      '--trusted-domain',
      'Mail.Acme.test',
      '--trusted-domain',
      'acme.test',
    );

    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Acme',
      publicKey: expect.stringMatching(/^pk_[0-9a-f]{64}$/),
      secretKey: expect.stringMatching(/^sk_[0-9a-f]{64}$/),
      domains: ['acme.test', 'mail.acme.test'],
    });
    const em = database.orm.em.fork();
    const row = await em.findOneOrFail(ProjectEntity, { id: created.id });
    expect(row.secretKeyHash).toBe(hashKey(created.secretKey));
    const domains = await em.find(SenderDomainEntity, { projectId: created.id });
    expect(domains.map(({ verified }) => verified)).toEqual([true, true]);
  });

  it('creates nothing when a domain is not usable', async () => {
    const result = await run('project', 'create', '--name', 'Half made', '--trusted-domain', 'not a domain', '--json');

    expect(result).toMatchObject({ exitCode: 1, out: '' });
    expect(result.error).not.toBe('');
    expect(await database.orm.em.fork().count(ProjectEntity, { name: 'Half made' })).toBe(0);
  });

  it('disables, enables and changes a project, and lists the result', async () => {
    const { id } = await runForJson<CreatedProject>('project', 'create', '--name', 'Changing');

    expect(await runForJson('project', 'disable', id)).toMatchObject({ id, disabled: true });
    expect(await runForJson('project', 'enable', id)).toMatchObject({ id, disabled: false });
    expect(await runForJson('project', 'set', id, '--tracking', 'enabled', '--emails-per-second', '25')).toMatchObject({
      tracking: 'ENABLED',
      emailsPerSecond: 25,
    });
    expect(
      await runForJson('project', 'set', id, '--client-addresses', 'full', '--tracking', 'consented'),
    ).toMatchObject({
      clientAddresses: 'FULL',
      tracking: 'CONSENTED',
    });
    expect(
      await runForJson('project', 'set', id, '--emails-per-second', 'default', '--tracking', 'enabled'),
    ).toMatchObject({
      tracking: 'ENABLED',
      emailsPerSecond: null,
    });
    const brand = ['--display-name', 'Tea & Co', '--postal-address', '1 High Street\nLondon', '--language', 'ar'];
    const logo = ['--logo-url', 'https://a.test/l.png', '--brand-color', '#0F766E'];
    expect(await runForJson('project', 'set', id, ...brand, ...logo)).toMatchObject({
      logoUrl: logo[1],
      brandColor: '#0f766e',
    });
    expect(await runForJson('project', 'set', id, '--logo-url', '')).toMatchObject({ logoUrl: null });
    const listed = await runForJson<{ id: string }[]>('project', 'list');
    expect(listed.find((project) => project.id === id)).toEqual({
      id,
      name: 'Changing',
      publicKey: expect.stringMatching(/^pk_/),
      disabled: false,
      tracking: 'ENABLED',
      clientAddresses: 'FULL',
      emailsPerSecond: null,
      trackAcceptsSecretKey: false,
      pools: null,
      publicKeyRules: null,
      doubleOptIn: null,
      displayName: 'Tea & Co',
      postalAddress: '1 High Street\nLondon',
      logoUrl: null,
      brandColor: '#0f766e',
      language: 'ar',
      domains: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  it('changes how subscriptions are confirmed, one setting at a time', async () => {
    const { id } = await runForJson<CreatedProject>(
      'project',
      'create',
      '--name',
      'Asking',
      '--trusted-domain',
      'a.test',
    );
    const set = (...options: string[]) => runForJson<{ doubleOptIn: object }>('project', 'set', id, ...options);
    const defaults = { isRequired: true, remindAfterDays: 2, expireAfterDays: 7, from: null, templateId: null };
    expect((await set('--remind-after-days', '0', '--redirect-hosts', 'www.a.test, b.test')).doubleOptIn).toEqual({
      ...defaults,
      remindAfterDays: 0,
      redirectHosts: ['www.a.test', 'b.test'],
    });
    expect((await set('--no-double-opt-in', '--confirmation-from', 'news@a.test')).doubleOptIn).toMatchObject({
      isRequired: false,
      remindAfterDays: 0,
      from: 'news@a.test',
    });
    expect((await set('--double-opt-in', '--confirmation-from', '')).doubleOptIn).toMatchObject({
      isRequired: true,
      from: null,
    });
    for (const [options, fault] of [
      [['--expire-after-days', '31'], 'doubleOptIn.expireAfterDays'],
      [['--expire-after-days', 'soon'], 'doubleOptIn.expireAfterDays'],
      [['--confirmation-from', 'news@other.test'], 'other.test'],
    ] as const) {
      const failed = await run('project', 'set', id, ...options);
      expect(failed).toMatchObject({ exitCode: 1, error: expect.stringContaining(fault) });
    }
  });

  it('replaces both keys', async () => {
    const created = await runForJson<CreatedProject>('project', 'create', '--name', 'Rotating');
    const rotated = await runForJson<CreatedProject>('project', 'keys', created.id, '--rotate');

    expect(Object.keys(rotated)).toEqual(['id', 'name', 'publicKey', 'secretKey']);
    expect(rotated.publicKey).not.toBe(created.publicKey);
    const row = await database.orm.em.fork().findOneOrFail(ProjectEntity, { id: created.id });
    expect(row).toMatchObject({ publicKey: rotated.publicKey, secretKeyHash: hashKey(rotated.secretKey) });
  });

  it('puts KEY_MARK into new keys', async () => {
    const environment = { DATABASE_URL: database.url, KEY_MARK: 'eu1' };
    const created = await runIn(environment, 'project', 'create', '--name', 'Marked', '--json');
    const project = JSON.parse(created.out) as CreatedProject;
    const rotated = await runIn(environment, 'project', 'keys', project.id, '--rotate', '--json');
    for (const { publicKey, secretKey } of [project, JSON.parse(rotated.out) as CreatedProject]) {
      expect([publicKey, secretKey]).toEqual([
        expect.stringMatching(/^pk_eu1_[0-9a-f]{64}$/),
        expect.stringMatching(/^sk_eu1_[0-9a-f]{64}$/),
      ]);
    }
    const refused = await runIn({ ...environment, KEY_MARK: 'EU' }, 'project', 'create', '--name', 'Refused');
    expect(refused).toMatchObject({ exitCode: 1, out: '', error: expect.stringMatching(/^KEY_MARK: takes 1 to 8/) });
  });

  it('prints the key that webhooks are signed with, and replaces it', async () => {
    const { id } = await runForJson<CreatedProject>('project', 'create', '--name', 'Calling');
    const other = await runForJson<CreatedProject>('project', 'create', '--name', 'Not calling');
    const secretOf = async (projectId: string, ...options: string[]) =>
      (await runForJson<{ webhookSecret: string }>('project', 'webhook-secret', projectId, ...options)).webhookSecret;
    const before = await runForJson('project', 'webhook-secret', id);
    expect(before).toEqual({ id, webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{42,43}=*$/) });
    expect(await secretOf(id)).toBe((before as { webhookSecret: string }).webhookSecret);
    const others = await secretOf(other.id);
    expect(others).not.toBe(await secretOf(id));

    const rotated = await secretOf(id, '--rotate');
    expect(rotated).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated).not.toBe((before as { webhookSecret: string }).webhookSecret);
    expect([await secretOf(id), await secretOf(other.id)]).toEqual([rotated, others]);
    // For `SECRET=$(everpost project webhook-secret …)`: the key alone, on standard output.
    expect(await run('project', 'webhook-secret', id)).toEqual({ exitCode: 0, out: `${rotated}\n`, error: '' });
    const em = database.orm.em.fork();
    expect(await readWebhookSecret(em, id)).toBe(rotated);
    expect((await run('project', 'list')).out).not.toContain('whsec_');
    for (const projectId of [UNKNOWN_ID, 'acme']) {
      const result = await run('project', 'webhook-secret', projectId, '--rotate');
      expect(result).toEqual({ exitCode: 1, out: '', error: expect.stringMatching(/^Project not found/) });
    }
  });

  it('prints readable text without --json', async () => {
    const { id } = await runForJson<CreatedProject>('project', 'create', '--name', 'Legible');

    const list = await run('project', 'list');
    expect(list.out.split('\n')[0]).toMatch(/^ID +NAME +STATE +TRACKING +DOMAINS$/);
    expect(list.out).toContain(`${id}  Legible`);
    expect((await run('project', 'set', id, '--emails-per-second', '0')).out).toContain('unlimited');
    expect((await run('project', 'create', '--name', 'Shown')).out).toMatch(/Secret key +sk_[0-9a-f]{64}\n/);
  });
});

describe('everpost domain trust', () => {
  it('verifies a domain, and changes nothing the second time', async () => {
    const { id } = await runForJson<CreatedProject>('project', 'create', '--name', 'Trusting');
    const first = await runForJson('domain', 'trust', id, 'News.Example');

    expect(first).toEqual({
      id: expect.any(String),
      projectId: id,
      domain: 'news.example',
      verified: true,
      signed: false,
    });
    expect(await runForJson('domain', 'trust', id, 'news.example')).toEqual(first);
  });

  it('says that the project does not exist', async () => {
    const result = await run('domain', 'trust', UNKNOWN_ID, 'news.example');

    expect(result).toEqual({ exitCode: 1, out: '', error: 'Project not found\n' });
  });
});

describe('everpost migrate', () => {
  it('succeeds on a database that is already migrated', async () => {
    expect(await runForJson('migrate')).toEqual({ migrated: true, applied: [], olderProcesses: [] });
  });

  it('is recommended by other commands on an empty database', async () => {
    const result = await runIn({ DATABASE_URL: testEnvironment().databaseAdminUrl }, 'project', 'list');

    expect(result).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('everpost migrate') });
  });
});

describe('a command that fails', () => {
  it.each([
    ['an unknown command', ['nonsense'], 'unknown command'],
    ['a missing option', ['project', 'create'], '--name'],
    ['an empty name', ['project', 'create', '--name', ' '], 'must not be empty'],
    [
      'a way to keep addresses that does not exist',
      ['project', 'set', UNKNOWN_ID, '--client-addresses', 'x'],
      'SHORTENED',
    ],
    ['a tracking mode that does not exist', ['project', 'set', UNKNOWN_ID, '--tracking', 'some'], 'MARKETING_ONLY'],
    ['a negative speed', ['project', 'set', UNKNOWN_ID, '--emails-per-second', '-1'], 'whole number'],
    [
      'a logo without https',
      ['project', 'set', UNKNOWN_ID, '--logo-url', 'http://a.test/l.png'],
      '--logo-url: Must be',
    ],
    ['a colour by name', ['project', 'set', UNKNOWN_ID, '--brand-color', 'teal'], '--brand-color: Must be'],
    ['an unknown language', ['project', 'set', UNKNOWN_ID, '--language', 'xx'], '--language: '],
    ['nothing to set', ['project', 'set', UNKNOWN_ID], 'Nothing to set'],
    ['an id that is not a UUID', ['project', 'disable', 'acme'], 'Project not found'],
    ['an unknown project', ['project', 'keys', UNKNOWN_ID], 'Project not found'],
  ])('for %s ends with 1 and a message on standard error only', async (_what, args, message) => {
    const result = await run(...args, '--json');

    expect(result).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining(message) });
    expect(result.error).not.toMatch(/^ +at /m);
  });

  it('says that PostgreSQL cannot be reached', async () => {
    const result = await runIn({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }, 'project', 'list', '--json');

    expect(result).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('cannot be reached') });
    expect(result.error).not.toMatch(/^ +at /m);
  });

  it('says that DATABASE_URL is required when no local stack runs', async () => {
    const result = await runIn({}, 'project', 'list');

    expect(result).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('DATABASE_URL is required') });
  });
});

it('a command uses the local stack when no database is named', async () => {
  const stack = mkdtempSync(path.join(tmpdir(), 'everpost-cli-'));
  writeFileSync(
    path.join(stack, 'runtime.json'),
    JSON.stringify({
      temporalAddress: testEnvironment().temporalAddress,
      variables: { DATABASE_URL: database.url },
    }),
  );
  const result = await runIn({ EVERPOST_HOME: stack }, 'project', 'create', '--name', 'Local', '--json');
  const setup = await runIn({ EVERPOST_HOME: stack }, 'temporal', 'setup', '--json');
  rmSync(stack, { recursive: true });

  expect(result).toMatchObject({ exitCode: 0, error: '' });
  expect(setup).toMatchObject({ exitCode: 0, error: '' });
  expect(JSON.parse(setup.out)).toMatchObject({ namespace: 'default', isNamespaceNew: false });
  const { id } = JSON.parse(result.out) as CreatedProject;
  expect(await database.orm.em.fork().count(ProjectEntity, { id })).toBe(1);
});

it('everpost --help prints the help on standard output', async () => {
  const result = await run('--help');

  expect(result).toMatchObject({ exitCode: 0, error: '', out: expect.stringContaining('project') });
});

describe('everpost suppression', () => {
  it('lists suppressed addresses and removes them', async () => {
    const { id } = await runForJson<CreatedProject>('project', 'create', '--name', 'Suppressions');
    expect(await runForJson('suppression', 'list', id)).toEqual([]);
    await query(
      database.orm.em.fork(),
      sql`
        insert into suppression (project_id, address_hash, email, reason, created_at)
        select ${id}, ${addressHash(sql`${id}::uuid`, sql`a.address`)}, a.email, 'HARD_BOUNCE', now() - a.age
        from ${ADDRESS_HASH_KEY}, (values ('gone@mail.test', 'gone@mail.test', interval '0'), ('erased@mail.test', null, '1 day'))
          as a (address, email, age)`,
    );
    const entry = { reason: 'HARD_BOUNCE', emailId: null, createdAt: expect.any(String) };
    expect(await runForJson('suppression', 'list', id)).toEqual([
      { ...entry, email: 'gone@mail.test' },
      { ...entry, email: null },
    ]);
    expect((await run('suppression', 'list', id)).out).toMatch(/^gone@mail.test .*\n\(erased\) /m);
    expect((await run('suppression', 'remove', id, 'erased@mail.test')).exitCode).toBe(0);
    expect(await runForJson('suppression', 'remove', id, ' Gone@Mail.test ')).toEqual({
      projectId: id,
      email: 'gone@mail.test',
      removed: true,
    });
    const again = await run('suppression', 'remove', id, 'gone@mail.test');
    expect([again.exitCode, again.error]).toEqual([1, expect.stringContaining('is not suppressed')]);
    expect((await run('suppression', 'list', UNKNOWN_ID)).exitCode).toBe(1);
  });
});

describe('everpost source', () => {
  it('drains and resumes a source, and removes it only when no worker has it', async () => {
    const em = database.orm.em.fork();
    const source = (name: string) => ({ name, kind: 'relay' as const, pool: 'default', label: `${name}.test:25` });
    await meetSources(em, [source('old'), source('new')]);
    expect(await runForJson('source', 'drain', 'old')).toMatchObject({ drainedAt: expect.any(String) });
    expect((await meetSources(em, [source('new')])).drained).toEqual(new Set(['old']));
    const early = await run('source', 'remove', 'old');
    expect([early.exitCode, early.error]).toEqual([1, expect.stringContaining('A worker still has source old')]);
    await query(em, sql`update source set seen_at = now() - interval '61 seconds' where name = 'old'`);
    expect(await runForJson('source', 'remove', 'old')).toMatchObject({ name: 'old' });
    const again = await run('source', 'remove', 'old');
    expect([again.exitCode, again.error]).toEqual([1, expect.stringContaining('No worker has had a source old')]);
    const left = await runForJson<{ name: string }[]>('source', 'list');
    expect(left.map(({ name }) => name)).toEqual(['new']);
    // A worker that starts with it again has it undrained.
    expect((await meetSources(em, [source('old')])).drained).toEqual(new Set());
  });
});
