import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { cleanUpChunk } from '../../shared/domain/lifecycle/maintenance.ts';
import { retentionOf } from '../../shared/domain/lifecycle/retention.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { advance, optInsOf, subjectsTo, subscribe } from '../../tests/support/opt-ins.ts';
import { query, queryOne } from '../../tests/support/rows.ts';

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
const contactOf = async (email: string) =>
  (await project.api('POST', '/contacts/search', { body: { search: email } })).body.data[0];
const lastOptIn = async (email: string) => (await optInsOf(app.em(), project.project.id, email)).at(-1);
const idOf = async (email: string) => (await lastOptIn(email))?.id as string;
const consentsOf = (email: string) =>
  query(
    app.em(),
    sql`
      select r.state, r.cause, t.key as topic, r.client_address as client, w.content as wording
      from consent_record r join contact c on c.id = r.contact_id left join topic t on t.id = r.topic_id
      left join wording w on w.id = r.wording_id where c.email = ${email} order by r.created_at, t.key nulls first`,
  );
describe('the settings', () => {
  afterEach(() => settings({ doubleOptIn: null }));

  it('have defaults, and are replaced as a whole', async () => {
    const defaults = { isRequired: true, remindAfterDays: 2, expireAfterDays: 7, from: null, templateId: null };
    expect((await settings({ doubleOptIn: null })).doubleOptIn).toEqual({ ...defaults, redirectHosts: [] });
    expect((await settings({ doubleOptIn: { expireAfterDays: 30 } })).doubleOptIn).toMatchObject({
      ...defaults,
      expireAfterDays: 30,
    });
  });

  it.each([
    [{ remindAfterDays: 7 }, 'doubleOptIn.remindAfterDays'],
    [{ remindAfterDays: -1 }, 'doubleOptIn.remindAfterDays'],
    [{ expireAfterDays: 0 }, 'doubleOptIn.expireAfterDays'],
    [{ expireAfterDays: 31 }, 'doubleOptIn.expireAfterDays'],
    [{ expireAfterDays: 1.5 }, 'doubleOptIn.expireAfterDays'],
    [{ from: 'news@unknown.test' }, 'doubleOptIn.from'],
    [{ templateId: '00000000-0000-7000-8000-000000000000' }, 'doubleOptIn.templateId'],
    [{ redirectHosts: ['https://example.com'] }, 'doubleOptIn.redirectHosts.0'],
    [{ redirectHosts: ['*.example.com'] }, 'doubleOptIn.redirectHosts.0'],
    [{ redirectHosts: Array<string>(21).fill('a.test') }, 'doubleOptIn.redirectHosts'],
  ])('refuse %j', async (doubleOptIn, field) => {
    const reply = await project.api('PATCH', `/users/@me/projects/${project.project.id}`, { body: { doubleOptIn } });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it('name the sender and the template of confirmations', async () => {
    const template = async (body: object) =>
      (
        await project.api('POST', '/templates', {
          body: { name: freshEmail(), subject: 'Yes?', from: 'shop@example.com', fromName: 'Shop', ...body },
        })
      ).body.id as string;
    const body = '<a href="{{confirmUrl}}">{{firstName ?? "you"}}</a>';
    for (const faulty of [
      { body: 'no link', type: 'TRANSACTIONAL' },
      { body, type: 'MARKETING' },
    ]) {
      const reply = await project.api('PATCH', `/users/@me/projects/${project.project.id}`, {
        body: { doubleOptIn: { templateId: await template(faulty) } },
      });
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'doubleOptIn.templateId']);
    }
    await settings({ doubleOptIn: { templateId: await template({ body, type: 'TRANSACTIONAL' }) } });
    const email = freshEmail();
    // Anybody can name any address, so no word of the form reaches it.
    await subscribe(project, { email, data: { firstName: 'Buy now at evil.test' } });
    await advance(app, await idOf(email));
    const sent = await queryOne(
      app.em(),
      sql`
        select m.subject, c.html, c.from_address, c.from_name from email m join email_content c on c.email_id = m.id
        where m.to_address = ${email}`,
    );
    expect(sent).toMatchObject({ subject: 'Yes?', from_address: 'shop@example.com', from_name: 'Shop' });
    expect(sent?.html).toMatch(/href="http[^"]+\/confirm\/[\w-]{40}">you</);
  });
});

