import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/domain/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const filters = (...list: unknown[]) => ({ logic: 'AND', groups: [{ filters: list }] });
const isPro = filters({ field: 'data.plan', operator: 'equals', value: 'pro' });

async function createSegment(owner: TestProject, body: object) {
  const reply = await owner.api('POST', '/segments', { body: { name: 'S', ...body } });
  expect(reply.status).toBe(201);
  return reply.body;
}

async function createContact(owner: TestProject, email: string, data: object = {}): Promise<string> {
  const reply = await owner.api('POST', '/contacts', { body: { email, data } });
  return reply.body.id;
}

async function eventsOf(owner: TestProject): Promise<{ name: string; contactId: string; data: unknown }[]> {
  return query(
    app.em(),
    sql`
      select name, contact_id as "contactId", data from event
      where project_id = ${owner.project.id} and name like 'segment.%' order by id`,
  );
}

describe('POST /segments', () => {
  it('creates a dynamic segment by default', async () => {
    const { api, project } = await app.createProject();
    const reply = await api('POST', '/segments', { body: { name: '  Pro  ', condition: isPro, junk: 1 } });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pro',
      description: null,
      type: 'DYNAMIC',
      condition: isPro,
      trackMembership: false,
      memberCount: 0,
      computeError: null,
      projectId: project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await api('GET', `/segments/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it('creates a static one, whatever comes as its condition', async () => {
    const created = await createSegment(app, { type: 'STATIC', condition: { logic: 'XOR' }, trackMembership: true });
    expect(created).toMatchObject({ type: 'STATIC', condition: null, trackMembership: true });
  });

  it.each([
    [{}, 'Name is required'],
    [{ name: ' ' }, 'Name is required'],
    [{ name: null, condition: isPro }, 'Name is required'],
    [{ name: 'A' }, 'Condition is required and must be an object for DYNAMIC segments'],
    [{ name: 'A', condition: null }, 'Condition is required and must be an object for DYNAMIC segments'],
    [
      { name: 'A', condition: 'x', type: 'DYNAMIC' },
      'Condition is required and must be an object for DYNAMIC segments',
    ],
    [{ name: 'A', condition: [isPro] }, 'Condition is required and must be an object for DYNAMIC segments'],
  ])('answers %j in the flat form', async (body, error) => {
    const reply = await app.api('POST', '/segments', { body });
    expect([reply.status, reply.body]).toEqual([400, { error }]);
  });

  it.each([
    [{ name: 'x'.repeat(101), condition: isPro }, 'name'],
    [{ name: 5, condition: isPro }, 'name'],
    [{ name: 'A', description: 'x'.repeat(501), condition: isPro }, 'description'],
    [{ name: 'A', type: 'OTHER', condition: isPro }, 'type'],
    [{ name: 'A', condition: isPro, trackMembership: 'yes' }, 'trackMembership'],
    [{ name: 'A', condition: {} }, 'condition.logic'],
    [{ name: 'A', condition: { logic: 'AND', groups: [] } }, 'condition.groups'],
    [
      { name: 'A', condition: filters({ field: 'email', operator: 'like', value: 'x' }) },
      'condition.groups.0.filters.0.operator',
    ],
  ])('refuses %j with 422 naming %s', async (body, field) => {
    const reply = await app.api('POST', '/segments', { body });
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error.errors.map((error: { field: string }) => error.field)).toContain(field);
  });

  it('refuses a condition without meaning with 400 and the place in the tree', async () => {
    const condition = {
      logic: 'OR',
      groups: [{ filters: [], conditions: filters({ field: 'nonsense', operator: 'equals', value: 1 }) }],
    };
    const reply = await app.api('POST', '/segments', { body: { name: 'A', condition } });
    expect(reply.status).toBe(400);
    expect(reply.body.error.message).toMatch(/^condition\.groups\[0\]\.conditions\.groups\[0\]\.filters\[0\]\.field: /);
  });

  it('refuses a reference to a segment of nobody or of another project', async () => {
    const stranger = await app.createProject();
    const theirs = await createSegment(stranger, { type: 'STATIC' });
    for (const value of [UNKNOWN_ID, theirs.id]) {
      const condition = filters({ field: 'segment', operator: 'memberOfSegment', value });
      const reply = await app.api('POST', '/segments', { body: { name: 'A', condition } });
      expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });
});

describe('GET /segments', () => {
  it('answers a bare array, newest first, of this project only', async () => {
    const owner = await app.createProject();
    expect((await owner.api('GET', '/segments')).body).toEqual([]);
    const first = await createSegment(owner, { name: 'First', type: 'STATIC' });
    const second = await createSegment(owner, { name: 'Second', type: 'STATIC' });
    const reply = await owner.api('GET', '/segments?page=2');
    expect([reply.status, reply.body]).toEqual([200, [second, first]]);
  });
});

describe('PATCH /segments/:id', () => {
  it('changes what is given and nothing else', async () => {
    const segment = await createSegment(app, { condition: isPro, description: 'old' });
    const condition = filters({ field: 'data.plan', operator: 'exists' });
    const reply = await app.api('PATCH', `/segments/${segment.id}`, {
      body: { name: 'New', condition, type: 'STATIC', memberCount: 7 },
    });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...segment, name: 'New', condition, updatedAt: expect.any(String) });
    expect(
      (await app.api('PATCH', `/segments/${segment.id}`, { body: { description: null } })).body.description,
    ).toBeNull();
    expect((await app.api('GET', `/segments/${segment.id}`)).body).toMatchObject({
      name: 'New',
      description: null,
      condition,
    });
  });

  it('refuses a condition for a static segment and a name that is too long', async () => {
    const segment = await createSegment(app, { type: 'STATIC' });
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { condition: isPro } })).status).toBe(400);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { condition: null } })).status).toBe(200);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { name: 'x'.repeat(101) } })).status).toBe(422);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { name: '' } })).status).toBe(422);
  });

  it('refuses a cycle, however long', async () => {
    const a = await createSegment(app, { condition: isPro });
    const refersTo = (id: string) => filters({ field: `segment.${id}`, operator: 'memberOfSegment' });
    const b = await createSegment(app, { condition: refersTo(a.id) });
    const c = await createSegment(app, { condition: refersTo(b.id) });
    for (const id of [a.id, c.id]) {
      const reply = await app.api('PATCH', `/segments/${a.id}`, { body: { condition: refersTo(id) } });
      expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining('depend on itself')]);
    }
  });
});

describe('GET /segments/:id/contacts', () => {
  it('evaluates a dynamic segment live, by page', async () => {
    const owner = await app.createProject();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.push(await createContact(owner, `c${i}@x.test`, { plan: i === 2 ? 'free' : 'pro' }));
    const segment = await createSegment(owner, { condition: isPro });
    const page = (search: string) => owner.api('GET', `/segments/${segment.id}/contacts${search}`);
    const first = await page('?pageSize=3');
    expect(first.body).toMatchObject({ page: 1, pageSize: 3, total: 4, totalPages: 2 });
    expect(first.body.data.map((contact: { id: string }) => contact.id)).toEqual([ids[4], ids[3], ids[1]]);
    expect(Object.keys(first.body.data[0]).sort()).toEqual([
      'createdAt',
      'data',
      'email',
      'id',
      'subscribed',
      'updatedAt',
    ]);
    const second = await page('?pageSize=3&page=2');
    expect(second.body.data.map((contact: { id: string }) => contact.id)).toEqual([ids[0]]);
    expect((await page('?page=9')).body).toEqual({ data: [], page: 9, pageSize: 20, total: 4, totalPages: 1 });
    expect((await page('?pageSize=1000')).body.pageSize).toBe(100);
    expect((await page('?page=0')).status).toBe(422);

    await owner.api('PATCH', `/contacts/${ids[4]}`, { body: { data: { plan: 'free' } } });
    expect((await page('')).body.total).toBe(3);
    // The count on the segment is a cached one.
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(0);
    expect((await owner.api('POST', `/segments/${segment.id}/refresh`)).body).toEqual({ memberCount: 3 });
    expect((await owner.api('GET', `/segments/${segment.id}`)).body).toEqual({ ...segment, memberCount: 3 });
    expect(await eventsOf(owner)).toEqual([]);
  });

  it('answers for a tree of 1,000 filters', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'one@x.test', { k999: 'v' });
    await createContact(owner, 'none@x.test');
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      filters: [{ field: `data.k${i}`, operator: 'equals', value: 'v' }],
    }));
    const segment = await createSegment(owner, { condition: { logic: 'OR', groups: many } });
    const reply = await owner.api('GET', `/segments/${segment.id}/contacts`);
    expect(reply.body.data.map((contact: { id: string }) => contact.id)).toEqual([id]);
    const tooMany = { logic: 'OR', groups: [...many, ...many.slice(0, 1)] };
    expect((await owner.api('POST', '/segments', { body: { name: 'A', condition: tooMany } })).status).toBe(422);
  });
});

describe('/segments/:id/members', () => {
  it('adds and removes by address, each once', async () => {
    const owner = await app.createProject();
    const a = await createContact(owner, 'a@x.test');
    const b = await createContact(owner, 'b@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    const path = `/segments/${segment.id}/members`;
    const add = (body: object) => owner.api('POST', path, { body });

    const first = await add({ emails: [' A@X.test ', 'a@x.test', 'Nobody@x.test'] });
    expect([first.status, first.body]).toEqual([200, { added: 1, created: 0, notFound: ['Nobody@x.test'] }]);
    expect((await add({ emails: ['a@x.test', 'b@x.test'] })).body).toEqual({ added: 1, created: 0, notFound: [] });
    expect((await add({ emails: [] })).body).toEqual({ added: 0, created: 0, notFound: [] });

    const listed = await owner.api('GET', `/segments/${segment.id}/contacts`);
    expect(listed.body.total).toBe(2);
    expect(listed.body.data.map((contact: { id: string }) => contact.id)).toEqual([b, a]);
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(2);

    const removed = await owner.api('DELETE', path, {
      body: { emails: ['B@x.test', 'b@x.test', 'nobody@x.test', 'no address'] },
    });
    expect([removed.status, removed.body]).toEqual([200, { removed: 1 }]);
    expect((await owner.api('DELETE', path, { body: { emails: ['b@x.test'] } })).body).toEqual({ removed: 0 });
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(1);
    expect((await owner.api('GET', `/contacts/${b}`)).status).toBe(200);
    expect(await eventsOf(owner)).toEqual([]);
  });

  it('creates missing contacts when asked, and leaves the subscription of the others', async () => {
    const owner = await app.createProject();
    await createContact(owner, 'there@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    const reply = await owner.api('POST', `/segments/${segment.id}/members`, {
      body: { emails: ['there@x.test', 'New@x.test', 'new@x.test'], createMissing: true, subscribed: false },
    });
    expect(reply.body).toEqual({ added: 2, created: 1, notFound: [] });
    const contacts = (await owner.api('GET', '/contacts?sort=email&dir=asc')).body.data;
    expect(
      contacts.map((contact: { email: string; subscribed: boolean }) => [contact.email, contact.subscribed]),
    ).toEqual([
      ['new@x.test', false],
      ['there@x.test', true],
    ]);
  });

  it('emits entry and exit of a tracked static segment', async () => {
    const owner = await app.createProject();
    const contactId = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { name: 'VIP Customers!', type: 'STATIC', trackMembership: true });
    const body = { emails: ['a@x.test'] };
    await owner.api('POST', `/segments/${segment.id}/members`, { body });
    await owner.api('POST', `/segments/${segment.id}/members`, { body });
    await owner.api('DELETE', `/segments/${segment.id}/members`, { body });
    const data = { segmentId: segment.id, segmentName: 'VIP Customers!' };
    expect(await eventsOf(owner)).toEqual([
      { name: 'segment.vip-customers.entry', contactId, data },
      { name: 'segment.vip-customers.exit', contactId, data },
    ]);
  });

  it('refuses a dynamic segment, faulty addresses and too many', async () => {
    const dynamic = await createSegment(app, { condition: isPro });
    const body = { emails: ['a@x.test'] };
    expect((await app.api('POST', `/segments/${dynamic.id}/members`, { body })).status).toBe(400);
    expect((await app.api('DELETE', `/segments/${dynamic.id}/members`, { body })).status).toBe(400);
    const fixed = await createSegment(app, { type: 'STATIC' });
    const faulty = await app.api('POST', `/segments/${fixed.id}/members`, {
      body: { emails: ['a@x.test', 'nonsense'] },
    });
    expect([faulty.status, faulty.body.error.errors[0].field]).toEqual([422, 'emails.1']);
    expect((await app.api('POST', `/segments/${fixed.id}/members`, { body: {} })).status).toBe(422);
    const many = Array.from({ length: 10_001 }, (_, i) => `c${i}@x.test`);
    expect((await app.api('POST', `/segments/${fixed.id}/members`, { body: { emails: many } })).status).toBe(422);
    expect((await app.api('POST', `/segments/${UNKNOWN_ID}/members`, { body })).body.error.code).toBe(
      'SEGMENT_NOT_FOUND',
    );
  });

  it('forgets a contact that is deleted', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${segment.id}/members`, { body: { emails: ['a@x.test'] } });
    await owner.api('DELETE', `/contacts/${id}`);
    expect((await owner.api('GET', `/segments/${segment.id}/contacts`)).body.total).toBe(0);
    expect((await owner.api('POST', `/segments/${segment.id}/refresh`)).body).toEqual({ memberCount: 0 });
  });
});

