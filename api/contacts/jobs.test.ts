import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { csvForm } from '../../tests/support/csv-files.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const upload = (raw: FormData) => app.api('POST', '/contacts/import', { raw });

async function outboxOf(jobId: string): Promise<unknown[]> {
  return query(app.em(), sql`select kind from outbox where subject_id = ${jobId}`);
}

describe('POST /contacts/lookup', () => {
  it('answers by existence, in the spelling and order of the caller', async () => {
    const owner = await app.createProject();
    await owner.api('POST', '/contacts', { body: { email: 'there@x.test' } });
    const stranger = await app.createProject();
    await stranger.api('POST', '/contacts', { body: { email: 'theirs@x.test' } });
    const emails = [' There@X.test', 'no address', 'theirs@x.test', 'there@x.test'];
    const reply = await owner.api('POST', '/contacts/lookup', { body: { emails } });
    expect([reply.status, reply.body]).toEqual([
      200,
      { found: [' There@X.test', 'there@x.test'], notFound: ['no address', 'theirs@x.test'] },
    ]);
  });

  it('takes up to 500 addresses', async () => {
    const emails = Array.from({ length: 500 }, (_, i) => `c${i}@x.test`);
    expect((await app.api('POST', '/contacts/lookup', { body: { emails } })).body.notFound).toEqual(emails);
    expect((await app.api('POST', '/contacts/lookup', { body: { emails: [] } })).body).toEqual({
      found: [],
      notFound: [],
    });
    const tooMany = await app.api('POST', '/contacts/lookup', { body: { emails: [...emails, 'x@x.test'] } });
    expect([tooMany.status, tooMany.body.error.errors[0].code]).toEqual([422, 'too_big']);
    for (const body of [{}, { emails: 'a@x.test' }, { emails: [5] }, { emails: null }]) {
      expect((await app.api('POST', '/contacts/lookup', { body })).status).toBe(422);
    }
  });
});

describe.each(['subscribe', 'unsubscribe', 'delete'])('POST /contacts/bulk-%s', (verb) => {
  it('queues a job in the same transaction as its start', async () => {
    for (const mode of [{}, { mode: 'ids' }]) {
      const body = { ...mode, contactIds: [randomUUID().toUpperCase()] };
      const reply = await app.api('POST', `/contacts/bulk-${verb}`, { body });
      expect([reply.status, reply.body]).toEqual([202, { message: expect.any(String), jobId: expect.any(String) }]);
      const job = await app.api('GET', `/contacts/bulk/${reply.body.jobId}`);
      expect([job.status, job.body]).toEqual([
        200,
        { id: reply.body.jobId, state: 'waiting', progress: 0, result: null, failedReason: null },
      ]);
      expect(await outboxOf(reply.body.jobId)).toEqual([{ kind: 'job' }]);
    }
  });

  it('takes 1 to 1,000 ids', async () => {
    const ids = Array.from({ length: 1_001 }, () => randomUUID());
    const call = (body: object) => app.api('POST', `/contacts/bulk-${verb}`, { body });
    expect((await call({ contactIds: ids.slice(1) })).status).toBe(202);
    for (const body of [
      { contactIds: ids },
      { contactIds: [] },
      { contactIds: ['x'] },
      {},
      { mode: 'all', contactIds: ids.slice(0, 1) },
    ]) {
      const reply = await call(body);
      expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    }
  });
});

