import path from 'node:path';
import { expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { runCommand } from '../../tests/support/cli.ts';
import { fileOf, folder, stack, useMoving } from '../../tests/support/moving.ts';
import { query } from '../../tests/support/rows.ts';
import type { TestProject } from '../../tests/support/api.ts';

useMoving();

async function run(owner: TestProject, ...args: string[]): Promise<any> {
  const words = ['import', 'contacts', ...args, '--project', owner.project.id, '--json'];
  const { exitCode, out, error } = await runCommand(words, { DATABASE_URL: stack.database.url });
  return exitCode === 0 ? JSON.parse(out) : { error };
}

const contactsOf = async (owner: TestProject) =>
  query(
    stack.em(),
    sql`select email, subscribed, data, tracking_allowed from contact where project_id = ${owner.project.id} order by email`,
  );

it('imports a file in parts, in any coding, and changes nothing the second time', async () => {
  const owner = await stack.createProject();
  await owner.api('POST', '/topics', { body: { key: 'news', name: 'News', defaultSubscription: 'opt_out' } });
  const text =
    'E-Mail;Name;subscribed;trackingAllowed;topic.news\r\nADA@x.test;"Lovelace; Ada\r\nCountess";;yes;yes\r\n' +
    'bo@x.test;Bo;no;;\r\nnobody;N;;;\r\nada@x.test;"Ada ""A"" L";;;\r\nc@x.test;C;perhaps;;\r\n';
  for (const [name, content] of [
    ['a.csv', Buffer.from(`\uFEFF${text}`)],
    ['b.csv', Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ] as const) {
    const file = await fileOf(name, content);
    const checked = await run(owner, file, '--dry-run');
    expect(checked).toMatchObject({ rows: 5, failureCount: 2, leftCounts: { notSubscribed: 1 } });
    const before = await contactsOf(owner);
    const result = await run(owner, file);
    expect(result).toMatchObject({ rows: 5, failureCount: 2, createdCount: name === 'a.csv' ? 2 : 0 });
    expect(result.errors.map(({ row }: any) => row)).toEqual([4, 6]);
    if (name === 'b.csv') expect(await contactsOf(owner)).toEqual(before);
  }
  expect(await contactsOf(owner)).toEqual([
    { email: 'ada@x.test', subscribed: true, data: { Name: 'Ada "A" L' }, tracking_allowed: true },
    { email: 'bo@x.test', subscribed: false, data: { Name: 'Bo' }, tracking_allowed: null },
  ]);
}, 60_000);

it('takes JSON lines, as an export of contacts has them', async () => {
  const owner = await stack.createProject();
  const lines = [
    { id: 'x', email: 'A@x.test', subscribed: false, data: { seats: 3, tags: ['a'] }, trackingAllowed: null },
    { email: 'b@x.test', topics: { weekly: true } },
    { email: 'c@x.test', subscribed: 'no' },
    { name: 'nobody' },
  ];
  const text = [...lines.map((line) => JSON.stringify(line)), 'no json', ''].join('\r\n');
  const file = await fileOf('contacts.json', text);
  expect((await run(owner, file)).error).toContain('The file names topics that do not exist: "weekly"');
  expect(await contactsOf(owner)).toEqual([]);
  await owner.api('POST', '/topics', { body: { key: 'weekly', name: 'W', defaultSubscription: 'opt_out' } });
  const result = await run(owner, file);
  expect(result).toMatchObject({ rows: 5, createdCount: 2, failureCount: 3 });
  expect(result.errors[0]).toMatchObject({ row: 3, email: 'c@x.test', error: expect.stringContaining('"subscribed"') });
  expect(await contactsOf(owner)).toMatchObject([
    { subscribed: false, data: { seats: 3, tags: ['a'] } },
    { subscribed: true },
  ]);
}, 60_000);

it('takes no list in JSON', async () => {
  const file = await fileOf('list.json', '[\n{"email":"a@x.test"},\n{"email":"b@x.test"}\n]');
  expect((await run(await stack.createProject(), file)).error).toContain('The first line is not a JSON object');
});

it.each([
  ['empty', '', 'The file is empty'],
  ['without addresses', 'name\nAda\n', 'with --map <column>:email'],
  ['of another coding', Buffer.from([0x65, 0xff, 0xfe, 0x0a]), 'not text in UTF-8'],
  ['with an open quote', 'email,name\na@x.test,"Ada\n', 'quoted cell is never closed'],
  ['with an open question', 'email,status\na@x.test,active\nb@x.test,gold\n', 'leaves open whether'],
])('stores nothing of a file %s', async (_what, content, message) => {
  const owner = await stack.createProject();
  expect((await run(owner, await fileOf('bad.csv', content))).error).toContain(message);
  expect(await contactsOf(owner)).toEqual([]);
});

it('says so when a file or a project is missing', async () => {
  const owner = await stack.createProject();
  expect((await run(owner, path.join(folder, 'none.csv'))).error).toContain('There is no file');
  await Promise.all(['one.csv', 'two.csv'].map((name) => fileOf(name, 'email\na@x.test\n')));
  expect((await run(owner, folder)).error).toContain('has several files: name one');
  const { exitCode, error } = await runCommand(['import', 'contacts', 'x.csv'], { DATABASE_URL: stack.database.url });
  expect([exitCode, error]).toEqual([1, expect.stringContaining('--project')]);
});

it('goes on with an import that a command has not finished, and keeps who left meanwhile', async () => {
  const owner = await stack.createProject();
  const lines = Array.from({ length: 45_000 }, (_, index) => `c${index}@x.test,true,${index}`);
  const file = await fileOf('many.csv', `email,subscribed,n\n${lines.join('\n')}\n`);
  await run(owner, file);
  await query(
    stack.em(),
    sql`
      with last as (delete from job where project_id = ${owner.project.id} and (input ->> 'isLast')::boolean)
      update contact set subscribed = false, opted_out_at = now() where project_id = ${owner.project.id} and email = 'c44999@x.test'`,
  );
  const again = await runCommand(['import', 'contacts', file, '--project', owner.project.id], {
    DATABASE_URL: stack.database.url,
  });
  expect(again).toMatchObject({ exitCode: 0, error: expect.stringContaining('Going on with the import') });
  const rows = await query(
    stack.em(),
    sql`
      select count(*)::int as jobs, count(distinct input ->> 'importId')::int as imports,
        (select count(*)::int from contact where project_id = ${owner.project.id}) as contacts,
        (select subscribed from contact where project_id = ${owner.project.id} and email = 'c44999@x.test') as subscribed
      from job where project_id = ${owner.project.id}`,
  );
  expect(rows).toEqual([{ jobs: 3, imports: 1, contacts: 45_000, subscribed: false }]);
}, 60_000);
