import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { changeTopics } from '../../shared/domain/topics/topic-choices.ts';
import { createTopic, type NewTopic } from '../../shared/domain/topics/topics.ts';
import { expectTooBig, startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { advance, advanceAll, confirm, optInsOf, subjectsTo, subscribe } from '../../tests/support/opt-ins.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let project: TestProject;
let count = 0;
const freshEmail = () => `reader-${++count}@mail.test`;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
  project = app;
});
afterAll(() => app.stop());

const settings = async (body: object, owner: TestProject = project) => {
  const reply = await owner.api('PATCH', `/users/@me/projects/${owner.project.id}`, { body });
  expect(reply.status).toBe(200);
  return reply.body;
};
const addTopic = async (key: string, more: Partial<NewTopic> = {}) => {
  const topic = { key, name: `Topic ${key}`, defaultSubscription: 'opt_out', visibility: 'public', ...more } as const;
  return (await createTopic(app.em(), project.project.id, topic)).id;
};
const contactOf = async (email: string) =>
  (await project.api('POST', '/contacts/search', { body: { search: email } })).body.data[0];
const lastOptIn = async (email: string) => (await optInsOf(app.em(), project.project.id, email)).at(-1);
const idOf = async (email: string) => (await lastOptIn(email))?.id as string;
const eventsOf = (email: string) =>
  query(
    app.em(),
    sql`
      select v.name, v.data ->> 'reason' as reason from event v join contact c on c.id = v.contact_id
      where c.email = ${email} order by v.created_at, v.id`,
  );
const consentsOf = (email: string) =>
  query(
    app.em(),
    sql`
      select r.state, r.cause, t.key as topic, r.client_address as client, w.content as wording
      from consent_record r join contact c on c.id = r.contact_id left join topic t on t.id = r.topic_id
      left join wording w on w.id = r.wording_id where c.email = ${email} order by r.created_at, t.key nulls first`,
  );
const topicsOf = async (email: string) =>
  query(
    app.em(),
    sql`
      select t.key, s.subscribed from topic_subscription s join topic t on t.id = s.topic_id
      join contact c on c.id = s.contact_id where c.email = ${email} order by t.key`,
  );

