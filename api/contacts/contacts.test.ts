import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';

let app: TestApi;
let addressCount = 0;
const freshEmail = () => `contact-${++addressCount}@example.com`;

beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function createContact(body: Record<string, unknown> = {}): Promise<TestReply['body']> {
  const reply = await app.api('POST', '/contacts', { body: { email: freshEmail(), ...body } });
  expect(reply.status).toBe(201);
  return reply.body;
}

async function eventNamesOf(contactId: string): Promise<string[]> {
  const events = await app.em().find(EventEntity, { contactId }, { orderBy: { id: 'asc' } });
  return events.map((event) => event.name);
}

async function fieldTypeOf(key: string): Promise<string | undefined> {
  const rows = await query(
    app.em(),
    sql`select type from contact_field where project_id = ${app.project.id} and key = ${key}`,
  );
  return rows[0]?.type;
}

describe('POST /contacts', () => {
  it('creates with 201, then updates with 200, and says which', async () => {
    const email = freshEmail();
    const first = await app.api('POST', '/contacts', {
      body: { email: `  ${email.toUpperCase()} `, data: { plan: 'pro' } },
    });
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      email,
      subscribed: true,
      data: { plan: 'pro' },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
      _meta: { isNew: true, isUpdate: false },
    });
    const second = await app.api('POST', '/contacts', { body: { email, data: { seats: 3 } } });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      id: first.body.id,
      data: { plan: 'pro', seats: 3 },
      createdAt: first.body.createdAt,
      _meta: { isNew: false, isUpdate: true },
    });
  });

  it('keeps the subscription of an existing contact unless one is given', async () => {
    const contact = await createContact({ subscribed: false });
    const kept = await app.api('POST', '/contacts', { body: { email: contact.email } });
    expect(kept.body.subscribed).toBe(false);
    expect(await eventNamesOf(contact.id)).toEqual([]);
    const flipped = await app.api('POST', '/contacts', { body: { email: contact.email, subscribed: true } });
    expect(flipped.body.subscribed).toBe(true);
    expect(await eventNamesOf(contact.id)).toEqual(['contact.subscribed']);
  });

  it.each([{}, { email: null }, { email: '   ' }, [], 'text', null])('answers %j in the flat form', async (body) => {
    const reply = await app.api('POST', '/contacts', { body });
    expect([reply.status, reply.body]).toEqual([400, { error: 'Email is required' }]);
  });

  it.each([
    [{ email: 'nobody' }, 'email', 'invalid_string'],
    [{ email: 7 }, 'email', 'invalid_type'],
    [{ email: 'a@example.com', subscribed: 'yes' }, 'subscribed', 'invalid_type'],
    [{ email: 'a@example.com', data: [] }, 'data', 'invalid_type'],
    [{ email: 'a@example.com', data: { '': 1 } }, 'data', 'invalid_key'],
    [{ email: 'a@example.com', data: { ['k'.repeat(201)]: 1 } }, 'data', 'too_big'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email', 'invalid_string'],
    [{ email: 'a@example.com\r\nBcc: b@example.com' }, 'email', 'invalid_string'],
  ])('refuses %j and names the field', async (body, field, code) => {
    const reply = await app.api('POST', '/contacts', { body });
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject({ code: 'VALIDATION_ERROR', statusCode: 422 });
    expect(reply.body.error.errors[0].field.split('.')[0]).toBe(field);
    expect(reply.body.error.errors[0].code).toBe(code);
  });

  it('creates one contact for twenty requests at once, and loses no key', async () => {
    const email = freshEmail();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => app.api('POST', '/contacts', { body: { email, data: { [`k${n}`]: n } } })),
    );
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1);
    const stored = await app.api('GET', `/contacts/${replies[0]?.body.id}`);
    expect(Object.keys(stored.body.data)).toHaveLength(20);
  });
});

