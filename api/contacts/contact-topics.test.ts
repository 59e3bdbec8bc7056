import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { expectTooBig, startTestApi, type TestApi } from '../../tests/support/api.ts';
import { post } from '../../tests/support/automations.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let count = 0;
const freshEmail = () => `reader-${++count}@topics.test`;
const topics: Record<string, { id: string }> = {};
beforeAll(async () => {
  app = await startTestApi();
  for (const [key, defaultSubscription] of [
    ['news', 'opt_in'],
    ['offers', 'opt_out'],
  ] as const) {
    topics[key] = await post(app, '/topics', { key, name: key, defaultSubscription, visibility: 'private' });
  }
});
afterAll(() => app.stop());

async function eventsOf(contactId: string) {
  const rows = await query(
    app.em(),
    sql`select name, data from event where contact_id = ${contactId} and name like 'topic.%' order by id`,
  );
  return rows.map(({ name, data }) => ({ name, ...(data as object) }));
}

const put = (id: string, choices: object) => app.api('PUT', `/contacts/${id}/topics`, { body: { topics: choices } });

describe('GET and PUT /contacts/:id/topics', () => {
  it('show all topics as they hold, and change those that are given', async () => {
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    const shown = (key: string, subscribed: boolean, isChosen: boolean) => ({
      id: topics[key]!.id,
      key,
      name: key,
      visibility: 'private',
      subscribed,
      isChosen,
      changedAt: isChosen ? expect.stringMatching(/Z$/) : null,
    });
    const get = async () => (await app.api('GET', `/contacts/${id}/topics`)).body;
    expect(await get()).toEqual({ topics: [shown('news', true, false), shown('offers', false, false)] });

    const joined = await put(id, { offers: true });
    expect([joined.status, joined.body]).toEqual([
      200,
      { topics: [shown('news', true, false), shown('offers', true, true)] },
    ]);
    await put(id, { news: false, offers: false });
    expect(await get()).toEqual({ topics: [shown('news', false, true), shown('offers', false, true)] });
    await put(id, { news: null, offers: null });
    expect(await get()).toEqual({ topics: [shown('news', true, false), shown('offers', false, false)] });

    const change = (name: string, key: string) => ({
      name: `topic.${name}`,
      topicId: topics[key]!.id,
      key,
      reason: 'api',
      endpoint: 'PUT /contacts/:id/topics',
    });
    const events = await eventsOf(id);
    expect(events).toHaveLength(4);
    expect(events).toEqual(
      expect.arrayContaining([
        change('subscribed', 'offers'),
        change('unsubscribed', 'news'),
        change('unsubscribed', 'offers'),
        change('subscribed', 'news'),
      ]),
    );
  });

  it('name an unknown key, and change nothing then', async () => {
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    const reply = await put(id, { news: false, nothing: true });
    expect([reply.status, reply.body.error.errors]).toEqual([
      422,
      [expect.objectContaining({ field: 'topics.nothing', code: 'unknown_topic' })],
    ]);
    expect((await app.api('GET', `/contacts/${id}`)).body.topics).toEqual({ news: true, offers: false });
  });

  it.each<[string, unknown]>([
    ['topics', undefined],
    ['topics', [true]],
    ['topics.news', { news: 'yes' }],
    ['topics.news', { news: 1 }],
  ])('refuse a wrong %s: %j', async (field, choices) => {
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    const reply = await put(id, choices as object);
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it('take 100 topics at a time', async () => {
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`t${n}`, true]));
    expectTooBig(await put(id, many), 'topics');
  });

  it('are 404 for a contact that was deleted, or of another project', async () => {
    const gone = await post(app, '/contacts', { email: freshEmail() });
    await put(gone.id, { offers: true });
    await app.api('DELETE', `/contacts/${gone.id}`);
    const owner = await app.createProject();
    const stranger = await post(owner, '/contacts', { email: freshEmail() });
    for (const id of [gone.id, stranger.id, randomUUID(), 'x']) {
      for (const reply of [await put(id, { offers: true }), await app.api('GET', `/contacts/${id}/topics`)]) {
        expect([reply.status, reply.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
      }
    }
    expect(await query(app.em(), sql`select 1 from topic_subscription where contact_id = ${gone.id}`)).toEqual([]);
    const foreign = await owner.api('PUT', `/contacts/${stranger.id}/topics`, { body: { topics: { offers: true } } });
    expect(foreign.status).toBe(422);
  });
});

describe('topics of a contact', () => {
  it('are set when it is created and changed, in one transaction with the rest', async () => {
    const email = freshEmail();
    const created = await post(app, '/contacts', { email, topics: { offers: true, news: true } });
    expect(created.topics).toEqual({ news: true, offers: true });
    expect(await eventsOf(created.id)).toEqual([
      expect.objectContaining({ name: 'topic.subscribed', key: 'offers', endpoint: 'POST /contacts' }),
    ]);
    const updated = await app.api('POST', '/contacts', { body: { email, topics: { offers: null } } });
    expect([updated.status, updated.body.topics]).toEqual([200, { news: true, offers: false }]);
    const patched = await app.api('PATCH', `/contacts/${created.id}`, {
      body: { topics: { news: false }, data: { plan: 'pro' } },
    });
    expect(patched.body).toMatchObject({ topics: { news: false, offers: false }, data: { plan: 'pro' } });
    expect((await eventsOf(created.id)).at(-1)).toMatchObject({ key: 'news', endpoint: 'PATCH /contacts/:id' });

    const refused = [
      await app.api('POST', '/contacts', { body: { email: 'never@topics.test', topics: { nothing: true } } }),
      await app.api('PATCH', `/contacts/${created.id}`, { body: { data: { plan: 'x' }, topics: { nothing: true } } }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.error.errors[0].field]).toEqual([422, 'topics.nothing']);
    }
    const found = await app.api('GET', '/contacts?search=never@topics.test');
    expect(found.body.data).toEqual([]);
    expect((await app.api('GET', `/contacts/${created.id}`)).body).toEqual(patched.body);
  });

  it('stand wherever the contact is shown', async () => {
    const { id, email } = await post(app, '/contacts', { email: freshEmail(), topics: { news: false } });
    const filters = [{ field: 'email', operator: 'equals', value: email }];
    const condition = { logic: 'AND', groups: [{ filters }] };
    const segment = await post(app, '/segments', { name: 'S', condition });
    const shown = [
      (await app.api('GET', `/contacts/${id}`)).body,
      (await app.api('GET', `/contacts?search=${email}`)).body.data[0],
      (await app.api('POST', '/contacts/search', { body: { search: email } })).body.data[0],
      (await app.api('GET', `/segments/${segment.id}/contacts`)).body.data[0],
    ];
    for (const contact of shown) expect(contact.topics).toEqual({ news: false, offers: false });
  });

  it('are changed by equal requests at the same time once', async () => {
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => put(id, { offers: true, news: false })),
      ...Array.from({ length: 4 }, () => app.api('PATCH', `/contacts/${id}`, { body: { topics: { news: false } } })),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect((await eventsOf(id)).map(({ name }) => name).sort()).toEqual(['topic.subscribed', 'topic.unsubscribed']);
  });

  it('start automations', async () => {
    const { id: workflowId } = await post(app, '/workflows', { name: 'W', eventName: 'topic.subscribed' });
    const exit = await post(app, `/workflows/${workflowId}/steps`, { type: 'EXIT', autoConnect: true });
    expect(exit.type).toBe('EXIT');
    await app.api('PATCH', `/workflows/${workflowId}`, { body: { enabled: true } });
    const { id } = await post(app, '/contacts', { email: freshEmail() });
    await put(id, { offers: true });
    await put(id, { offers: true });
    const started = await app.api('GET', `/workflows/${workflowId}/executions`);
    expect(started.body.data.map((execution: { contactId: string }) => execution.contactId)).toEqual([id]);
    await app.api('PATCH', `/workflows/${workflowId}`, { body: { enabled: false } });
  });
});

describe('bulk operations with a topic', () => {
  it('refuse a topic of another project', async () => {
    const other = await app.createProject();
    const foreign = await post(other, '/topics', { key: 'theirs', name: 'T', defaultSubscription: 'opt_in' });
    for (const topicId of [foreign.id, randomUUID()]) {
      const body = { contactIds: [randomUUID()], topicId };
      const reply = await app.api('POST', '/contacts/bulk-subscribe', { body });
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TOPIC_NOT_FOUND']);
    }
    const malformed = { contactIds: [randomUUID()], topicId: 'news' };
    const reply = await app.api('POST', '/contacts/bulk-unsubscribe', { body: malformed });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'topicId']);
  });
});
