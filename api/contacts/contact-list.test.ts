import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

interface Seed {
  email: string;
  subscribed?: boolean;
  createdAt?: Date;
}

async function seeded(seeds: Seed[]): Promise<TestProject> {
  const owner = await app.createProject();
  const em = app.em();
  for (const { email, subscribed = true, createdAt = new Date() } of seeds) {
    em.create(ContactEntity, { projectId: owner.project.id, email, subscribed, data: {}, createdAt });
  }
  await em.flush();
  return owner;
}

async function walk(owner: TestProject, parameters: string): Promise<string[]> {
  const emails: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    const reply = await owner.api('GET', `/contacts?${parameters}${cursor ? `&cursor=${cursor}` : ''}`);
    expect(reply.status).toBe(200);
    if (page > 0) expect(reply.body.total).toBe(0);
    emails.push(...reply.body.data.map((contact: { email: string }) => contact.email));
    if (!reply.body.hasMore) return emails;
    cursor = reply.body.cursor;
  }
}

async function found(owner: TestProject, parameters: string): Promise<string[]> {
  const reply = await owner.api('GET', `/contacts?sort=email&dir=asc&${parameters}`);
  expect(reply.body.total).toBe(reply.body.data.length);
  return reply.body.data.map((contact: { email: string }) => contact.email);
}

describe('GET /contacts', () => {
  const sameMoment = new Date('2026-01-01T00:00:00.123Z');
  const emails = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}@example.com`);

  it.each(['sort=email&dir=asc', 'sort=email&dir=desc', 'sort=createdAt&dir=asc', 'sort=createdAt&dir=desc'])(
    'walks every contact once by %s, also those of one moment',
    async (order) => {
      const owner = await seeded(
        emails.map((email, index) => ({
          email,
          createdAt: index < 5 ? sameMoment : new Date(sameMoment.getTime() + index),
        })),
      );
      const whole = await walk(owner, `${order}&limit=100`);
      expect(await walk(owner, `${order}&limit=2`)).toEqual(whole);
      expect(await walk(owner, `${order}&limit=1`)).toEqual(whole);
      expect(new Set(whole)).toEqual(new Set(emails));
      if (order.startsWith('sort=email')) expect(whole).toEqual(order.endsWith('asc') ? emails : [...emails].reverse());
    },
  );

  it('neither repeats nor skips when contacts come and go between pages', async () => {
    const owner = await seeded(
      emails.map((email, index) => ({ email, createdAt: new Date(sameMoment.getTime() + index) })),
    );
    const first = await owner.api('GET', '/contacts?limit=3');
    const removed = first.body.data[2];
    await owner.api('DELETE', `/contacts/${removed.id}`);
    await owner.api('POST', '/contacts', { body: { email: 'new@example.com' } });
    const second = await owner.api('GET', `/contacts?limit=3&cursor=${first.body.cursor}`);
    expect(second.body.data.map((contact: { email: string }) => contact.email)).toEqual(
      ['d', 'c', 'b'].map((name) => `${name}@example.com`),
    );
  });

  it('answers the newest first by default and falls back for unknown sort and dir', async () => {
    const owner = await seeded(
      emails.map((email, index) => ({ email, createdAt: new Date(sameMoment.getTime() + index) })),
    );
    const byDefault = await owner.api('GET', '/contacts');
    expect(byDefault.body).toMatchObject({ total: 7, hasMore: false, cursor: '' });
    expect(byDefault.body.data[0].email).toBe('g@example.com');
    const unknown = await owner.api('GET', '/contacts?sort=shoeSize&dir=sideways&unknown=1');
    expect(unknown.body.data).toEqual(byDefault.body.data);
  });

  it('clamps the limit at 100 and defaults to 20', async () => {
    const owner = await seeded(Array.from({ length: 105 }, (_, n) => ({ email: `n${n}@example.com` })));
    expect((await owner.api('GET', '/contacts?limit=100000')).body.data).toHaveLength(100);
    const byDefault = await owner.api('GET', '/contacts');
    expect([byDefault.body.data.length, byDefault.body.total, byDefault.body.hasMore]).toEqual([20, 105, true]);
  });

  it.each(['limit=0', 'limit=-1', 'limit=1.5', 'limit=many', 'subscribed=perhaps', 'limit=1&limit=2', 'search=%00'])(
    'refuses %s',
    async (parameters) => {
      const reply = await app.api('GET', `/contacts?${parameters}`);
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, parameters.split('=')[0]]);
    },
  );

  it('searches a part of the address, whatever its case', async () => {
    const owner = await seeded(
      ['100%@example.com', '100x@example.com', 'a_b@example.com', 'axb@example.com', 'c|d@example.com'].map(
        (email) => ({ email }),
      ),
    );
    expect(await found(owner, 'search=EXAMPLE')).toHaveLength(5);
    expect(await found(owner, 'search=')).toHaveLength(5);
    expect(await found(owner, 'search=%25')).toEqual(['100%@example.com']);
    expect(await found(owner, 'search=a_b')).toEqual(['a_b@example.com']);
    expect(await found(owner, `search=${encodeURIComponent('\\')}`)).toEqual([]);
    expect(await found(owner, `search=${encodeURIComponent("' or 1=1 --")}`)).toEqual([]);
  });

  it('filters by subscription', async () => {
    const owner = await seeded([{ email: 'in@example.com' }, { email: 'out@example.com', subscribed: false }]);
    expect(await found(owner, 'subscribed=true')).toEqual(['in@example.com']);
    expect(await found(owner, 'subscribed=false')).toEqual(['out@example.com']);
    expect(await found(owner, 'subscribed=false&search=in')).toEqual([]);
  });

  it('shows only contacts of the project', async () => {
    await seeded([{ email: 'theirs@example.com' }]);
    const owner = await seeded([{ email: 'ours@example.com' }]);
    expect(await found(owner, '')).toEqual(['ours@example.com']);
  });

  const cursorOf = (place: unknown) => Buffer.from(JSON.stringify(place)).toString('base64url');
  const id = '01890000-0000-7000-8000-000000000000';
  it.each([
    'garbage',
    '%F0%9F%92%A9',
    cursorOf(null),
    cursorOf({ sort: 'email', value: 'a' }),
    cursorOf({ sort: 'email', value: 'a\0', id }),
    cursorOf({ sort: 'createdAt', value: 'yesterday', id }),
    cursorOf({ sort: 'createdAt', value: '0000-01-01T00:00:00.000Z', id }),
    cursorOf({ sort: 'shoeSize', value: '1', id }),
    cursorOf({ sort: 'email', value: 'a', id: "' or true" }),
  ])('refuses the cursor %s', async (cursor) => {
    const reply = await app.api('GET', `/contacts?cursor=${cursor}`);
    expect([reply.status, reply.body.error.code, reply.body.error.details]).toEqual([
      400,
      'BAD_REQUEST',
      { field: 'cursor' },
    ]);
  });
});
