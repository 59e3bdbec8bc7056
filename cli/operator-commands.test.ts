import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { runCommand } from '../tests/support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../tests/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const run = (...args: string[]) =>
  runCommand(args, { DATABASE_URL: database.url, APP_SECRET: 'a secret of operators, with enough characters' });

async function runForJson(...args: string[]): Promise<any> {
  const { exitCode, out, error } = await run(...args, '--json');
  expect([exitCode, error]).toEqual([0, '']);
  return JSON.parse(out);
}

const createProject = (name: string) => runForJson('project', 'create', '--name', name);

it('everpost --version prints the version', async () => {
  expect(await run('--version')).toEqual({ exitCode: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), error: '' });
});

it('everpost project keys shows the public key, and replaces the keys only with --rotate', async () => {
  const { id, publicKey } = await createProject('Shop');
  expect(await runForJson('project', 'keys', id)).toEqual({ id, name: 'Shop', publicKey });
  expect((await run('project', 'keys', id)).out).toContain('--rotate');
  expect(await runForJson('project', 'keys', id)).toMatchObject({ publicKey });
  expect((await runForJson('project', 'keys', id, '--rotate')).publicKey).not.toBe(publicKey);
});

it('the name of a key is one line, and an older one stays in its line and gives the terminal no orders', async () => {
  const { id } = await createProject('Names');
  const name = 'a\nb \u001B[2J';
  const refused = await run('key', 'create', id, '--name', name, '--role', 'read');
  expect([refused.exitCode, refused.error]).toEqual([1, expect.stringContaining('one line of 1 to 100 characters')]);
  expect((await run('key', 'create', id, '--name', 'Plain', '--role', 'read')).exitCode).toBe(0);
  await query(database.orm.em.fork(), sql`update api_key set name = ${name} where name = 'Plain'`);
  const listed = await run('key', 'list', id);
  expect(listed.out).toContain('a\uFFFDb \uFFFD[2J');
  expect(listed.out.trim().split('\n')).toHaveLength(4);
});

it('an operator renames a project, and lets its secret key track events', async () => {
  const { id } = await createProject('Old');
  expect(await runForJson('project', 'rename', id, ' New ')).toMatchObject({ id, name: 'New' });
  expect((await run('project', 'rename', id, ' ')).exitCode).toBe(1);
  const accepting = await runForJson('project', 'set', id, '--track-accepts-secret-key');
  expect(accepting).toMatchObject({ name: 'New', trackAcceptsSecretKey: true });
  const refusing = await runForJson('project', 'set', id, '--no-track-accepts-secret-key');
  expect(refusing).toMatchObject({ trackAcceptsSecretKey: false });
  const limited = await runForJson(
    'project',
    'set',
    id,
    '--public-key-fields',
    'plan, city',
    '--no-public-key-resubscribe',
  );
  expect(limited.publicKeyRules).toEqual({
    fields: ['plan', 'city'],
    subscribed: true,
    resubscribe: false,
    dataTargets: true,
  });
  const more = await runForJson('project', 'set', id, '--no-data-targets', '--public-key-fields', 'all');
  expect(more.publicKeyRules).toEqual({ fields: null, subscribed: true, resubscribe: false, dataTargets: false });
});

it('an operator adds a domain with the records to publish, trusts it, and withdraws the trust', async () => {
  const { id } = await createProject('Domains');
  const added = await runForJson('domain', 'add', id, 'Mail.Shop.example');
  expect(added).toMatchObject({ domain: 'mail.shop.example', verified: false });
  expect(added.records[0]).toMatchObject({
    type: 'TXT',
    purpose: 'DKIM',
    value: expect.stringMatching(/^v=DKIM1; k=rsa; p=/),
  });
  const trusted = await run('domain', 'trust', id, 'mail.shop.example');
  expect(trusted.out).toContain('goes unsigned');
  expect(trusted.out).toContain(added.records[0].name);
  expect(await runForJson('domain', 'list', id)).toEqual([{ ...added, verified: true }]);
  expect((await run('domain', 'list', id)).out).toContain('mail.shop.example is trusted and sends unsigned');
  expect(await runForJson('domain', 'untrust', id, 'mail.shop.example')).toMatchObject({ verified: false });
  expect(await runForJson('domain', 'list', id)).toEqual([added]);
  const unknown = await run('domain', 'verify', id, 'other.example');
  expect([unknown.exitCode, unknown.error]).toEqual([1, 'The project has no domain other.example\n']);
});

