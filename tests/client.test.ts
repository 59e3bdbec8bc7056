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

  it('says once which fields of an email had no effect', async () => {
    const heard: string[] = [];
    const client = new Everpost({ url: app.url, ...app.keys, onWarning: (message) => heard.push(message) });
    const email = { to: 'ada@mail.test', from: 'me@example.com', subject: 'a', body: 'b', cc: 'bo@mail.test' };
    for (let n = 0; n < 2; n++) expect((await client.send(email)).warnings).toMatchObject([{ field: 'cc' }]);
    expect(heard).toEqual(['Everpost: cc does not exist here and had no effect']);
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

  it('throws IDEMPOTENCY_KEY_REUSED for a key that was used before', async () => {
    const email = { to: 'ada@mail.test', from: 'hello@example.com', subject: 'a', body: 'b' };
    await everpost.send(email, { idempotencyKey: 'order-1' });
    const error = await failureOf(everpost.send(email, { idempotencyKey: 'order-1' }));
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
    const usage = await everpost.request('GET', '/events/{eventName}/usage', { params: { eventName: 'a/b ?' } });
    expect(usage).toMatchObject({ totalCount: 1 });
    for (const id of ['', '.', '..']) await expect(everpost.contacts.delete(id)).rejects.toThrow(TypeError);
  });
});
