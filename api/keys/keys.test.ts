import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { DAY_MS } from '../../shared/pure/days.ts';
import { KeyEntity } from '../../shared/domain/projects/key.entity.ts';
import { KEY_ROLES, type KeyRole } from '../../shared/pure/key-roles.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { query } from '../../tests/support/rows.ts';
import { keyKindOf, rolesOf } from '../http/endpoint.ts';
import { createEndpoints } from '../routes.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';
const HOUR_MS = 3_600_000;
const table = createEndpoints(testConfig()).map(
  (definition) => [`${definition.method.toUpperCase()} ${definition.path}`, definition] as const,
);

let app: TestApi;
/** Another API process on the same database. */
let second: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 100_000 } });
  second = await startTestApi({ database: app.database });
});
afterAll(async () => {
  await second.stop();
  await app.stop();
});

async function createKey(owner: TestProject, role: KeyRole, more: object = {}) {
  const reply = await owner.api('POST', '/keys', { body: { name: `A ${role} key`, role, ...more } });
  expect(reply.status).toBe(201);
  return reply.body as { id: string; key: string };
}

/** The ids of the two keys that come with a project. */
async function firstKeys(owner: TestProject) {
  const { body } = await owner.api('GET', '/keys');
  const idOf = (role: KeyRole): string => body.find((key: { role: string }) => key.role === role).id;
  return { full: idOf('full'), track: idOf('track') };
}

const inOneHour = () => new Date(Date.now() + HOUR_MS).toISOString();
const mail = (from: string) => ({ to: 'ada@mail.test', subject: 'S', body: 'B', from });

