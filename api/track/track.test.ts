import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { eraseNext } from '../../shared/domain/lifecycle/erase-contacts.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';

let app: TestApi;
let addressCount = 0;
const freshEmail = () => `tracked-${++addressCount}@example.com`;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const track = (body: Record<string, unknown>): Promise<TestReply> =>
  app.api('POST', '/v1/track', { key: 'public', body });
const contactOf = (email: string) => app.em().findOneOrFail(ContactEntity, { projectId: app.project.id, email });
const eventsOf = (contactId: string) => app.em().find(EventEntity, { contactId }, { orderBy: { id: 'asc' } });

describe('POST /v1/track', () => {
  it('creates a subscribed contact and records the event', async () => {
    const email = freshEmail();
    const reply = await track({ email: email.toUpperCase(), event: '  signed_up  ', data: { plan: 'pro' } });
    expect(reply.status).toBe(200);
    const contact = await contactOf(email);
    expect(contact).toMatchObject({ subscribed: true, optedOutAt: null, data: { plan: 'pro' } });
    const [event, ...others] = await eventsOf(contact.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ projectId: app.project.id, name: 'signed_up', data: { plan: 'pro' }, emailId: null });
    expect(reply.body).toEqual({
      success: true,
      data: { contact: contact.id, event: event?.id, timestamp: event?.createdAt.toISOString() },
    });
  });

  it('records the same event again', async () => {
    const email = freshEmail();
    const replies = [await track({ email, event: 'again' }), await track({ email, event: 'again' })];
    expect(new Set(replies.map((reply) => reply.body.data.contact)).size).toBe(1);
    expect(new Set(replies.map((reply) => reply.body.data.event)).size).toBe(2);
  });

  it('keeps all values in the event and the persistent ones on the contact', async () => {
    const email = freshEmail();
    await track({ email, event: 'first', data: { kept: 1, gone: 2 } });
    await track({
      email,
      event: 'order',
      data: {
        total: { value: 42.5, persistent: false },
        items: { value: [{ sku: 'a' }], persistent: false },
        city: 'Graz',
        gone: null,
        kept: '',
        email: 'reserved@example.com',
      },
    });
    const contact = await contactOf(email);
    expect(contact.data).toEqual({ kept: 1, city: 'Graz' });
    const events = await eventsOf(contact.id);
    expect(events[1]?.data).toEqual({ total: 42.5, items: [{ sku: 'a' }], city: 'Graz' });
    const types = await query(app.em(), sql`select key from contact_field where key in ('total', 'items', 'city')`);
    expect(types.map((row) => row.key)).toEqual(['city']);
  });

  it('changes the subscription only when told, and records the change as an event', async () => {
    const email = freshEmail();
    await track({ email, event: 'a', subscribed: false });
    const contact = await contactOf(email);
    expect([contact.subscribed, contact.optedOutAt]).toEqual([false, null]);
    await track({ email, event: 'b' });
    expect((await contactOf(email)).subscribed).toBe(false);
    await track({ email, event: 'c', subscribed: true });
    await track({ email, event: 'd', subscribed: true });
    await track({ email, event: 'e', subscribed: false });
    const names = (await eventsOf(contact.id)).map((event) => event.name).sort();
    expect(names).toEqual(['a', 'b', 'c', 'contact.subscribed', 'contact.unsubscribed', 'd', 'e']);
    expect((await contactOf(email)).optedOutAt).toBeInstanceOf(Date);
  });

  it('creates one contact for twenty requests at once and records every event', async () => {
    const email = freshEmail();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        track({ email, event: 'burst', data: { [`k${n}`]: n }, ...(n % 2 && { subscribed: true }) }),
      ),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    const contact = await contactOf(email);
    expect(Object.keys(contact.data)).toHaveLength(20);
    expect((await eventsOf(contact.id)).map((event) => event.name)).toEqual(Array.from({ length: 20 }, () => 'burst'));
  });

  it('survives requests that touch the same contacts in different orders', async () => {
    const emails = Array.from({ length: 10 }, freshEmail);
    const requests = Array.from({ length: 100 }, (_, n) =>
      track({
        email: emails[(n * 7) % 10],
        event: 'mixed',
        subscribed: n % 3 === 0,
        data: { [`f${n % 9}`]: n, [`f${(n * 5) % 9}`]: n },
      }),
    );
    expect(new Set((await Promise.all(requests)).map((reply) => reply.status))).toEqual(new Set([200]));
    expect(await app.em().count(EventEntity, { projectId: app.project.id, name: 'mixed' })).toBe(100);
  });

  it.each([
    [{ event: 'e' }, 'email', 'invalid_type'],
    [{ email: 'a@example.com' }, 'event', 'invalid_type'],
    [{ email: 'a@example.com', event: '  ' }, 'event', 'too_small'],
    [{ email: 'a@example.com', event: 'x'.repeat(201) }, 'event', 'too_big'],
    [{ email: 'a@example.com', event: 'email.open' }, 'event', 'reserved_event'],
    [{ email: 'a@example.com', event: ' contact.subscribed ' }, 'event', 'reserved_event'],
    [{ email: 'a@example.com', event: 'segment.vip.entry' }, 'event', 'reserved_event'],
    [{ email: 'nobody', event: 'e' }, 'email', 'invalid_string'],
    [{ email: 'a@example.com', event: 'e', data: 'x' }, 'data', 'invalid_type'],
    [{ email: 'a@example.com', event: 'e', subscribed: 1 }, 'subscribed', 'invalid_type'],
  ])('refuses %j and stores nothing', async (body, field, code) => {
    const before = await app.em().count(EventEntity, {});
    const reply = await track(body);
    expect(reply.status).toBe(422);
    expect(reply.body.error.code).toBe('VALIDATION_ERROR');
    expect(reply.body.error.errors).toEqual([expect.objectContaining({ field, code })]);
    expect(await app.em().count(EventEntity, {})).toBe(before);
    expect(await app.em().count(ContactEntity, { email: 'a@example.com' })).toBe(0);
  });

  it('stores neither contact nor event when the event cannot be stored', async () => {
    await query(app.em(), sql`alter table event add constraint fault check (name <> 'explode')`);
    for (const subscribed of [undefined, true]) {
      const email = freshEmail();
      expect((await track({ email, event: 'explode', subscribed })).status).toBe(500);
      expect(await app.em().count(ContactEntity, { email })).toBe(0);
    }
  });

  it('leaves no event behind for a contact that is deleted at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const email = freshEmail();
      const contactId = (await track({ email, event: 'raced' })).body.data.contact;
      const requests = [
        ...Array.from({ length: 4 }, (_, n) => track({ email, event: 'raced', ...(n % 2 && { subscribed: false }) })),
        app.api('DELETE', `/contacts/${contactId}`),
        app.api('POST', '/events/track', { body: { name: 'raced', contactId } }),
      ];
      for (const reply of await Promise.all(requests)) expect(reply.status).toBeLessThan(500);
    }
    // A deletion skips rows locked by an event that creates the contact again: the workers erase them later.
    while ((await eraseNext(app.em(), app.project.id)).contacts > 0);
    const orphans = await query(
      app.em(),
      sql`select e.id from event e where e.name = 'raced' and not exists (select 1 from contact c where c.id = e.contact_id)`,
    );
    expect(orphans).toEqual([]);
  });
});