describe('POST /segments/:id/compute', () => {
  it('emits an entry for every match at first, then only what changes', async () => {
    const owner = await app.createProject();
    const a = await createContact(owner, 'a@x.test', { plan: 'pro' });
    const b = await createContact(owner, 'b@x.test', { plan: 'pro' });
    const c = await createContact(owner, 'c@x.test', { plan: 'free' });
    const segment = await createSegment(owner, { name: 'Pro', condition: isPro, trackMembership: true });
    const compute = () => owner.api('POST', `/segments/${segment.id}/compute`);
    expect(await eventsOf(owner)).toEqual([]);

    const first = await compute();
    expect([first.status, first.body]).toEqual([200, { added: 2, removed: 0, total: 2 }]);
    expect((await compute()).body).toEqual({ added: 0, removed: 0, total: 2 });
    await owner.api('PATCH', `/contacts/${a}`, { body: { data: { plan: 'free' } } });
    await owner.api('PATCH', `/contacts/${c}`, { body: { data: { plan: 'pro' } } });
    await owner.api('PATCH', `/segments/${segment.id}`, { body: { name: 'Paying' } });
    expect((await compute()).body).toEqual({ added: 1, removed: 1, total: 2 });
    await owner.api('DELETE', `/contacts/${b}`);
    expect((await compute()).body).toEqual({ added: 0, removed: 0, total: 1 });

    const names = (await eventsOf(owner)).map(({ name, contactId }) => [name, contactId]);
    expect(names.sort()).toEqual(
      [
        ['segment.pro.entry', a],
        ['segment.paying.entry', c],
        ['segment.paying.exit', a],
      ].sort(),
    );
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(1);
    // Nothing is left for the background to do.
    expect(
      await query(app.em(), sql`select from outbox where project_id = ${owner.project.id} and kind = 'segment'`),
    ).toEqual([]);
  });

  it('shares the work of simultaneous calls and emits nothing twice', async () => {
    const owner = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{"plan":"pro"}', now(), now()
        from generate_series(1, 12000) i`,
    );
    const segment = await createSegment(owner, { condition: isPro, trackMembership: true });
    const replies = await Promise.all([1, 2, 3].map(() => owner.api('POST', `/segments/${segment.id}/compute`)));
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200]);
    const added = replies.reduce((sum, reply) => sum + Number(reply.body.added), 0);
    expect(added).toBe(12_000);
    const [row] = await query<{ events: number; contacts: number }>(
      app.em(),
      sql`
        select count(*) as events, count(distinct contact_id) as contacts from event
        where project_id = ${owner.project.id} and name = 'segment.s.entry'`,
    );
    expect(row).toEqual({ events: 12_000, contacts: 12_000 });
  });

  it('is refused for a segment that is static or not tracked', async () => {
    for (const body of [{ type: 'STATIC', trackMembership: true }, { condition: isPro }]) {
      const segment = await createSegment(app, body);
      const reply = await app.api('POST', `/segments/${segment.id}/compute`);
      expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('begins anew when tracking is switched off and on', async () => {
    const owner = await app.createProject();
    await createContact(owner, 'a@x.test', { plan: 'pro' });
    const segment = await createSegment(owner, { condition: isPro, trackMembership: true });
    const path = `/segments/${segment.id}`;
    expect((await owner.api('POST', `${path}/compute`)).body.added).toBe(1);
    await owner.api('PATCH', path, { body: { trackMembership: false } });
    expect((await owner.api('POST', `${path}/refresh`)).body).toEqual({ memberCount: 1 });
    await owner.api('PATCH', path, { body: { trackMembership: true } });
    expect((await owner.api('POST', `${path}/compute`)).body).toEqual({ added: 1, removed: 0, total: 1 });
    expect((await eventsOf(owner)).map((event) => event.name)).toEqual(['segment.s.entry', 'segment.s.entry']);
  });
});

describe('membership of another segment', () => {
  it('reads a tracked segment as computed, and one never computed live', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test', { plan: 'pro' });
    const tracked = await createSegment(owner, { condition: isPro, trackMembership: true });
    const outer = await createSegment(owner, {
      condition: filters({ field: `segment.${tracked.id}`, operator: 'memberOfSegment' }),
    });
    const total = async () => (await owner.api('GET', `/segments/${outer.id}/contacts`)).body.total;
    expect(await total()).toBe(1);
    await owner.api('POST', `/segments/${tracked.id}/compute`);
    await owner.api('PATCH', `/contacts/${id}`, { body: { data: { plan: null } } });
    expect(await total()).toBe(1);
    await owner.api('POST', `/segments/${tracked.id}/compute`);
    expect(await total()).toBe(0);
  });
});

describe('DELETE /segments/:id', () => {
  async function createCampaign(owner: TestProject, body: object, status: string): Promise<void> {
    const reply = await owner.api('POST', '/campaigns', {
      body: { name: 'C', subject: 'S', body: 'B', from: 'me@example.com', ...body },
    });
    await query(app.em(), sql`update campaign set status = ${status} where id = ${reply.body.data.id}`);
  }

  it('deletes the segment and its memberships, not its contacts', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${segment.id}/members`, { body: { emails: ['a@x.test'] } });
    const reply = await owner.api('DELETE', `/segments/${segment.id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.error.code).toBe('SEGMENT_NOT_FOUND');
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(404);
    expect((await owner.api('GET', `/contacts/${id}`)).status).toBe(200);
    expect(await query(app.em(), sql`select from segment_member where segment_id = ${segment.id}`)).toEqual([]);
  });

  it.each(['SCHEDULED', 'SENDING'])('is refused while a campaign that is %s uses it', async (status) => {
    const owner = await app.createProject();
    const segment = await createSegment(owner, { condition: isPro });
    const outer = await createSegment(owner, {
      condition: filters({ field: `segment.${segment.id}`, operator: 'notMemberOfSegment' }),
    });
    const named = filters({ field: 'x', operator: 'memberOfSegment', value: segment.id });
    for (const audience of [
      { audienceType: 'SEGMENT', segmentId: segment.id },
      { audienceType: 'FILTERED', audienceCondition: named },
      { audienceType: 'SEGMENT', segmentId: outer.id },
    ]) {
      await createCampaign(owner, audience, status);
      const reply = await owner.api('DELETE', `/segments/${segment.id}`);
      expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
      expect(reply.body.error.details.campaigns).toEqual([{ id: expect.any(String), name: 'C' }]);
      await query(app.em(), sql`delete from campaign where project_id = ${owner.project.id}`);
    }
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(204);
  });

  it.each(['DRAFT', 'SENT', 'CANCELLED'])('is allowed while a campaign that is %s uses it', async (status) => {
    const owner = await app.createProject();
    const segment = await createSegment(owner, { condition: isPro });
    await createCampaign(owner, { audienceType: 'SEGMENT', segmentId: segment.id }, status);
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(204);
  });
});
