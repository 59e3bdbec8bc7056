import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Everpost, EverpostError } from '../clients/typescript/src/index.ts';
import { startTestApi, type TestApi } from './support/api.ts';

let app: TestApi;
let everpost: Everpost;
beforeAll(async () => {
  app = await startTestApi();
  everpost = new Everpost({ url: `${app.url}/`, ...app.keys });
});
afterAll(() => app.stop());

/** The error that a call fails with. */
const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error) as Promise<EverpostError>;

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe('the client of a real API', () => {
  it('creates, reads, changes and deletes a contact by its methods', async () => {
    const created = await everpost.contacts.upsert({ email: 'life@mail.test', data: { plan: 'pro' } });
    expect(created._meta.isNew).toBe(true);
    const { id } = created;
    expect(await everpost.contacts.update(id, { subscribed: false })).toMatchObject({ id, subscribed: false });
    expect(await everpost.contacts.get(id)).toMatchObject({ email: 'life@mail.test', data: { plan: 'pro' } });
    await expect(everpost.contacts.delete(id)).resolves.toBeUndefined();
    expect(await failureOf(everpost.contacts.get(id))).toMatchObject({ status: 404, code: 'CONTACT_NOT_FOUND' });
  });

  it('answers the record, whether or not the endpoint has an envelope', async () => {
    const draft = { name: 'a', subject: 'a', body: '<p>a</p>', from: 'me@example.com', audienceType: 'ALL' } as const;
    const { id } = await everpost.campaigns.create(draft);
    const scheduled = await everpost.campaigns.send(id, { scheduledFor: '2040-01-31T08:00:00Z' });
    expect(scheduled).toMatchObject({ id, status: 'SCHEDULED' });
    expect(await everpost.campaigns.cancel(id)).toMatchObject({ id, status: 'CANCELLED' });
    const answer = await everpost.request('POST', '/campaigns', { body: draft });
    expect(answer).toMatchObject({ success: true, data: { name: 'a' } });
  });

  it('imports a file with a mapping of its columns', async () => {
    const query = { map: ['who:email', 'town:data.city'] };
    const { jobId } = await everpost.contacts.import('who,town\nfrom-file@mail.test,Graz\n', query);
    expect(await everpost.contacts.importJob(jobId)).toMatchObject({ id: jobId, state: 'waiting' });
    expect(await failureOf(everpost.contacts.import('who,town'))).toMatchObject({ status: 422 });
  });

  it('says once which fields had no effect, or throws when it is strict', async () => {
    const heard: string[] = [];
    const client = new Everpost({ url: app.url, ...app.keys, onWarning: (message) => heard.push(message) });
    const email = { to: 'ada@mail.test', from: 'me@example.com', subject: 'a', body: 'b', ccs: 'bo@mail.test' };
    for (let n = 0; n < 2; n++) expect((await client.send(email)).warnings).toMatchObject([{ field: 'ccs' }]);
    const misnamed = { email: 'ada@mail.test', name: 'Ada' };
    await client.contacts.upsert(misnamed);
    expect(heard).toEqual([
      'Everpost: POST /v1/send: ccs does not exist here and had no effect',
      'Everpost: POST /contacts: name does not exist here and had no effect',
    ]);
    const strict = new Everpost({ url: app.url, ...app.keys, strict: true });
    expect(await failureOf(strict.send(email))).toMatchObject({
      code: 'FIELDS_IGNORED',
      details: { fields: ['ccs'], answer: { success: true } },
    });
  });

  it('throws the code, the field and the suggestion of an error', async () => {
    const error = await failureOf(everpost.send({ to: 'nobody', from: 'hello@example.com', subject: 'a', body: 'b' }));
    expect(error).toBeInstanceOf(EverpostError);
    expect(error).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', errors: expect.any(Array) });
    expect(error.errors[0]).toMatchObject({ field: 'to', message: 'Invalid email address' });
    expect(error.message).toBe('to: Invalid email address');
    expect(error.suggestion).toContain('/docs/errors/VALIDATION_ERROR');
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tracks with the public key, and verifies an address', async () => {
    expect(await everpost.track({ email: 'ada@mail.test', event: 'signed up' })).toHaveProperty('event');
    expect(await everpost.verify('ada@mail.test')).toMatchObject({ email: 'ada@mail.test' });
    const [event] = await collect(everpost.events.list({ eventName: 'signed up' }));
    expect(event).toMatchObject({ name: 'signed up' });
  });

  it('sends and tracks once under a key, and throws when another kind of request had it', async () => {
    const email = { to: 'ada@mail.test', from: 'hello@example.com', subject: 'a', body: 'b' };
    const key = { idempotencyKey: 'order-1' };
    const first = await everpost.send(email, key);
    expect(first.emails).toHaveLength(1);
    expect(await everpost.send(email, key)).toMatchObject({ emails: [], isAnswerLost: true });
    expect(await everpost.track({ email: 'ada@mail.test', event: 'e' }, key)).toHaveProperty('event');
    expect(await everpost.track({ email: 'ada@mail.test', event: 'e' }, key)).toBeUndefined();
    const error = await failureOf(everpost.campaigns.resend(crypto.randomUUID(), { states: ['BOUNCED'] }, key));
    expect([error.code, error.isAlreadyDone]).toEqual(['IDEMPOTENCY_KEY_REUSED', false]);
  });

  it('reads lists of both kinds to their ends', async () => {
    const project = await app.createProject();
    const own = new Everpost({ url: app.url, ...project.keys });
    const names = Array.from({ length: 7 }, (_item, index) => `n${index}`);
    for (const name of names) {
      await own.contacts.upsert({ email: `${name}@mail.test` });
      await own.templates.create({ name, subject: 'a', body: 'b', from: 'hello@example.com', type: 'MARKETING' });
    }
    const contacts = await collect(own.contacts.list({ limit: 3, sort: 'email', dir: 'asc' }));
    expect(contacts.map(({ email }) => email)).toEqual(names.map((name) => `${name}@mail.test`));
    const templates = await collect(own.templates.list({ pageSize: 3 }));
    expect(templates.map(({ name }) => name).sort()).toEqual(names);
    expect(await collect(own.segments.list())).toEqual([]);
  });

  it('escapes values in a path, so that no value leads to another path', async () => {
    await everpost.track({ email: 'ada@mail.test', event: 'a/b ?' });
    const usage = await everpost.events.usage('a/b ?');
    expect(usage).toMatchObject({ totalCount: 1 });
    for (const id of ['', '.', '..']) await expect(everpost.contacts.delete(id)).rejects.toThrow(TypeError);
  });
});