describe('POST /contacts/import', () => {
  it('queues a job with its file', async () => {
    const content = Buffer.from('email,status\r\na@x.test,whatever\r\n');
    const form = new FormData();
    form.append('note', 'a field that nobody asked for');
    form.append('file', new Blob([content]), 'contacts.csv');
    const reply = await upload(form);
    expect([reply.status, reply.body]).toEqual([202, { message: expect.any(String), jobId: expect.any(String) }]);
    const { jobId } = reply.body;
    const [file] = await query(app.em(), sql`select content from job_file where job_id = ${jobId}`);
    expect(file?.content.equals(content)).toBe(true);
    expect(await outboxOf(jobId)).toEqual([{ kind: 'job' }]);
    const job = await app.api('GET', `/contacts/import/${jobId}`);
    expect(job.body).toEqual({ id: jobId, state: 'waiting', progress: 0, result: null, failedReason: null });
    expect((await app.api('GET', `/contacts/bulk/${jobId}`)).status).toBe(404);
  });

  it('takes a file of 5 MB and not a byte more', async () => {
    const bytes = 5 * 1024 * 1024;
    expect((await upload(csvForm('email\n'.padEnd(bytes, 'x')))).status).toBe(202);
    const reply = await upload(csvForm('x'.repeat(bytes + 1)));
    expect([reply.status, reply.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(reply.body.error.details).toEqual({ limitBytes: bytes });
  });

  it.each<[string, string | Buffer, string]>([
    ['has no column of addresses', 'name;plan\nAda;pro\n', 'The header has no column "email"'],
    ['names a column twice', 'email,plan,plan\n', 'The header names the column "plan" twice'],
    ['is neither UTF-8 nor UTF-16', Buffer.from([0x65, 0xff, 0xfe]), 'The file is not text'],
    ['is empty', '', 'The file is empty'],
  ])('refuses at once a file that %s', async (_what, content, message) => {
    const { status, body } = await upload(csvForm(content));
    expect([status, body.error.errors]).toEqual([
      422,
      [{ field: 'file', code: 'invalid_file', message: expect.stringContaining(message) }],
    ]);
  });

  it('takes what columns are, in the query and in the form', async () => {
    const form = csvForm('Kontakt,Stadt,Notiz\na@x.test,Graz,x\n');
    form.append('map', 'Stadt:data.city');
    form.append('map', 'Notiz:ignored');
    const reply = await app.api('POST', '/contacts/import?map=Kontakt%3Aemail', { raw: form });
    expect(reply.status).toBe(202);
    for (const path of ['/contacts/import', '/suppressions/import']) {
      for (const map of ['Kontakt', ':email', 'Kontakt:id', `Kontakt:${'x'.repeat(201)}`, 'Kontakt:a%00']) {
        const refused = await app.api('POST', `${path}?map=${map}`, { raw: csvForm('Kontakt\na@x.test\n') });
        expect([map, refused.status]).toEqual([map, 422]);
      }
    }
  });

  it('refuses a form without the file', async () => {
    for (const body of [csvForm('email\n', 'other'), new FormData()]) {
      const reply = await upload(body);
      expect([reply.status, reply.body.error.errors?.[0].field]).toEqual([422, 'file']);
    }
  });

  it('refuses a body that is no form, and a malformed form', async () => {
    const json = await app.api('POST', '/contacts/import', { raw: '{}' });
    expect([json.status, json.body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const reply = await app.api('POST', '/contacts/import', {
        raw: '--x\r\nnonsense',
        headers: { 'content-type': type },
      });
      expect([type, reply.status, reply.body.error.code]).toEqual([type, 400, 'BAD_REQUEST']);
    }
  });

  it('checks the key before it reads the file', async () => {
    const reply = await app.api('POST', '/contacts/import', { key: 'public', raw: csvForm('email\n') });
    expect([reply.status, reply.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
  });
});

describe.each(['import', 'bulk'])('GET /contacts/%s/:jobId', (kind) => {
  it('answers 404 for an unknown id, another one and that of another project', async () => {
    const stranger = await app.createProject();
    const reply =
      kind === 'import'
        ? await upload(csvForm('email\n'))
        : await app.api('POST', '/contacts/bulk-delete', { body: { contactIds: [randomUUID()] } });
    for (const [api, id] of [
      [app.api, randomUUID()],
      [app.api, 'x'],
      [stranger.api, reply.body.jobId],
    ] as const) {
      const polled = await api('GET', `/contacts/${kind}/${id}`);
      expect([polled.status, polled.body.error.code]).toEqual([404, 'JOB_NOT_FOUND']);
    }
  });
});
