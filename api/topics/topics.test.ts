import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../shared/pure/limits.ts';
import { sql } from '../../shared/database/sql.ts';
import { expectTooBig, startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { createAutomation, createTemplate, post } from '../../tests/support/automations.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

let count = 0;
const freshKey = () => `topic-${++count}`;
const content = { name: 'News', defaultSubscription: 'opt_in' };
const addTopic = (fields: object = {}, owner: TestProject = app) =>
  post(owner, '/topics', { ...content, key: freshKey(), ...fields });

describe('POST /topics', () => {
  it('creates a topic with defaults, and answers it again', async () => {
    const key = freshKey();
    const topic = await addTopic({ key });
    expect(topic).toEqual({
      ...content,
      id: expect.any(String),
      key,
      description: null,
      texts: {},
      visibility: 'public',
      doubleOptIn: null,
      projectId: app.project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await app.api('GET', `/topics/${topic.id}`)).body).toEqual(topic);
  });

  it('keeps every field', async () => {
    const fields = {
      key: freshKey(),
      name: 'Offers',
      description: 'Once a month',
      texts: { de: { name: 'Angebote', description: 'Einmal im Monat' }, ar: { name: 'عروض' } },
      defaultSubscription: 'opt_out',
      visibility: 'private',
      doubleOptIn: true,
    };
    expect(await addTopic(fields)).toMatchObject(fields);
  });

  it.each<[string, object]>([
    ['key', { key: undefined }],
    ['key', { key: '' }],
    ['key', { key: 'News' }],
    ['key', { key: '-news' }],
    ['key', { key: 'a.b' }],
    ['key', { key: 'a'.repeat(64) }],
    ['name', { name: undefined }],
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['description', { description: 'x'.repeat(1_001) }],
    ['defaultSubscription', { defaultSubscription: undefined }],
    ['defaultSubscription', { defaultSubscription: 'in' }],
    ['visibility', { visibility: 'hidden' }],
    ['doubleOptIn', { doubleOptIn: 'yes' }],
    ['texts.xx', { texts: { xx: { name: 'X' } } }],
    ['texts.de.name', { texts: { de: { description: 'X' } } }],
  ])('refuses a wrong %s: %j', async (field, fields) => {
    const reply = await app.api('POST', '/topics', { body: { ...content, key: freshKey(), ...fields } });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([
      422,
      expect.stringContaining(field.split('.')[0]!),
    ]);
  });

  it('takes keys of 1 to 63 characters, each once in a project, also at the same time', async () => {
    for (const key of ['a', '0_-', 'a'.repeat(63)]) expect((await addTopic({ key })).key).toBe(key);
    const key = freshKey();
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => app.api('POST', '/topics', { body: { ...content, key } })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body.error).toMatchObject({
      code: 'CONFLICT',
      details: { field: 'key' },
    });
    await addTopic({ key }, await app.createProject());
  });

  it(`takes ${LIMITS.topicsPerProject} topics a project`, async () => {
    const owner = await app.createProject();
    for (let n = 0; n < LIMITS.topicsPerProject; n++) await addTopic({}, owner);
    expectTooBig(await owner.api('POST', '/topics', { body: { ...content, key: 'more' } }), 'key');
    const contact = await post(owner, '/contacts', { email: 'all@topics.test' });
    expect(Object.keys(contact.topics)).toHaveLength(LIMITS.topicsPerProject);
    expect((await owner.api('GET', `/contacts/${contact.id}/topics`)).body.topics).toHaveLength(100);
  });
});

describe('GET /topics', () => {
  it('lists pages, searches and sorts', async () => {
    const owner = await app.createProject();
    for (const key of ['b', 'c', 'a']) await addTopic({ key, name: `Name ${key}`, description: `100% ${key}` }, owner);
    const keysOf = async (params: string) => {
      const { body } = await owner.api('GET', `/topics?${params}`);
      return [body.data.map((topic: { key: string }) => topic.key).join(''), body.total, body.totalPages];
    };
    expect(await keysOf('')).toEqual(['acb', 3, 1]);
    expect(await keysOf('sort=key&dir=asc')).toEqual(['abc', 3, 1]);
    expect(await keysOf('pageSize=2&page=2')).toEqual(['b', 3, 2]);
    expect(await keysOf('search=NAME%20B')).toEqual(['b', 1, 1]);
    expect(await keysOf('search=0%25%20c')).toEqual(['c', 1, 1]);
    expect(await keysOf('search=_')).toEqual(['', 0, 0]);
  });
});