describe('POST /v1/subscribe', () => {
  it('leaves nothing but a pending contact, whose data waits for the confirmation', async () => {
    const email = freshEmail();
    const reply = await subscribe(project, { email, data: { plan: 'pro' }, wording: 'Send me news' });
    expect([reply.status, reply.body]).toEqual([202, { success: true, data: { accepted: true } }]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true, data: {} });
    expect(await eventsOf(email)).toEqual([]);
    expect(await consentsOf(email)).toEqual([
      { state: 'pending', cause: 'form', topic: null, client: '127.0.0.0/24', wording: 'Send me news' },
    ]);
    const { id: templateId } = (
      await project.api('POST', '/templates', {
        body: { name: email, subject: 'S', body: 'B', from: 'a@example.com', type: 'MARKETING' },
      })
    ).body;
    const marketing = await project.api('POST', '/v1/send', { body: { to: email, template: templateId } });
    expect([marketing.status, marketing.body.error.details]).toMatchObject([400, { recipients: [email] }]);

    await confirm(app, await idOf(email));
    expect(await contactOf(email)).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
    expect((await contactOf(email)).pending).toBeUndefined();
    expect(await eventsOf(email)).toEqual([{ name: 'contact.subscribed', reason: 'confirmation' }]);
    expect(await consentsOf(email)).toEqual([
      expect.objectContaining({ state: 'pending', cause: 'form' }),
      {
        state: 'subscribed',
        cause: 'confirmation',
        topic: null,
        client: '127.0.0.0/24',
        wording: expect.stringMatching(/Please confirm.*\{email\}/s),
      },
    ]);
  });

  it('subscribes nobody who has left but by the confirmation, and overwrites nothing before', async () => {
    const email = freshEmail();
    const { body } = await project.api('POST', '/contacts', { body: { email, data: { plan: 'free' } } });
    await project.api('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } });
    await subscribe(project, { email, data: { plan: 'stolen', city: 'Graz' } });
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true, data: { plan: 'free' } });
    await advanceAll(app, project.project.id);
    expect(await subjectsTo(app.em(), project.project.id, email)).toEqual(['Please confirm your subscription']);
    await confirm(app, await idOf(email));
    expect(await contactOf(email)).toMatchObject({ subscribed: true, data: { plan: 'stolen', city: 'Graz' } });
  });

  it('sends nothing to somebody who is subscribed to all that is asked', async () => {
    const email = freshEmail();
    await project.api('POST', '/contacts', { body: { email } });
    const reply = await subscribe(project, { email, data: { plan: 'x' } });
    expect([reply.status, reply.body]).toEqual([202, { success: true, data: { accepted: true } }]);
    expect(await lastOptIn(email)).toBeUndefined();
    expect(await contactOf(email)).toMatchObject({ subscribed: true, data: {} });
  });

  it('has only the topic wait that a subscriber does not have yet', async () => {
    const email = freshEmail();
    const [news, tips] = [await addTopic('news'), await addTopic('tips', { defaultSubscription: 'opt_in' })];
    await project.api('POST', '/contacts', { body: { email } });
    await subscribe(project, { email, topics: ['news', 'tips'] });
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
    expect(await lastOptIn(email)).toMatchObject({ topic_ids: [news], is_pending: false });
    expect(await consentsOf(email)).toContainEqual(expect.objectContaining({ state: 'pending', topic: 'news' }));
    expect(await topicsOf(email)).toEqual([]);
    await confirm(app, await idOf(email));
    expect(await topicsOf(email)).toEqual([{ key: 'news', subscribed: true }]);
    expect(await eventsOf(email)).toContainEqual({ name: 'topic.subscribed', reason: 'confirmation' });
    expect(tips).not.toBe(news);
    await subscribe(project, { email, topics: ['news'] });
    expect(await optInsOf(app.em(), project.project.id, email)).toHaveLength(1);
  });

  it('ends what waits for a topic that everybody has by default', async () => {
    const email = freshEmail();
    await addTopic('daily', { defaultSubscription: 'opt_in' });
    await subscribe(project, { email, topics: ['daily'] });
    const states = async () =>
      (await consentsOf(email)).filter(({ topic }) => topic === 'daily').map(({ state, cause }) => [state, cause]);
    expect(await states()).toEqual([['pending', 'form']]);
    await confirm(app, await idOf(email));
    await confirm(app, await idOf(email));
    expect(await states()).toEqual([
      ['pending', 'form'],
      ['subscribed', 'confirmation'],
    ]);
    expect(await topicsOf(email)).toEqual([{ key: 'daily', subscribed: true }]);
    const filters = [
      { field: 'topic.daily', operator: 'equals', value: true },
      { field: 'email', operator: 'equals', value: email },
      { field: 'pending', operator: 'equals', value: false },
    ];
    const segment = { name: `Daily ${email}`, condition: { logic: 'AND', groups: [{ filters }] } };
    const { body } = await project.api('POST', '/segments', { body: segment });
    const { body: members } = await project.api('GET', `/segments/${body.id}/contacts`);
    expect(members.data).toMatchObject([{ email, subscribed: true, topics: { daily: true } }]);
  });

  it('merges the topics and the data of a second request', async () => {
    const email = freshEmail();
    await addTopic('a');
    await addTopic('b');
    await subscribe(project, { email, topics: ['a'], data: { one: 1, two: 1 } });
    await subscribe(project, { email, topics: ['b', 'a'], data: { two: 2 } });
    const optIns = await optInsOf(app.em(), project.project.id, email);
    expect(optIns).toHaveLength(1);
    expect(optIns[0]?.topic_ids).toHaveLength(2);
    expect((await consentsOf(email)).map(({ state, topic }) => [state, topic])).toEqual([
      ['pending', null],
      ['pending', 'a'],
      ['pending', 'b'],
    ]);
    await confirm(app, optIns[0]?.id as string);
    expect((await topicsOf(email)).map(({ key }) => key)).toEqual(['a', 'b']);
    expect((await contactOf(email)).data).toEqual({ one: 1, two: 2 });
  });

  it('makes one opt-in and one email of requests at once', async () => {
    const email = freshEmail();
    const replies = await Promise.all(Array.from({ length: 12 }, () => subscribe(project, { email })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    const optIns = await optInsOf(app.em(), project.project.id, email);
    expect(optIns).toHaveLength(1);
    await Promise.all(Array.from({ length: 8 }, () => advance(app, optIns[0]?.id as string)));
    expect(await subjectsTo(app.em(), project.project.id, email)).toHaveLength(1);
  });

  it('leaves a suppressed address alone, with the same answer', async () => {
    const email = freshEmail();
    await project.api('POST', '/suppressions', { body: { emails: [email] } });
    const reply = await subscribe(project, { email });
    expect([reply.status, reply.body]).toEqual([202, { success: true, data: { accepted: true } }]);
    expect(await contactOf(email)).toBeUndefined();
    const later = freshEmail();
    await subscribe(project, { email: later });
    await project.api('POST', '/suppressions', { body: { emails: [later] } });
    await advanceAll(app, project.project.id);
    expect(await subjectsTo(app.em(), project.project.id, later)).toEqual([]);
  });

  it('does nothing for a program that fills the hidden field', async () => {
    const email = freshEmail();
    const reply = await subscribe(project, { email, comment: 'Buy now' });
    expect([reply.status, reply.body]).toEqual([202, { success: true, data: { accepted: true } }]);
    expect(await contactOf(email)).toBeUndefined();
  });

  it.each([
    [{}, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a@mail.test', topics: 'news' }, 'topics'],
    [{ email: 'a@mail.test', topics: ['nothing'] }, 'topics.0'],
    [{ email: 'a@mail.test', topics: ['secret'] }, 'topics.0'],
    [{ email: 'a@mail.test', redirectUrl: 'https://evil.test/' }, 'redirectUrl'],
    [{ email: 'a@mail.test', redirectUrl: 'https://evilexample.com/' }, 'redirectUrl'],
    [{ email: 'a@mail.test', redirectUrl: 'https://example.com@evil.test/' }, 'redirectUrl'],
    [{ email: 'a@mail.test', redirectUrl: 'https://user:word@example.com/' }, 'redirectUrl'],
    [{ email: 'a@mail.test', redirectUrl: 'javascript:alert(1)//example.com' }, 'redirectUrl'],
    [{ email: 'a@mail.test', redirectUrl: '//example.com' }, 'redirectUrl'],
  ])('refuses %j and names %s', async (body, field) => {
    await addTopic('secret', { visibility: 'private' }).catch(() => undefined);
    const reply = await subscribe(project, body);
    expect([reply.status, reply.body.error.errors?.[0]?.field]).toEqual([422, field]);
    expect(await contactOf('a@mail.test')).toBeUndefined();
  });

  it('refuses more than it keeps', async () => {
    const tooMuch = {
      data: [Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n])), { text: 'x'.repeat(16_384) }],
      wording: ['x'.repeat(2_001)],
      topics: [Array.from({ length: 101 }, (_, n) => `t${n}`)],
    };
    for (const [field, values] of Object.entries(tooMuch)) {
      for (const value of values)
        expectTooBig(await subscribe(project, { email: 'b@mail.test', [field]: value }), field);
    }
  });

  it('takes the secret key only where the project lets it, and then private topics, too', async () => {
    const email = freshEmail();
    await addTopic('inner', { visibility: 'private' });
    const body = { email, topics: ['inner'] };
    expect((await subscribe(project, body, 'secret')).status).toBe(401);
    await query(app.em(), sql`update project set track_accepts_secret_key = true where id = ${project.project.id}`);
    expect((await subscribe(project, body, 'secret')).status).toBe(202);
    expect((await lastOptIn(email))?.topic_ids).toHaveLength(1);
    await query(app.em(), sql`update project set track_accepts_secret_key = false where id = ${project.project.id}`);
  });

  it('stores only the data that the rules of the public key allow', async () => {
    await settings({ publicKeyRules: { fields: ['plan'] } });
    const email = freshEmail();
    const reply = await subscribe(project, { email, data: { plan: 'pro', firstName: 'Buy now' } });
    expect(reply.headers.get('everpost-ignored-fields')).toBe('data.firstName');
    await confirm(app, await idOf(email));
    expect((await contactOf(email)).data).toEqual({ plan: 'pro' });
    await settings({ publicKeyRules: null });
  });

  it('confirms although the contact has no room for the data', async () => {
    const email = freshEmail();
    const full = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]));
    await project.api('POST', '/contacts', { body: { email, subscribed: false, data: full } });
    await subscribe(project, { email, data: { another: 1 } });
    expect((await confirm(app, await idOf(email))).status).toBe(200);
    const contact = await contactOf(email);
    expect([contact.subscribed, Object.keys(contact.data).length]).toEqual([true, 500]);
  });

  it('lists pending contacts, and ends their wait when another door subscribes them', async () => {
    const email = freshEmail();
    await subscribe(project, { email });
    const pending = async () =>
      (await project.api('GET', '/contacts?pending=true&limit=100')).body.data.map((contact: any) => contact.email);
    expect(await pending()).toContain(email);
    const { id } = await contactOf(email);
    await project.api('PATCH', `/contacts/${id}`, { body: { subscribed: true } });
    expect(await pending()).not.toContain(email);
    await advanceAll(app, project.project.id);
    expect(await subjectsTo(app.em(), project.project.id, email)).toEqual([]);
    await advance(app, await idOf(email), 8);
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
    expect((await consentsOf(email)).map(({ state }) => state)).not.toContain('expired');
  });
});