describe('custom data', () => {
  async function afterPatch(before: Record<string, unknown>, patch: Record<string, unknown>): Promise<unknown> {
    const contact = await createContact({ data: before });
    const reply = await app.api('PATCH', `/contacts/${contact.id}`, { body: { data: patch } });
    expect(reply.status).toBe(200);
    return reply.body.data;
  }

  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['changes only the keys sent', { a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }],
    [
      'stores texts, numbers and booleans',
      {},
      { s: 'x', n: -1.5, t: true, f: false, z: 0 },
      { s: 'x', n: -1.5, t: true, f: false, z: 0 },
    ],
    [
      'stores objects and arrays',
      {},
      { o: { tier: { level: 2 } }, l: [1, 'a', null] },
      { o: { tier: { level: 2 } }, l: [1, 'a', null] },
    ],
    ['deletes a key for null', { a: 1, b: 2 }, { a: null, missing: null }, { b: 2 }],
    ['ignores an empty text', { a: 'kept' }, { a: '', c: '' }, { a: 'kept' }],
    [
      'does not store what is not persistent',
      { a: 1 },
      { a: { value: 9, persistent: false }, b: { value: 1, persistent: false } },
      { a: 1 },
    ],
    ['stores what is said to be persistent', {}, { a: { value: 9, persistent: true } }, { a: 9 }],
    ['keeps an object that merely has a value', {}, { a: { value: 9 } }, { a: { value: 9 } }],
    ['keeps locale like any key', {}, { locale: 'de-AT' }, { locale: 'de-AT' }],
    [
      'filters reserved keys',
      {},
      { id: 1, svc_id: 1, svc_email: 1, email: 'x', unsubscribeUrl: 'x', subscribeUrl: 'x', manageUrl: 'x', ok: 1 },
      { ok: 1 },
    ],
    [
      'lets core names stand beside the core fields',
      {},
      { subscribed: false, createdAt: 'x' },
      { subscribed: false, createdAt: 'x' },
    ],
    [
      'takes keys with dots, spaces, quotes and other scripts',
      {},
      { 'a.b': 1, 'c d': 2, 'e\'f"': 3, 日本: 4 },
      { 'a.b': 1, 'c d': 2, 'e\'f"': 3, 日本: 4 },
    ],
    [
      'takes names of object methods',
      {},
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
    ],
  ])('%s', async (_rule, before, patch, after) => {
    expect(await afterPatch(before, patch)).toEqual(after);
  });

  it('does not let __proto__ reach a prototype', async () => {
    const post = (data: string) => app.api('POST', '/contacts', { raw: `{"email":"${freshEmail()}","data":${data}}` });
    expect((await post('{"__proto__":{"polluted":true},"a":1}')).status).toBe(422);
    const reply = await post('{"deep":{"__proto__":{"polluted":true}},"a":1}');
    expect(reply.status).toBe(201);
    expect(reply.body.data.a).toBe(1);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('deletes through an explicit persistent null', async () => {
    expect(await afterPatch({ a: 1 }, { a: { value: null, persistent: true } })).toEqual({});
  });

  it.each<[string, unknown, string]>([
    ['number', 42, 'number'],
    ['fraction', 3.14, 'number'],
    ['boolean', false, 'boolean'],
    ['day', '2026-02-28', 'date'],
    ['moment', '2026-02-28T10:11:12Z', 'date'],
    ['momentWithMs', '2026-02-28T10:11:12.345Z', 'date'],
    ['noDay', '2026-13-45', 'string'],
    ['offset', '2026-02-28T10:11:12+01:00', 'string'],
    ['text', 'ada', 'string'],
  ])('infers the type of %s', async (name, value, type) => {
    await createContact({ data: { [`type_${name}`]: value } });
    expect(await fieldTypeOf(`type_${name}`)).toBe(type);
  });

  it('keeps the first type and still stores a value of another', async () => {
    const contact = await createContact({ data: { sticky: 1 } });
    const reply = await app.api('PATCH', `/contacts/${contact.id}`, { body: { data: { sticky: 'two' } } });
    expect(reply.body.data).toEqual({ sticky: 'two' });
    expect(await fieldTypeOf('sticky')).toBe('number');
  });

  it('notes no type for what is not stored', async () => {
    await createContact({ data: { transient: { value: 1, persistent: false }, removed: null, blank: '' } });
    expect([await fieldTypeOf('transient'), await fieldTypeOf('removed'), await fieldTypeOf('blank')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has types of its own in each project', async () => {
    await createContact({ data: { shared: 1 } });
    const other = await app.createProject();
    await other.api('POST', '/contacts', { body: { email: 'x@example.com', data: { shared: 'text' } } });
    const rows = await query(app.em(), sql`select type from contact_field where key = 'shared' order by type`);
    expect(rows.map((row) => row.type)).toEqual(['number', 'string']);
  });
});

describe('/contacts/:id', () => {
  it('answers what was created', async () => {
    const created = await createContact({ data: { a: 1 } });
    const reply = await app.api('GET', `/contacts/${created.id}`);
    expect(reply.status).toBe(200);
    expect({ ...reply.body, _meta: created._meta }).toEqual(created);
  });

  it('changes address, subscription and data in one request', async () => {
    const contact = await createContact();
    const email = freshEmail();
    const reply = await app.api('PATCH', `/contacts/${contact.id}`, {
      body: { email: email.toUpperCase(), subscribed: false, data: { a: 1 } },
    });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ id: contact.id, email, subscribed: false, data: { a: 1 } });
    expect(reply.body).not.toHaveProperty('_meta');
    expect(await eventNamesOf(contact.id)).toEqual(['contact.unsubscribed']);
  });

  it('refuses the address of another contact and then changes nothing', async () => {
    const taken = await createContact();
    const contact = await createContact({ data: { a: 1 } });
    const reply = await app.api('PATCH', `/contacts/${contact.id}`, {
      body: { email: taken.email, subscribed: false, data: { a: 2 } },
    });
    expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
    const after = await app.api('GET', `/contacts/${contact.id}`);
    expect(after.body).toMatchObject({
      email: contact.email,
      subscribed: true,
      data: { a: 1 },
      updatedAt: contact.updatedAt,
    });
    expect(await eventNamesOf(contact.id)).toEqual([]);
  });

  it('takes an address that only another project uses, and its own', async () => {
    const other = await app.createProject();
    const email = freshEmail();
    await other.api('POST', '/contacts', { body: { email } });
    const contact = await createContact();
    expect((await app.api('PATCH', `/contacts/${contact.id}`, { body: { email } })).status).toBe(200);
    expect((await app.api('PATCH', `/contacts/${contact.id}`, { body: { email } })).status).toBe(200);
  });

  it('answers an empty patch with the contact', async () => {
    const contact = await createContact({ data: { a: 1 } });
    const reply = await app.api('PATCH', `/contacts/${contact.id}`);
    expect([reply.status, reply.body.data]).toEqual([200, { a: 1 }]);
  });

  it.each([true, false])(
    'emits exactly one event when twenty requests set subscribed to %s at once',
    async (subscribed) => {
      const contact = await createContact({ subscribed: !subscribed });
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 === 0
            ? app.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed } })
            : app.api('POST', '/contacts', { body: { email: contact.email, subscribed } }),
        ),
      );
      expect(new Set(replies.map((reply) => `${reply.status} ${reply.body.subscribed}`))).toEqual(
        new Set([`200 ${subscribed}`]),
      );
      expect(await eventNamesOf(contact.id)).toEqual([subscribed ? 'contact.subscribed' : 'contact.unsubscribed']);
    },
  );

  it('deletes for good, with its events', async () => {
    const contact = await createContact();
    await app.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed: false } });
    const reply = await app.api('DELETE', `/contacts/${contact.id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expect((await app.api('GET', `/contacts/${contact.id}`)).status).toBe(404);
    expect((await app.api('DELETE', `/contacts/${contact.id}`)).body.error.code).toBe('CONTACT_NOT_FOUND');
    expect(await eventNamesOf(contact.id)).toEqual([]);
    const again = await app.api('POST', '/contacts', { body: { email: contact.email } });
    expect([again.status, again.body.id === contact.id]).toEqual([201, false]);
  });
});