describe('PATCH /topics/:id', () => {
  it('changes the given fields', async () => {
    const topic = await addTopic({ description: 'Old', texts: { fr: { name: 'Infos' } } });
    const changes = { name: 'New', description: null, texts: {}, visibility: 'private', doubleOptIn: false };
    const reply = await app.api('PATCH', `/topics/${topic.id}`, { body: changes });
    expect([reply.status, reply.body]).toEqual([200, { ...topic, ...changes, updatedAt: expect.any(String) }]);
  });

  it('refuses another key or default with the reason, and takes what they are', async () => {
    const topic = await addTopic();
    const same = { key: topic.key, defaultSubscription: 'opt_in' };
    expect((await app.api('PATCH', `/topics/${topic.id}`, { body: same })).status).toBe(200);
    const other = { key: freshKey(), defaultSubscription: 'opt_out', name: 'Not stored' };
    const reply = await app.api('PATCH', `/topics/${topic.id}`, { body: other });
    expect(reply.status).toBe(422);
    expect(reply.body.error.errors).toEqual([
      expect.objectContaining({ field: 'key', code: 'fixed', message: expect.stringMatching(/^Is fixed/) }),
      expect.objectContaining({ field: 'defaultSubscription', code: 'fixed' }),
    ]);
    expect((await app.api('GET', `/topics/${topic.id}`)).body.name).toBe('News');
  });
});

it.each(['GET', 'PATCH', 'DELETE'])(
  '%s of a topic of another project, a deleted or a malformed one is 404',
  async (method) => {
    const foreign = await addTopic({}, await app.createProject());
    for (const id of [foreign.id, randomUUID(), 'news']) {
      const reply = await app.api(method, `/topics/${id}`, method === 'PATCH' ? { body: { name: 'X' } } : {});
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TOPIC_NOT_FOUND']);
      if (method === 'GET') expect((await app.api('GET', `/topics/${id}/usage`)).status).toBe(404);
    }
  },
);

describe('the usage of a topic', () => {
  const conditionOn = (key: string) => ({
    logic: 'AND',
    groups: [{ filters: [{ field: `topic.${key}`, operator: 'equals', value: true }] }],
  });

  async function useEverywhere(owner: TestProject, { id, key }: { id: string; key: string }) {
    const condition = conditionOn(key);
    const segment = await post(owner, '/segments', { name: 'Readers', condition });
    const campaignOf = async (fields: object) =>
      (await post(owner, '/campaigns', { ...email, name: 'C', audienceType: 'ALL', ...fields })).data;
    const email = { subject: 'S', body: '<p>B</p>', from: 'news@example.com' };
    const about = await campaignOf({ topicId: id });
    const filtered = await campaignOf({ audienceType: 'FILTERED', audienceCondition: condition });
    const templateId = await createTemplate(owner, { type: 'MARKETING', topicId: id });
    const plainId = await createTemplate(owner, { type: 'MARKETING' });
    const workflowId = await createAutomation(
      owner,
      'go',
      {
        Ask: { type: 'CONDITION', config: { field: `contact.topic.${key}`, operator: 'equals', value: false } },
        Join: { type: 'UPDATE_CONTACT', config: { topics: { [key]: true } } },
        Send: { type: 'SEND_EMAIL', templateId: plainId, config: { topicId: id } },
      },
      { enabled: false },
    );
    return { segment, about, filtered, templateId, workflowId };
  }

  it('lists all that refers to it, and refuses its deletion until nothing does', async () => {
    const owner = await app.createProject();
    const topic = await addTopic({}, owner);
    await addTopic({}, owner);
    const path = `/topics/${topic.id}`;
    const { segment, about, filtered, templateId, workflowId } = await useEverywhere(owner, topic);

    const used = {
      campaigns: [about, filtered].map(({ id }) => ({ id, name: 'C', status: 'DRAFT' })),
      templates: [{ id: templateId, name: 'Hello' }],
      workflowSteps: ['Ask', 'Join', 'Send'].map((name) => ({
        id: expect.any(String),
        name,
        workflowId,
        workflowName: 'Automation',
      })),
      segments: [{ id: segment.id, name: 'Readers' }],
    };
    expect((await owner.api('GET', `${path}/usage`)).body).toEqual({
      ...used,
      contacts: { subscribed: 0, joined: 0, left: 0 },
    });
    const refused = await owner.api('DELETE', path);
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([409, 'CONFLICT', used]);

    const parts = [
      `/segments/${segment.id}`,
      `/campaigns/${about.id}`,
      `/templates/${templateId}`,
      `/workflows/${workflowId}`,
    ];
    for (const part of parts) {
      expect((await owner.api('DELETE', path)).status).toBe(409);
      expect((await owner.api('DELETE', part)).status).toBe(204);
    }
    expect((await owner.api('DELETE', path)).status).toBe(409);
    await query(app.em(), sql`update campaign set status = 'SENT' where id = ${filtered.id}`);
    expect((await owner.api('DELETE', path)).status).toBe(204);
  });

  it('counts contacts by their choices and by default', async () => {
    const owner = await app.createProject();
    const [optIn, optOut] = [await addTopic({}, owner), await addTopic({ defaultSubscription: 'opt_out' }, owner)];
    for (const [n, topics] of [{}, true, true, false].entries()) {
      const choices = typeof topics === 'boolean' ? { [optIn.key]: topics, [optOut.key]: topics } : undefined;
      await post(owner, '/contacts', { email: `c${n}@x.test`, topics: choices });
    }
    const countsOf = async (id: string) => (await owner.api('GET', `/topics/${id}/usage`)).body.contacts;
    expect(await countsOf(optIn.id)).toEqual({ subscribed: 3, joined: 2, left: 1 });
    expect(await countsOf(optOut.id)).toEqual({ subscribed: 2, joined: 2, left: 1 });
  });

  it('a deletion removes the choices and keeps the record of consent', async () => {
    const owner = await app.createProject();
    const topic = await addTopic({ defaultSubscription: 'opt_out' }, owner);
    const contact = await post(owner, '/contacts', { email: 'a@x.test', topics: { [topic.key]: true } });
    expect((await owner.api('DELETE', `/topics/${topic.id}`)).status).toBe(204);
    expect(await query(app.em(), sql`select 1 from topic_subscription where contact_id = ${contact.id}`)).toEqual([]);
    expect(await query(app.em(), sql`select 1 from consent_record where topic_id = ${topic.id}`)).toHaveLength(1);
    expect((await owner.api('GET', `/contacts/${contact.id}`)).body).not.toHaveProperty('topics');
    await addTopic({ key: topic.key }, owner);
    expect((await owner.api('GET', `/contacts/${contact.id}`)).body.topics).toEqual({ [topic.key]: true });
  });

  it('what is being stored with a topic, and its deletion at the same time, do not lose each other', async () => {
    const owner = await app.createProject();
    for (let round = 0; round < 5; round++) {
      const { id, key } = await addTopic({}, owner);
      const [stored, deleted] = await Promise.all([
        owner.api('POST', '/segments', { body: { name: 'S', condition: conditionOn(key) } }),
        owner.api('DELETE', `/topics/${id}`),
      ]);
      expect([
        [201, 409],
        [400, 204],
      ]).toContainEqual([stored.status, deleted.status]);
    }
  });
});