describe('a project without confirmation', () => {
  beforeAll(async () => {
    project = await app.createProject();
    await settings({ doubleOptIn: { isRequired: false } });
  });
  afterAll(() => {
    project = app;
  });

  it('subscribes at once, with the cause `form`, and stores the data', async () => {
    const email = freshEmail();
    await subscribe(project, { email, data: { plan: 'pro' }, language: 'pt-BR' });
    expect(await contactOf(email)).toMatchObject({
      subscribed: true,
      data: { plan: 'pro', locale: 'pt' },
    });
    expect(await eventsOf(email)).toEqual([{ name: 'contact.subscribed', reason: 'form' }]);
    expect(await consentsOf(email)).toEqual([expect.objectContaining({ state: 'subscribed', cause: 'form' })]);
    expect(await lastOptIn(email)).toBeUndefined();
  });

  it('still asks who has left, everything or a topic', async () => {
    const [email, leaver] = [freshEmail(), freshEmail()];
    const topicId = await addTopic('w');
    for (const address of [email, leaver]) await project.api('POST', '/contacts', { body: { email: address } });
    await project.api('PATCH', `/contacts/${(await contactOf(email)).id}`, { body: { subscribed: false } });
    const choice = { contactId: (await contactOf(leaver)).id as string, topicId, subscribed: false };
    await changeTopics(app.em(), project.project.id, [choice], { reason: 'form' });
    await subscribe(project, { email });
    await subscribe(project, { email: leaver, topics: ['w'] });
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true });
    expect(await topicsOf(leaver)).toEqual([{ key: 'w', subscribed: false }]);
    await confirm(app, await idOf(leaver));
    expect(await topicsOf(leaver)).toEqual([{ key: 'w', subscribed: true }]);
  });

  it('still asks who pauses, because anybody could fill the form, and the confirmation ends the pause', async () => {
    const email = freshEmail();
    await addTopic('z');
    const { body } = await project.api('POST', '/contacts', { body: { email } });
    const pause = async (days: number) => {
      const pausedUntil = new Date(Date.now() + days * 86_400_000).toISOString();
      await project.api('PATCH', `/contacts/${body.id}`, { body: { pausedUntil } });
    };
    await pause(3);
    await subscribe(project, { email, topics: ['z'], data: { plan: 'stolen' } });
    expect(await contactOf(email)).toMatchObject({ subscribed: true, pausedUntil: expect.any(String), data: {} });
    expect(await topicsOf(email)).toEqual([]);
    await confirm(app, await idOf(email));
    expect(await contactOf(email)).not.toHaveProperty('pausedUntil');
    expect(await topicsOf(email)).toEqual([{ key: 'z', subscribed: true }]);
    expect((await consentsOf(email)).at(-2)).toMatchObject({ state: 'resumed', cause: 'confirmation' });

    // A pause alone is reason enough to ask.
    await pause(2);
    await subscribe(project, { email });
    await advanceAll(app, project.project.id);
    expect(await subjectsTo(app.em(), project.project.id, email)).toHaveLength(1);
    await confirm(app, await idOf(email));
    expect(await contactOf(email)).not.toHaveProperty('pausedUntil');
    await subscribe(project, { email });
    expect(await optInsOf(app.em(), project.project.id, email)).toHaveLength(2);
  });

  it('has those topics wait that ask for a confirmation', async () => {
    const email = freshEmail();
    await addTopic('x');
    await addTopic('y', { doubleOptIn: true });
    await subscribe(project, { email, topics: ['x', 'y'] });
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
    expect(await topicsOf(email)).toEqual([{ key: 'x', subscribed: true }]);
    await confirm(app, await idOf(email));
    expect((await topicsOf(email)).map(({ key }) => key)).toEqual(['x', 'y']);
  });

  it('needs no sender, and says so when a topic needs one', async () => {
    await query(app.em(), sql`delete from sender_domain where project_id = ${project.project.id}`);
    expect((await subscribe(project, { email: freshEmail() })).status).toBe(202);
    const reply = await subscribe(project, { email: freshEmail(), topics: ['y'] });
    expect([reply.status, reply.body.error.errors[0]]).toEqual([
      422,
      expect.objectContaining({ field: 'doubleOptIn.from', code: 'no_sender' }),
    ]);
  });
});

describe('a topic without confirmation in a project with it', () => {
  it('is joined at once', async () => {
    const email = freshEmail();
    await addTopic('quick', { doubleOptIn: false });
    await subscribe(project, { email, topics: ['quick'] });
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
    expect(await topicsOf(email)).toEqual([{ key: 'quick', subscribed: true }]);
  });
});
