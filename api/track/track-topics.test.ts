import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { post } from '../../tests/support/automations.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let count = 0;
const freshEmail = () => `tracked-${++count}@topics.test`;
beforeAll(async () => {
  app = await startTestApi();
  await post(app, '/topics', { key: 'news', name: 'News', defaultSubscription: 'opt_in' });
  await post(app, '/topics', { key: 'offers', name: 'Offers', defaultSubscription: 'opt_out' });
});
afterAll(() => app.stop());

const track = (email: string, topics: object) =>
  app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'seen', topics } });

async function topicsOf(email: string): Promise<unknown> {
  return (await app.api('GET', `/contacts?search=${email}`)).body.data[0]?.topics;
}

async function eventsOf(email: string) {
  const rows = await query(
    app.em(),
    sql`
      select e.name, e.data from event e join contact c on c.id = e.contact_id
      where c.email = ${email} and e.name like 'topic.%' order by e.id`,
  );
  return rows.map(({ name, data }) => ({ name, ...(data as object) }));
}

describe('topics of a tracked event', () => {
  it('are stored with it, for a new and a known contact', async () => {
    const email = freshEmail();
    expect((await track(email, { offers: true })).status).toBe(200);
    expect(await topicsOf(email)).toEqual({ news: true, offers: true });
    await track(email, { offers: false, news: false });
    expect(await topicsOf(email)).toEqual({ news: false, offers: false });
    await track(email, { news: null });
    expect(await topicsOf(email)).toEqual({ news: true, offers: false });
    const events = await eventsOf(email);
    const said = (events as Record<string, string>[]).map(({ name, key, reason }) => `${name} ${key} ${reason}`);
    expect(said.sort()).toEqual([
      'topic.subscribed news track',
      'topic.subscribed offers track',
      'topic.unsubscribed news track',
      'topic.unsubscribed offers track',
    ]);
  });

  it('name an unknown key, and then nothing is stored; events that come at the same time are', async () => {
    const [wrong, right] = [freshEmail(), freshEmail()];
    const [refused, ...others] = await Promise.all([
      track(wrong, { news: false, nothing: true }),
      ...Array.from({ length: 4 }, () => track(right, { offers: true })),
    ]);
    expect([refused.status, refused.body.error.errors[0]]).toEqual([
      422,
      expect.objectContaining({ field: 'topics.nothing', code: 'unknown_topic' }),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await topicsOf(wrong)).toBeUndefined();
    expect((await eventsOf(right)).map(({ name }) => name)).toEqual(['topic.subscribed']);
  });

  it('are taken by /events/track, too', async () => {
    const email = freshEmail();
    const body = { email, event: 'seen', topics: { offers: true } };
    expect((await app.api('POST', '/events/track', { body })).status).toBe(201);
    expect(await topicsOf(email)).toEqual({ news: true, offers: true });
  });
});

describe('a public key with rules', () => {
  const setRules = async (publicKeyRules: object | null) => {
    const reply = await app.api('PATCH', `/users/@me/projects/${app.project.id}`, { body: { publicKeyRules } });
    expect(reply.status).toBe(200);
  };
  afterEach(() => setRules(null));

  it('does not join a topic again that the contact has left, and may leave one and join others', async () => {
    const email = freshEmail();
    await track(email, { news: false, offers: false });
    await setRules({ resubscribe: false });
    await track(email, { news: true, offers: true });
    await track(email, { news: null, offers: null });
    expect(await topicsOf(email)).toEqual({ news: false, offers: false });

    const other = freshEmail();
    await track(other, { offers: true });
    expect(await topicsOf(other)).toEqual({ news: true, offers: true });
    await track(other, { offers: false });
    expect(await topicsOf(other)).toEqual({ news: true, offers: false });
    await app.api('POST', '/contacts', { body: { email, topics: { news: true } } });
    expect(await topicsOf(email)).toEqual({ news: true, offers: false });
  });

  it('changes no topics where it may not, and says so', async () => {
    const email = freshEmail();
    await setRules({ subscribed: false });
    const reply = await track(email, { news: false });
    expect([reply.status, reply.headers.get('everpost-ignored-fields')]).toEqual([200, 'topics']);
    expect(await topicsOf(email)).toEqual({ news: true, offers: false });
  });
});