describe('every role', () => {
  let keys: Record<KeyRole, string>;
  beforeAll(async () => {
    const created = await Promise.all(KEY_ROLES.map(async (role) => [role, (await createKey(app, role)).key] as const));
    keys = Object.fromEntries(created) as Record<KeyRole, string>;
  });

  it.each(table)('may call what the declaration says, and nothing else: %s', async (name, definition) => {
    const path = definition.path.replaceAll(/:(\w+)/g, (_, part: string) => (part === 'eventName' ? 'e' : UNKNOWN_ID));
    for (const role of KEY_ROLES) {
      const reply = await app.api(definition.method, path, {
        key: keys[role],
        ...(definition.method !== 'get' && { body: {} }),
      });
      const isOtherKind = (role === 'track') !== (keyKindOf(definition) === 'public');
      const mayCall = rolesOf(definition).includes(role);
      const { code, message, details } = reply.body?.error ?? {};
      if (isOtherKind) expect([role, reply.status, code]).toEqual([role, 401, 'INVALID_API_KEY']);
      // Each key may end itself only, as the test of that says.
      else if (definition.operationId === 'endKey' && role !== 'full')
        expect([role, code]).toEqual([role, 'ROLE_REFUSED']);
      else if (mayCall) expect([role, reply.status, code]).not.toEqual([role, 403, 'ROLE_REFUSED']);
      else {
        expect([role, reply.status, code]).toEqual([role, 403, 'ROLE_REFUSED']);
        expect(details).toEqual({ role, roles: rolesOf(definition) });
        expect(message).toContain(name);
      }
    }
  });

  it('may ask which key it is, but for public keys', async () => {
    for (const role of KEY_ROLES.filter((each) => each !== 'track')) {
      const { body } = await app.api('GET', '/users/@me/projects', { key: keys[role] });
      expect(body[0].key).toMatchObject({ name: `A ${role} key`, role });
    }
  });

  it('support changes whether a contact is subscribed, and nothing else of it', async () => {
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'sue@mail.test' } });
    const patch = (body: object) => app.api('PATCH', `/contacts/${contact.id}`, { key: keys.support, body });
    expect((await patch({ subscribed: false })).body.subscribed).toBe(false);
    const refused = await patch({ subscribed: true, data: { vip: true } });
    expect([refused.status, refused.body.error.details]).toEqual([
      403,
      { role: 'support', roles: ['full', 'marketing'], fields: ['data'] },
    ]);
    expect((await app.api('GET', `/contacts/${contact.id}`)).body).toMatchObject({ subscribed: false, data: {} });
  });

  it('send reads and changes the emails that were sent with its key, and no other', async () => {
    const scheduledAt = new Date(Date.now() + DAY_MS).toISOString();
    const send = (key: string) =>
      app.api('POST', '/v1/send', { key, body: { ...mail('hello@example.com'), scheduledAt } });
    const other = await createKey(app, 'send');
    const [own, foreign] = [(await send(keys.send)).body, (await send(other.key)).body];
    const idOf = (sent: typeof own): string => sent.data.emails[0].email;
    const read = (path: string, key: string) => app.api('GET', path, { key });
    expect((await read(`/emails/${idOf(own)}`, keys.send)).status).toBe(200);
    expect((await read(`/emails/${idOf(foreign)}`, keys.send)).status).toBe(404);
    expect((await read(`/emails/${idOf(foreign)}`, keys.full)).status).toBe(200);
    const list = await read('/emails', keys.send);
    expect(list.body.emails.map(({ id }: { id: string }) => id)).toEqual([idOf(own)]);
    const found = await app.api('POST', '/emails/search', { key: keys.send, body: { address: 'ada@mail.test' } });
    expect(found.body.emails.map(({ id }: { id: string }) => id)).toEqual([idOf(own)]);
    const change = async (sent: typeof own, key: string) => [
      (await app.api('PATCH', `/emails/${idOf(sent)}`, { key, body: { scheduledAt } })).status,
      (await app.api('POST', `/emails/${idOf(sent)}/cancel`, { key })).status,
    ];
    expect(await change(foreign, keys.send)).toEqual([404, 404]);
    expect(await change(own, keys.send)).toEqual([200, 200]);
    expect(await change(foreign, keys.full)).toEqual([200, 200]);
  });

  it('track obeys the rules of the public key and is open to browsers', async () => {
    const owner = await app.createProject();
    const { key } = await createKey(owner, 'track');
    await owner.api('PATCH', `/users/@me/projects/${owner.project.id}`, {
      body: { publicKeyRules: { fields: ['a'] } },
    });
    const tracked = await owner.api('POST', '/v1/track', {
      key,
      body: { email: 'a@mail.test', event: 'e', data: { a: 1, b: 2 } },
    });
    expect(tracked.headers.get('everpost-ignored-fields')).toBe('data.b');
    expect(tracked.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('POST /keys', () => {
  it('shows the key once, and stores its hash', async () => {
    const owner = await app.createProject();
    const expiresAt = inOneHour();
    const reply = await owner.api('POST', '/keys', {
      body: { name: ' Shop ', role: 'send', senderDomains: ['Example.com'], expiresAt },
    });
    expect([reply.status, reply.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Shop',
        role: 'send',
        senderDomains: ['example.com'],
        expiresAt,
        lastUsedAt: null,
        isCurrent: false,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        key: expect.stringMatching(/^sk_[0-9a-f]{64}$/),
      },
    ]);
    const { key, ...shown } = reply.body;
    expect(reply.headers.get('location')).toBe(`/keys/${shown.id}`);
    expect((await owner.api('GET', `/keys/${shown.id}`)).body).toEqual(shown);
    const rows = await query(app.em(), sql`select to_jsonb(k)::text as text from api_key k`);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it.each<[string, object, string]>([
    ['no name', { role: 'full' }, 'name'],
    ['a blank name', { name: ' ', role: 'full' }, 'name'],
    ['a long name', { name: 'x'.repeat(101), role: 'full' }, 'name'],
    ['a name of two lines', { name: 'K\nL', role: 'full' }, 'name'],
    ['a name that reverses what follows', { name: 'K\u202E', role: 'full' }, 'name'],
    ['no role', { name: 'K' }, 'role'],
    ['an unknown role', { name: 'K', role: 'admin' }, 'role'],
    [
      'domains of a role that does not send',
      { name: 'K', role: 'full', senderDomains: ['a.example'] },
      'senderDomains',
    ],
    ['no domain', { name: 'K', role: 'send', senderDomains: [] }, 'senderDomains'],
    ['no domain name', { name: 'K', role: 'send', senderDomains: ['a b'] }, 'senderDomains.0'],
    ['too many domains', { name: 'K', role: 'send', senderDomains: Array(101).fill('a.example') }, 'senderDomains'],
    ['an end in the past', { name: 'K', role: 'full', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['no date', { name: 'K', role: 'full', expiresAt: 'tomorrow' }, 'expiresAt'],
  ])('refuses %s', async (_case, body, field) => {
    const reply = await app.api('POST', '/keys', { body });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it('creates a hundred keys at most, also at once', async () => {
    const owner = await app.createProject();
    const body = { name: 'K', role: 'read' };
    await Promise.all(Array.from({ length: 105 }, () => owner.api('POST', '/keys', { body })));
    expect(await app.em().count(KeyEntity, { projectId: owner.project.id })).toBe(100);
    const { body: refused } = await owner.api('POST', '/keys', { body });
    expect(refused.error.errors[0]).toMatchObject({ field: 'name', code: 'too_big' });
  });
});

describe('a key', () => {
  it('is refused by every process from the moment it is ended, and others go on', async () => {
    const owner = await app.createProject();
    const [old, next] = [await createKey(owner, 'marketing'), await createKey(owner, 'marketing')];
    const asked = async (key: string) => {
      const replies = [app, second].map((process) => process.api('GET', '/contacts', { key }));
      return (await Promise.all(replies)).map(({ status }) => status);
    };
    expect([await asked(old.key), await asked(next.key)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    expect((await owner.api('DELETE', `/keys/${old.id}`)).status).toBe(204);
    expect([await asked(old.key), await asked(next.key)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    expect((await owner.api('GET', `/keys/${old.id}`)).status).toBe(404);
    expect((await owner.api('DELETE', `/keys/${old.id}`)).status).toBe(404);
  });

  it('ends itself, and no other key unless its role is full; a public key ends none', async () => {
    const owner = await app.createProject();
    const other = await createKey(owner, 'read');
    for (const role of ['send', 'marketing', 'support', 'read'] as const) {
      const { id, key } = await createKey(owner, role);
      const refused = await owner.api('DELETE', `/keys/${other.id}`, { key });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'ROLE_REFUSED']);
      expect((await owner.api('DELETE', `/keys/${id.toUpperCase()}`, { key })).status).toBe(204);
      expect((await owner.api('DELETE', `/keys/${id}`, { key })).status).toBe(401);
    }
    const open = await createKey(owner, 'track');
    expect((await owner.api('DELETE', `/keys/${open.id}`, { key: open.key })).status).toBe(401);
    expect((await owner.api('GET', `/keys/${other.id}`)).status).toBe(200);
  });

  it('says that it has expired, counts against no limit then, and works again when its end is later', async () => {
    const owner = await app.createProject();
    const { id, key } = await createKey(owner, 'read', { expiresAt: inOneHour() });
    expect((await owner.api('GET', '/contacts', { key })).status).toBe(200);
    await query(app.em(), sql`update api_key set expires_at = now() - interval '1 second' where id = ${id}`);
    const used = (await owner.api('GET', '/contacts')).headers.get('ratelimit-remaining');
    const expired = await owner.api('GET', '/contacts', { key });
    expect([expired.status, expired.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    expect(expired.body.error.message).toMatch(/^The API key expired at 2/);
    const after = (await owner.api('GET', '/contacts')).headers.get('ratelimit-remaining');
    expect(Number(after)).toBe(Number(used) - 1);
    await owner.api('PATCH', `/keys/${id}`, { body: { expiresAt: null } });
    expect((await owner.api('GET', '/contacts', { key })).status).toBe(200);
  });

  it('shows when it was last used', async () => {
    const owner = await app.createProject();
    const { id, key } = await createKey(owner, 'read');
    await owner.api('GET', '/contacts', { key });
    const lastUse = async () => Date.parse((await owner.api('GET', `/keys/${id}`)).body.lastUsedAt);
    const noted = await lastUse();
    expect(Math.abs(Date.now() - noted)).toBeLessThan(60_000);
    // Within a minute nothing more is written.
    await owner.api('GET', '/contacts', { key });
    expect(await lastUse()).toBe(noted);
    await query(app.em(), sql`update api_key set last_used_at = now() - interval '1 hour' where id = ${id}`);
    await owner.api('GET', '/contacts', { key });
    expect(await lastUse()).toBeGreaterThanOrEqual(noted);
  });

  it('gets another name and other domains, but no domains where its role does not send', async () => {
    const owner = await app.createProject();
    const [send, read] = [await createKey(owner, 'send'), await createKey(owner, 'read')];
    const patch = (id: string, body: object) => owner.api('PATCH', `/keys/${id}`, { body });
    const changed = await patch(send.id, { name: 'Till', senderDomains: ['example.com'] });
    expect(changed.body).toMatchObject({ name: 'Till', senderDomains: ['example.com'], role: 'send' });
    const spellings = ['Bücher.example', 'xn--bcher-kva.example.', 'BÜCHER。EXAMPLE。', 'example.com', 'example.com'];
    const once = ['xn--bcher-kva.example', 'example.com'];
    expect((await patch(send.id, { senderDomains: spellings })).body.senderDomains).toEqual(once);
    const created = await owner.api('POST', '/keys', { body: { name: 'B', role: 'send', senderDomains: spellings } });
    expect(created.body.senderDomains).toEqual(once);
    expect((await patch(send.id, { role: 'full' })).headers.get('everpost-ignored-fields')).toBe('role');
    expect((await patch(send.id, { senderDomains: null })).body.senderDomains).toBeNull();
    expect((await patch(read.id, { senderDomains: ['example.com'] })).status).toBe(422);
    const stranger = await app.createProject();
    expect((await stranger.api('PATCH', `/keys/${send.id}`, { body: { name: 'Mine' } })).status).toBe(404);
    expect((await stranger.api('DELETE', `/keys/${send.id}`)).status).toBe(404);
  });

  it('sends from its domains only, also by the sender of a template', async () => {
    const owner = await app.createProject();
    const { key } = await createKey(owner, 'send', { senderDomains: ['mail.example.org'] });
    const send = (body: object) => owner.api('POST', '/v1/send', { key, body });
    const refusal = {
      code: 'ROLE_REFUSED',
      details: { domain: 'example.com', senderDomains: ['mail.example.org'] },
      message: expect.stringContaining('example.com'),
    };
    const refused = await send(mail('hello@Example.com'));
    expect([refused.status, refused.body.error]).toMatchObject([403, refusal]);
    const { body: template } = await owner.api('POST', '/templates', {
      body: { name: 'T', subject: 'S', body: 'B', from: 'hello@example.com' },
    });
    const many = Array.from({ length: 20 }, (_, at) => `a${at}@mail.test`);
    expect((await send({ to: many, template: template.id })).body.error).toMatchObject(refusal);
    expect((await send({ to: 'a@mail.test', template: template.id })).body.error).toMatchObject(refusal);
    // Its own domain is still checked as everywhere.
    expect((await send(mail('hello@mail.example.org'))).body.error.details.reason).toBe('DOMAIN_NOT_REGISTERED');
    expect((await owner.api('POST', '/v1/send', { body: mail('hello@example.com') })).status).toBe(200);
  });
});

describe('the full key that works longest', () => {
  it('is not ended, until another one works as long', async () => {
    const owner = await app.createProject();
    const { full } = await firstKeys(owner);
    const refused = await owner.api('DELETE', `/keys/${full}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
    const next = await createKey(owner, 'full', { expiresAt: inOneHour() });
    expect((await owner.api('DELETE', `/keys/${full}`)).status).toBe(409);
    const short = await createKey(owner, 'full', { expiresAt: inOneHour() });
    expect((await owner.api('DELETE', `/keys/${short.id}`, { key: short.key })).status).toBe(204);
    await owner.api('PATCH', `/keys/${next.id}`, { body: { expiresAt: null } });
    expect((await owner.api('DELETE', `/keys/${full}`)).status).toBe(204);
    expect((await owner.api('GET', '/keys')).status).toBe(401);
    expect((await owner.api('GET', '/keys', { key: next.key })).status).toBe(200);
  });

  it('is left when two of them end each other at the same time', async () => {
    const owner = await app.createProject();
    const { full } = await firstKeys(owner);
    const next = await createKey(owner, 'full');
    const replies = await Promise.all([
      owner.api('DELETE', `/keys/${full}`),
      second.api('DELETE', `/keys/${next.id}`, { key: next.key }),
    ]);
    expect(replies.map(({ status }) => status).sort()[0]).toBe(204);
    const left = await app.em().find(KeyEntity, { projectId: owner.project.id, role: 'full' });
    expect(left).toHaveLength(1);
  });

  it('gets no earlier end, whichever key that is, so that no steps lead to a lock-out', async () => {
    const owner = await app.createProject();
    const { full } = await firstKeys(owner);
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const patch = (id: string, expiresAt: string | null) => owner.api('PATCH', `/keys/${id}`, { body: { expiresAt } });
    const next = await createKey(owner, 'full', { expiresAt: inHours(2) });
    expect((await patch(full, inHours(3))).status).toBe(409);
    expect((await patch(next.id, inHours(1))).status).toBe(200);
    expect((await patch(next.id, null)).status).toBe(200);
    expect((await patch(full, inHours(1))).status).toBe(200);
    expect((await patch(next.id, inHours(5))).status).toBe(409);
    expect((await patch(full, inHours(2))).status).toBe(200);
    const read = await createKey(owner, 'read');
    expect((await patch(read.id, inHours(1))).status).toBe(200);
  });
});

describe('the two keys that come with a project', () => {
  it('are listed as full and track', async () => {
    const owner = await app.createProject();
    const { body } = await owner.api('GET', '/keys');
    expect(body).toMatchObject([
      { name: 'Secret key', role: 'full', isCurrent: true, expiresAt: null },
      { name: 'Public key', role: 'track', isCurrent: false, expiresAt: null },
    ]);
  });

  it('are replaced together, and further keys stay', async () => {
    const owner = await app.createProject();
    const before = await firstKeys(owner);
    const further = await createKey(owner, 'read');
    await owner.api('DELETE', `/keys/${before.track}`);
    const track = (key: string) => owner.api('POST', '/v1/track', { key, body: { email: 'a@mail.test', event: 'e' } });
    expect((await track('public')).status).toBe(401);
    const { body } = await owner.api('POST', `/users/@me/projects/${owner.project.id}/regenerate-keys`);
    expect((await owner.api('GET', '/keys')).status).toBe(401);
    expect([(await owner.api('GET', '/keys', { key: body.secret })).status, (await track(body.public)).status]).toEqual(
      [200, 200],
    );
    expect((await owner.api('GET', '/keys', { key: further.key })).status).toBe(200);
    const after = await owner.api('GET', '/keys', { key: body.secret });
    expect(after.body.map(({ role }: { role: string }) => role).sort()).toEqual(['full', 'read', 'track']);
  });

  it('stay ended when another setting of the project changes', async () => {
    const owner = await app.createProject();
    const { track } = await firstKeys(owner);
    await owner.api('DELETE', `/keys/${track}`);
    await owner.api('PATCH', `/users/@me/projects/${owner.project.id}`, { body: { displayName: 'Tea' } });
    await query(app.em(), sql`update project set public_key = public_key, secret_key_hash = secret_key_hash`);
    expect((await owner.api('GET', '/keys')).body).toHaveLength(1);
  });
});