it('events of topics are reserved', async () => {
  for (const event of ['topic.subscribed', 'topic.unsubscribed']) {
    const reply = await app.api('POST', '/v1/track', { key: 'public', body: { email: 'a@x.test', event } });
    expect([reply.status, reply.body.error.errors[0].code]).toEqual([422, 'reserved_event']);
  }
  const own = await app.api('POST', '/v1/track', { key: 'public', body: { email: 'a@x.test', event: 'topic.viewed' } });
  expect(own.status).toBe(200);
});

it('conditions that name no topic are refused with the path of the filter', async () => {
  const filters = [{ field: 'topic.nothing', operator: 'equals', value: true }];
  const condition = { logic: 'AND', groups: [{ filters }] };
  const email = { subject: 'S', body: '<p>B</p>', from: 'news@example.com' };
  const { id } = await post(app, '/workflows', { name: 'W', eventName: 'go' });
  const replies = [
    await app.api('POST', '/segments', { body: { name: 'S', condition } }),
    await app.api('POST', '/campaigns', {
      body: { ...email, name: 'C', audienceType: 'FILTERED', audienceCondition: condition },
    }),
    await app.api('POST', `/workflows/${id}/steps`, { body: { type: 'CONDITION', config: { condition } } }),
  ];
  expect(replies.map(({ status, body }) => [status, body.error.message])).toEqual([
    [400, 'condition.groups[0].filters[0].field: no topic has the key nothing'],
    [400, 'audienceCondition.groups[0].filters[0].field: no topic has the key nothing'],
    [400, 'config.condition.groups[0].filters[0].field: no topic has the key nothing'],
  ]);
  const step = { type: 'UPDATE_CONTACT', config: { topics: { nothing: true } } };
  const refused = await app.api('POST', `/workflows/${id}/steps`, { body: step });
  expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'config.topics.nothing']);
});

it('topics are listed among the fields of contacts and of conditions', async () => {
  const owner = await app.createProject();
  const { key } = await addTopic({ defaultSubscription: 'opt_out' }, owner);
  await post(owner, '/contacts', { email: 'a@x.test', topics: { [key]: true }, data: { 'topic.other': 1 } });
  await post(owner, '/contacts', { email: 'b@x.test' });
  await post(owner, '/contacts', { email: 'c@x.test' });
  await post(owner, '/segments', {
    name: 'S',
    condition: { logic: 'AND', groups: [{ filters: [{ field: `topic.${key}`, operator: 'exists' }] }] },
  });
  const field = `topic.${key}`;
  const { fields } = (await owner.api('GET', '/contacts/fields')).body;
  expect(fields).toContainEqual({ field, type: 'boolean', isCustom: false, coverage: 1 });
  expect((await owner.api('GET', '/workflows/fields')).body.fields).toContainEqual({
    field: `contact.${field}`,
    type: 'boolean',
    source: 'contact',
  });
  const values = await owner.api('GET', `/contacts/fields/${field}/values`);
  expect(values.body).toMatchObject({ field, values: [false, true] });
  const usage = await owner.api('GET', `/contacts/fields/${field}/usage`);
  expect(usage.body).toMatchObject({ usedInSegments: [{ name: 'S' }], contactCount: 3 });
  expect((await owner.api('DELETE', `/contacts/fields/${field}`)).status).toBe(400);
  const others = await owner.api('GET', '/contacts/fields/topic.other/values');
  expect(others.body).toMatchObject({ field: 'data.topic.other', values: [1] });
});