it('a trusted domain gets a DKIM key', async () => {
  const { id } = await createProject('Trusting');
  const { records } = await runForJson('domain', 'trust', id, 'shop.example');
  expect(records[0].name).toMatch(/\._domainkey\.shop\.example$/);
  expect((await runForJson('domain', 'list', id))[0].records).toEqual(records);
});

it('an operator suppresses an address, and is told why it is suppressed', async () => {
  const { id } = await createProject('Suppressing');
  const missing = await run('suppression', 'show', id, 'ada@mail.test');
  expect([missing.exitCode, missing.error]).toEqual([1, 'ada@mail.test is not suppressed in this project\n']);
  const added = { projectId: id, email: 'ada@mail.test', added: true };
  expect(await runForJson('suppression', 'add', id, ' Ada@Mail.test', '--words', 'asked by phone')).toEqual(added);
  expect(await runForJson('suppression', 'add', id, 'ada@mail.test')).toEqual({ ...added, added: false });
  const shown = { email: 'ada@mail.test', reason: 'MANUAL', words: 'asked by phone' };
  expect(await runForJson('suppression', 'show', id, 'ADA@mail.test')).toMatchObject(shown);
  expect((await run('suppression', 'add', id, 'nobody')).error).toContain('is not an email address');
});

it('an operator is shown an email, and is told why an address gets no email', async () => {
  const { id } = await createProject('Asking');
  const emailId = '0198c0de-0000-7000-8000-000000000001';
  await query(
    database.orm.em.fork(),
    sql`
      insert into email (id, project_id, to_address, subject, status, error, created_at)
      values (${emailId}, ${id}, 'ada@mail.test', 'Hello', 'FAILED', '550 No such user', now())`,
  );
  const shown = await run('email', 'show', id, emailId);
  expect([shown.exitCode, shown.error]).toEqual([0, '']);
  expect(shown.out).toMatch(/State +FAILED\nWords +550 No such user\n/);
  await runForJson('suppression', 'add', id, 'ada@mail.test', '--words', 'asked by phone');
  const why = await run('contact', 'why', id, 'Ada@mail.test');
  expect(why.out).toMatch(/Suppressed +since .*: MANUAL asked by phone\n/);
  expect(why.out).toContain(emailId);
  expect((await runForJson('contact', 'why', id, 'ada@mail.test')).emails).toHaveLength(1);
  expect((await run('email', 'show', id, 'x')).error).toContain('Email not found');
  expect((await run('contact', 'why', id, 'nobody@mail.test')).error).toContain('knows nothing of');
});

it('an operator blocks the links to a host or of a project, and ends the block', async () => {
  const { id } = await createProject('Phishing');
  expect(await runForJson('link', 'block', 'https://Evil.test:8443/login')).toEqual({
    subject: 'evil.test',
    added: true,
  });
  expect((await run('link', 'block', 'evil.test')).out).toContain('were blocked already');
  expect((await run('link', 'block', id)).out).toContain(`of project ${id} lead nowhere`);
  const listed: { subject: string }[] = await runForJson('link', 'list');
  expect(listed.map(({ subject }) => subject).sort()).toEqual([id, 'evil.test'].sort());
  expect(await runForJson('link', 'unblock', id)).toEqual({ subject: id, removed: true });
  for (const words of [
    ['unblock', id],
    ['block', 'not a host'],
    ['block', '00000000-0000-4000-8000-000000000000'],
  ]) {
    expect(await run('link', ...words)).toMatchObject({ exitCode: 1, out: '' });
  }
});
