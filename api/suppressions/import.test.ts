import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { csvForm } from '../../tests/support/csv-files.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const upload = (owner: TestProject, content: string | Buffer, field = 'file') =>
  owner.api('POST', '/suppressions/import', { raw: csvForm(content, field) });

const listed = async (owner: TestProject) =>
  (await owner.api('GET', '/suppressions')).body.suppressions.map(({ email, words }: Record<string, string>) => [
    email,
    words,
  ]);

describe('POST /suppressions/import', () => {
  it('suppresses the addresses of a file, once each, and reports the rows without a valid one', async () => {
    const owner = await app.createProject();
    await owner.api('POST', '/suppressions', { body: { emails: ['there@mail.test'], words: 'before' } });
    const file =
      '\uFEFFName,EMAIL,words\r\nAda,Ada@mail.test,"asked, twice"\r\nBob,nobody,\r\n,,\r\n,ada@mail.test,again\r\nC,,x\r\n"D",there@mail.test,now\r\n';
    const { status, body } = await upload(owner, file);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        totalRows: 5,
        added: 1,
        present: 2,
        failureCount: 2,
        errors: [
          { row: 3, email: 'nobody', error: 'The row has no valid email address' },
          { row: 6, email: null, error: 'The row has no email address' },
        ],
      },
    });
    expect(await listed(owner)).toEqual([
      ['ada@mail.test', 'asked, twice'],
      ['there@mail.test', 'before'],
    ]);
    expect((await upload(owner, file)).body).toMatchObject({ added: 0, present: 3 });
  });

  it('takes an exported CSV table', async () => {
    const [from, to] = [await app.createProject(), await app.createProject()];
    await from.api('POST', '/suppressions', { body: { emails: ['a@mail.test', 'b@mail.test'], words: 'moved' } });
    const exported = await from.api('GET', '/suppressions?format=csv');
    expect((await upload(to, exported.body)).body).toMatchObject({ totalRows: 2, added: 2, failureCount: 0 });
    expect((await listed(to)).sort()).toEqual((await listed(from)).sort());
  });

  it('reads the header as the import of contacts does', async () => {
    const owner = await app.createProject();
    const [excel, renamed] = ['\uFEFFEmail Address;words\na@mail.test;x\n', 'who,why\nb@mail.test,y\n'];
    expect((await upload(owner, excel)).body).toMatchObject({ added: 1, failureCount: 0 });
    const raw = csvForm(renamed);
    raw.append('map', 'why:words');
    const mapped = await owner.api('POST', '/suppressions/import?map=who:email', { raw });
    expect(mapped.body).toMatchObject({ added: 1, failureCount: 0 });
    expect((await listed(owner)).sort()).toEqual([
      ['a@mail.test', 'x'],
      ['b@mail.test', 'y'],
    ]);
  });

  it('takes more rows than one request of addresses may have', async () => {
    const rows = Array.from({ length: 10_050 }, (_, n) => `reader${n}@mail.test`).join('\n');
    const owner = await app.createProject();
    expect((await upload(owner, `email\n${rows}\n`)).body).toMatchObject({ totalRows: 10_050, added: 10_050 });
  });

  it.each<[string, string | Buffer]>([
    ['has no column of addresses', 'address\na@mail.test\n'],
    ['is empty', ''],
    ['is not UTF-8', Buffer.from([0x65, 0xff, 0xfe])],
    ['breaks off in a quoted cell', 'email\n"a@mail.test\n'],
  ])('answers 422 and names the field when the file %s', async (_name, content) => {
    const reply = await upload(app, content);
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'file']);
  });

  it('answers 422 without a file, and 415 without a form', async () => {
    expect((await upload(app, 'email\na@mail.test', 'other')).status).toBe(422);
    const raw = csvForm('email\na@mail.test\n');
    raw.append('file', new Blob(['email\nb@mail.test\n']), 'b.csv');
    expect((await app.api('POST', '/suppressions/import', { raw })).body.error.errors).toMatchObject([
      { field: 'file', message: 'Must be one file' },
    ]);
    expect((await app.api('POST', '/suppressions/import', { body: { emails: [] } })).status).toBe(415);
  });
});
