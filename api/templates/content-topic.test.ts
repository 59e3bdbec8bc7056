import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createProject } from '../../shared/domain/projects/projects.ts';
import { createTopic } from '../../shared/domain/topics/topics.ts';
import { sql } from '../../shared/database/sql.ts';
import type { TestReply } from '../../tests/support/api.ts';
import { campaignContent, startCampaignApi, UNKNOWN_ID, type CampaignApi } from '../../tests/support/campaigns.ts';
import { query } from '../../tests/support/rows.ts';

let app: CampaignApi;
let topicId: string;
let otherTopicId: string;
let foreignTopicId: string;
let stepsPath: string;
beforeAll(async () => {
  app = await startCampaignApi();
  const addTopic = async (projectId: string, key: string) =>
    createTopic(app.em(), projectId, { key, name: key, defaultSubscription: 'opt_in', visibility: 'public' });
  topicId = (await addTopic(app.project.id, 'news')).id;
  otherTopicId = (await addTopic(app.project.id, 'offers')).id;
  const { project } = await createProject(app.em(), 'Other');
  foreignTopicId = (await addTopic(project.id, 'news')).id;
  const { body } = await app.api('POST', '/workflows', { body: { name: 'A', eventName: 'signed_up' } });
  stepsPath = `/workflows/${body.id}/steps`;
});
afterAll(() => app.stop());

const templateContent = { name: 'T', subject: 'S', body: '<p>B</p>', from: 'news@example.com' };
const recordOf = ({ body }: TestReply) => body.data ?? body;

describe.each([
  {
    content: 'a template',
    path: '/templates',
    create: (change: object) => app.api('POST', '/templates', { body: { ...templateContent, ...change } }),
    change: (id: string, change: object) => app.api('PATCH', `/templates/${id}`, { body: change }),
  },
  {
    content: 'a campaign',
    path: '/campaigns',
    create: (change: object) => app.postCampaign(campaignContent({ ...change })),
    change: (id: string, change: object) => app.call('PUT', id, '', campaignContent({ ...change })),
  },
])('the topic of $content', ({ path, create, change }) => {
  it.each(['MARKETING', 'HEADLESS'])(
    'is stored with %s content, shown, listed, copied, changed and removed',
    async (type) => {
      const created = recordOf(await create({ type, topicId }));
      expect(created).toMatchObject({ type, topicId });
      expect((await app.api('GET', `${path}/${created.id}`)).body.topicId).toBe(topicId);
      const listed = (await app.api('GET', `${path}?pageSize=100`)).body.data;
      expect(listed.find(({ id }: { id: string }) => id === created.id).topicId).toBe(topicId);
      expect(recordOf(await app.api('POST', `${path}/${created.id}/duplicate`)).topicId).toBe(topicId);
      expect(recordOf(await change(created.id, { type, topicId: otherTopicId })).topicId).toBe(otherTopicId);
      expect(recordOf(await change(created.id, { type, topicId: null })).topicId).toBeNull();
    },
  );

  it.each([
    ['of another project', () => foreignTopicId],
    ['that does not exist', () => UNKNOWN_ID],
  ])('cannot be one %s', async (_which, id) => {
    const created = recordOf(await create({ topicId }));
    for (const reply of [await create({ topicId: id() }), await change(created.id, { topicId: id() })]) {
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TOPIC_NOT_FOUND']);
    }
    expect((await app.api('GET', `${path}/${created.id}`)).body.topicId).toBe(topicId);
  });

  it('cannot be a text that is no id', async () => {
    const reply = await create({ topicId: 'news' });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'topicId']);
  });

  it('is refused with TRANSACTIONAL content, which changes to and from it only together with the topic', async () => {
    const isRefused = ({ status, body }: TestReply) => {
      expect([status, body.error.code, body.error.errors[0].field]).toEqual([422, 'VALIDATION_ERROR', 'topicId']);
    };
    isRefused(await create({ type: 'TRANSACTIONAL', topicId }));
    const { id } = recordOf(await create({ topicId }));
    isRefused(await change(id, { type: 'TRANSACTIONAL', topicId }));
    expect((await app.api('GET', `${path}/${id}`)).body).toMatchObject({ type: 'MARKETING', topicId });
    const changed = recordOf(await change(id, { type: 'TRANSACTIONAL', topicId: null }));
    expect(changed).toMatchObject({ type: 'TRANSACTIONAL', topicId: null });
    isRefused(await change(id, { type: 'TRANSACTIONAL', topicId }));
  });
});