describe('a project that loses its sender', () => {
  it('keeps the confirmation due, which operators see, and sends it later', async () => {
    const other = await app.createProject();
    const email = freshEmail();
    await subscribe(other, { email });
    const id = (await optInsOf(app.em(), other.project.id, email))[0]?.id as string;
    await query(
      app.em(),
      sql`update sender_domain set verified = false, trusted = false where project_id = ${other.project.id}`,
    );
    expect(await advance(app, id)).toMatchObject({ kind: 'waits' });
    const { listWaiting } = await import('../../shared/domain/lifecycle/queue.ts');
    expect(await listWaiting(app.em(), other.project.id)).toContainEqual(
      expect.objectContaining({ kind: 'confirmation', rows: 1, reason: 'the project has no verified sender domain' }),
    );
    await query(
      app.em(),
      sql`update sender_domain set verified = true, trusted = true where project_id = ${other.project.id}`,
    );
    await advance(app, id);
    expect(await subjectsTo(app.em(), other.project.id, email)).toHaveLength(1);
  });
});

describe('the time', () => {
  it('brings one reminder, and then the end', async () => {
    const email = freshEmail();
    await subscribe(project, { email });
    const id = await idOf(email);
    for (const days of [0, 1, 2.1, 2.1, 5]) await advance(app, id, days);
    expect(await subjectsTo(app.em(), project.project.id, email)).toEqual([
      'Please confirm your subscription',
      'Reminder: please confirm your subscription',
    ]);
    expect(await advance(app, id, 7.1)).toEqual({ kind: 'ended', state: 'expired' });
    expect((await consentsOf(email)).map(({ state }) => state)).toEqual(['pending', 'expired']);
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true });
  });

  it('brings no reminder to who has joined by another door, and pauses since', async () => {
    const email = freshEmail();
    const { body: topic } = await project.api('POST', '/topics', {
      body: { key: 'joined-since', name: 'News', defaultSubscription: 'opt_out' },
    });
    const { body } = await project.api('POST', '/contacts', { body: { email } });
    await subscribe(project, { email, topics: [topic.key] });
    const id = await idOf(email);
    await advance(app, id);
    const pausedUntil = new Date(Date.now() + 86_400_000).toISOString();
    await project.api('PATCH', `/contacts/${body.id}`, { body: { pausedUntil, topics: { [topic.key]: true } } });
    await advance(app, id, 2.1);
    expect(await subjectsTo(app.em(), project.project.id, email)).toHaveLength(1);
  });

  it('gives a contact back what it was before', async () => {
    const email = freshEmail();
    await project.api('POST', '/contacts', { body: { email, subscribed: false } });
    await subscribe(project, { email });
    expect(await contactOf(email)).toMatchObject({ pending: true });
    await advance(app, await idOf(email), 8);
    expect(await contactOf(email)).toMatchObject({ subscribed: false });
  });

  it.each([
    [{ remindAfterDays: 0 }, 1],
    [{ remindAfterDays: 5, expireAfterDays: 3 }, 1],
    [{ remindAfterDays: 6, expireAfterDays: 30 }, 2],
  ])('with %j brings %d emails', async (doubleOptIn, mails) => {
    await settings({ doubleOptIn });
    const email = freshEmail();
    await subscribe(project, { email });
    const id = await idOf(email);
    await advance(app, id);
    await advance(app, id, 6.5);
    expect(await subjectsTo(app.em(), project.project.id, email)).toHaveLength(mails);
    await settings({ doubleOptIn: null });
  });
});

describe('the clean-up', () => {
  it('deletes contacts a month after nobody confirmed, unless they are more than the request', async () => {
    const [gone, kept, before] = [freshEmail(), freshEmail(), freshEmail()];
    await project.api('POST', '/contacts', { body: { email: before, subscribed: false } });
    for (const email of [gone, kept, before]) {
      await subscribe(project, { email });
      await advance(app, await idOf(email));
      await advance(app, await idOf(email), 8);
    }
    await project.api('POST', '/v1/track', { key: 'public', body: { email: kept, event: 'ordered' } });
    const cleanUp = () => cleanUpChunk(app.em(), 'optIns', retentionOf(app.config));
    const ageTo = (days: number) =>
      query(
        app.em(),
        sql`update opt_in set expires_at = now() - ${days}::int * interval '1 day' where state = 'expired'`,
      );
    await ageTo(29);
    await cleanUp();
    expect(await contactOf(gone)).toBeDefined();
    await ageTo(31);
    await cleanUp();
    expect(await contactOf(gone)).toBeUndefined();
    for (const email of [kept, before]) expect(await contactOf(email)).toBeDefined();
    await ageTo(91);
    await cleanUp();
    expect(await lastOptIn(kept)).toBeUndefined();
    const counted = async () => (await query(app.em(), sql`select 1 from confirmation_mail`)).length;
    expect(await counted()).toBeGreaterThan(0);
    await query(app.em(), sql`update confirmation_mail set queued_at = now() - interval '25 hours'`);
    await cleanUp();
    expect(await counted()).toBe(0);
  });
});