describe('a public key with rules', () => {
  const setRules = async (publicKeyRules: object | null) => {
    const { status, body } = await app.api('PATCH', `/users/@me/projects/${app.project.id}`, {
      body: { publicKeyRules },
    });
    expect(status).toBe(200);
    return body.publicKeyRules;
  };
  afterEach(() => setRules(null));

  it('stores only the fields that it may, and the event has all of them', async () => {
    const email = freshEmail();
    await app.api('POST', '/contacts', { body: { email, data: { firstName: 'Ada', plan: 'free' } } });
    expect(await setRules({ fields: ['plan'] })).toEqual({
      fields: ['plan'],
      subscribed: true,
      resubscribe: true,
      dataTargets: true,
    });
    const data = { firstName: 'Your account is locked', lastName: null, plan: 'pro' };
    const reply = await track({ email, event: 'upgraded', data });
    expect([reply.status, reply.headers.get('everpost-ignored-fields')]).toEqual([
      200,
      'data.firstName, data.lastName',
    ]);
    const contact = await contactOf(email);
    expect(contact.data).toEqual({ firstName: 'Ada', plan: 'pro' });
    expect((await eventsOf(contact.id)).at(-1)?.data).toEqual({ firstName: 'Your account is locked', plan: 'pro' });
    const body = { email, event: 'upgraded', data: { firstName: 'Grace' } };
    await app.api('POST', '/events/track', { body });
    expect((await contactOf(email)).data).toEqual({ firstName: 'Grace', plan: 'pro' });
  });

  it('reverses no opt-out, and subscribes those who never opted out', async () => {
    const [left, never] = [freshEmail(), freshEmail()];
    await track({ email: left, event: 'e' });
    await track({ email: left, event: 'e', subscribed: false });
    await app.api('POST', '/contacts', { body: { email: never, subscribed: false } });
    await setRules({ resubscribe: false });
    for (const email of [left, never]) await track({ email, event: 'e', subscribed: true });
    expect(await contactOf(left)).toMatchObject({ subscribed: false });
    expect(await contactOf(never)).toMatchObject({ subscribed: true });
    await app.api('POST', '/contacts', { body: { email: left, subscribed: true } });
    expect(await contactOf(left)).toMatchObject({ subscribed: true });
  });

  it('changes no subscription where it may not', async () => {
    const email = freshEmail();
    await track({ email, event: 'e' });
    await setRules({ subscribed: false });
    const reply = await track({ email, event: 'e', subscribed: false });
    expect([reply.status, reply.headers.get('everpost-ignored-fields')]).toEqual([200, 'subscribed']);
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
  });

  it('refuses steps whose targets data names, when they are made and when they run', async () => {
    const { body: workflow } = await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'e' } });
    const steps = [
      { type: 'WEBHOOK', config: { url: '{{data.callbackUrl}}' } },
      { type: 'SEND_EMAIL', config: { recipient: { type: 'CUSTOM', customEmail: '{{event.to}}' } } },
    ];
    const allowed = { type: 'WEBHOOK', config: { url: 'https://crm.test/{{data.path}}' } };
    const add = (step: object) => app.api('POST', `/workflows/${workflow.id}/steps`, { body: step });
    for (const step of [...steps, allowed]) expect((await add(step)).status).toBe(201);
    await setRules({ dataTargets: false });
    expect((await add(allowed)).status).toBe(201);
    for (const step of steps) {
      const { status, body } = await add(step);
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('publicKeyRules.dataTargets')]);
    }
  });
});