it('a template with a topic does not become TRANSACTIONAL by its type alone', async () => {
  const { id } = recordOf(await app.api('POST', '/templates', { body: { ...templateContent, topicId } }));
  const reply = await app.api('PATCH', `/templates/${id}`, { body: { type: 'TRANSACTIONAL' } });
  expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'topicId']);
  expect((await app.api('PATCH', `/templates/${id}`, { body: { name: 'New name' } })).body.topicId).toBe(topicId);
});

it('concurrent changes of type and topic do not leave TRANSACTIONAL content with a topic', async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = recordOf(await app.api('POST', '/templates', { body: templateContent }));
    await Promise.all(
      [{ type: 'TRANSACTIONAL' }, { topicId }].map((body) => app.api('PATCH', `/templates/${id}`, { body })),
    );
    const { type, topicId: stored } = (await app.api('GET', `/templates/${id}`)).body;
    expect([type, stored]).not.toEqual(['TRANSACTIONAL', topicId]);
  }
});

describe('the topic of a SEND_EMAIL step', () => {
  const addStep = (config: object, templateId?: string) =>
    app.api('POST', stepsPath, { body: { type: 'SEND_EMAIL', name: 'Mail', config, templateId } });

  it('is stored in its config and checked there', async () => {
    const created = await addStep({ topicId });
    expect([created.status, created.body.config]).toEqual([201, { topicId }]);
    const step = `${stepsPath}/${created.body.id}`;
    expect((await app.api('PATCH', step, { body: { config: { topicId: otherTopicId } } })).body.config).toEqual({
      topicId: otherTopicId,
    });
    for (const reply of [
      await addStep({ topicId: foreignTopicId }),
      await app.api('PATCH', step, { body: { config: { topicId: UNKNOWN_ID } } }),
    ]) {
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TOPIC_NOT_FOUND']);
    }
    expect((await addStep({ topicId: 'news' })).status).toBe(422);
  });

  it('does not go with a TRANSACTIONAL template', async () => {
    const make = async (type: string) =>
      recordOf(await app.api('POST', '/templates', { body: { ...templateContent, type } })).id as string;
    const [transactional, marketing] = [await make('TRANSACTIONAL'), await make('MARKETING')];
    const created = await addStep({ topicId }, marketing);
    const step = `${stepsPath}/${created.body.id}`;
    for (const reply of [
      await addStep({ topicId }, transactional),
      await app.api('PATCH', step, { body: { templateId: transactional } }),
    ]) {
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'config.topicId']);
    }
    // The template may become TRANSACTIONAL later; the step can still be moved.
    await app.api('PATCH', `/templates/${marketing}`, { body: { type: 'TRANSACTIONAL' } });
    expect((await app.api('PATCH', step, { body: { position: { x: 1, y: 2 } } })).status).toBe(200);
  });
});

it.each<[string, () => Promise<TestReply>]>([
  ['a template', () => app.api('POST', '/templates', { body: { ...templateContent, topicId: otherTopicId } })],
  ['a campaign', () => app.postCampaign(campaignContent({ topicId: otherTopicId }))],
  [
    'a step',
    () => app.api('POST', stepsPath, { body: { type: 'SEND_EMAIL', name: 'Mail', config: { topicId: otherTopicId } } }),
  ],
])('%s waits while its topic is being deleted', async (_what, create) => {
  const em = app.em();
  await em.begin();
  await query(em, sql`select from topic where id = ${otherTopicId} for update`);
  const creating = create();
  const waiting = sql`select 1 as one from pg_stat_activity where wait_event_type = 'Lock' and query like '%topic%'`;
  while ((await query(app.em(), waiting)).length === 0);
  await em.rollback();
  expect((await creating).status).toBe(201);
});
