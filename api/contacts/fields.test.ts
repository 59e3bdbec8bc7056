import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { STANDARD_FIELDS } from '../../shared/pure/filters/filter-target.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

let contactCount = 0;
async function createContact(owner: TestProject, data: object): Promise<string> {
  contactCount += 1;
  const reply = await owner.api('POST', '/contacts', { body: { email: `c${contactCount}@x.test`, data } });
  return reply.body.id;
}

async function fieldsOf(owner: TestProject): Promise<unknown[]> {
  const reply = await owner.api('GET', '/contacts/fields');
  expect(reply.status).toBe(200);
  return reply.body.fields;
}

const custom = (key: string, type: string, coverage: number) => ({
  field: `data.${key}`,
  type,
  isCustom: true,
  coverage,
});
const standard = (coverage: number) => [
  { field: 'email', type: 'string', isCustom: false, coverage },
  { field: 'subscribed', type: 'boolean', isCustom: false, coverage },
  { field: 'pending', type: 'boolean', isCustom: false, coverage },
  { field: 'pausedUntil', type: 'date', isCustom: false, coverage: 0 },
  { field: 'trackingAllowed', type: 'boolean', isCustom: false, coverage: 0 },
  { field: 'createdAt', type: 'date', isCustom: false, coverage },
  { field: 'updatedAt', type: 'date', isCustom: false, coverage },
];

describe('GET /contacts/fields', () => {
  it('lists the standard fields of a project without contacts', async () => {
    expect(await fieldsOf(await app.createProject())).toEqual(standard(0));
  });

  it('infers types from the first value and counts coverage', async () => {
    const owner = await app.createProject();
    const first = { age: 42, plan: 'pro', since: '2026-01-02', paid: true, tags: ['a'], createdAt: 'x', 'a.b': 1 };
    await createContact(owner, first);
    await createContact(owner, { age: 'unknown', plan: 'free', ['__proto__x']: 1 });
    await createContact(owner, { plan: null, age: 1 });
    await createContact(owner, {});
    expect(await fieldsOf(owner)).toEqual([
      ...standard(1),
      custom('__proto__x', 'number', 0.25),
      custom('a.b', 'number', 0.25),
      custom('age', 'number', 0.75),
      custom('createdAt', 'string', 0.25),
      custom('paid', 'boolean', 0.25),
      custom('plan', 'string', 0.5),
      custom('since', 'date', 0.25),
      custom('tags', 'string', 0.25),
    ]);
  });

  it('lists every field that filters know, with the share of contacts that have it', async () => {
    const owner = await app.createProject();
    const asked = await owner.api('POST', '/contacts', { body: { email: 'a@x.test', trackingAllowed: false } });
    for (const email of ['b@x.test', 'c@x.test']) await owner.api('POST', '/contacts', { body: { email } });
    const pausedUntil = new Date(Date.now() + 86_400_000).toISOString();
    await owner.api('PATCH', `/contacts/${asked.body.id}`, { body: { pausedUntil } });
    await query(
      app.em(),
      sql`update contact set paused_until = now() - interval '1 day' where email = 'b@x.test' and project_id = ${owner.project.id}`,
    );
    const fields = (await fieldsOf(owner)) as { field: string; coverage: number }[];
    expect(fields.map(({ field }) => field)).toEqual(Object.keys(STANDARD_FIELDS));
    expect(Object.fromEntries(fields.map(({ field, coverage }) => [field, coverage]))).toMatchObject({
      email: 1,
      pending: 1,
      pausedUntil: 1 / 3,
      trackingAllowed: 1 / 3,
    });
    const valuesOf = async (field: string) => (await owner.api('GET', `/contacts/fields/${field}/values`)).body.values;
    expect(await valuesOf('pausedUntil')).toEqual([pausedUntil]);
    expect([await valuesOf('trackingAllowed'), await valuesOf('pending')]).toEqual([[false], [false]]);
    for (const [name, type] of Object.entries(STANDARD_FIELDS)) {
      const operator = type === 'switch' || type === 'text' ? 'equals' : 'exists';
      const value = type === 'switch' ? true : type === 'text' ? 'a@x.test' : undefined;
      const condition = { logic: 'AND', groups: [{ filters: [{ field: name, operator, value }] }] };
      expect((await owner.api('POST', '/segments', { body: { name, condition } })).status).toBe(201);
      const usage = (await owner.api('GET', `/contacts/fields/${name}/usage`)).body;
      expect(usage.usedInSegments.map((segment: { name: string }) => segment.name)).toEqual([name]);
      expect(usage.contactCount).toBe(['pausedUntil', 'trackingAllowed'].includes(name) ? 1 : 3);
      expect((await owner.api('DELETE', `/contacts/fields/${name}`)).status).toBe(400);
    }
  });
});

describe('GET /contacts/fields/:field/values', () => {
  let owner: TestProject;
  beforeAll(async () => {
    owner = await app.createProject();
    for (const plan of ['pro', 'free', 'pro', 7, true, ['x']]) await createContact(owner, { plan });
    await createContact(owner, { profile: { tier: 'gold' }, "it's 100%/?&": 'odd' });
  });
  const values = async (field: string, search = '') => {
    const reply = await owner.api('GET', `/contacts/fields/${encodeURIComponent(field)}/values${search}`);
    expect(reply.status).toBe(200);
    return reply.body;
  };

  it('reads a path of too many keys as one key, and refuses what cannot be one', async () => {
    const dotted = Array.from({ length: 30 }, (_, n) => n).join('.');
    const other = await app.createProject();
    await createContact(other, { [dotted]: 'whole' });
    const of = (field: string) => `/contacts/fields/data.${field}`;
    expect((await other.api('GET', `${of(dotted)}/values`)).body.values).toEqual(['whole']);
    expect((await other.api('GET', `${of(dotted)}/usage`)).body.contactCount).toBe(1);
    expect((await other.api('DELETE', of(dotted))).body).toEqual({ deletedFrom: 1 });
    const long = Array.from({ length: 401 }, () => 'a').join('.');
    const replies = await Promise.all([
      other.api('GET', `${of(long)}/values`),
      other.api('GET', `${of(long)}/usage`),
      other.api('DELETE', of(long)),
    ]);
    for (const { status, body } of replies) {
      expect([status, body.error.message]).toEqual([400, 'field: A field may name at most 20 keys']);
    }
  });

  it('answers distinct values, the most frequent first', async () => {
    const body = await values('data.plan');
    expect(body).toEqual({ field: 'data.plan', values: expect.any(Array), count: 5, limit: 100 });
    expect(body.values[0]).toBe('pro');
    expect(body.values).toEqual(expect.arrayContaining(['free', 7, true, ['x']]));
    expect(await values('plan')).toEqual(body);
    expect(await values('plan', '?limit=1')).toEqual({ field: 'data.plan', values: ['pro'], count: 1, limit: 1 });
    expect((await values('plan', '?limit=100000')).limit).toBe(1_000);
  });

  it('answers for nested fields, odd names, standard fields and fields that no contact has', async () => {
    expect((await values('data.profile.tier')).values).toEqual(['gold']);
    expect((await values("it's 100%/?&")).values).toEqual(['odd']);
    expect((await values('subscribed')).values).toEqual([true]);
    expect((await values('email')).values).toHaveLength(7);
    expect((await values('createdAt')).values[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await values('data.nothing')).toEqual({ field: 'data.nothing', values: [], count: 0, limit: 100 });
    expect((await values("x'); drop table contact; --")).values).toEqual([]);
  });

  it('refuses an invalid limit and a name without a key', async () => {
    expect((await owner.api('GET', '/contacts/fields/plan/values?limit=0')).status).toBe(422);
    expect((await owner.api('GET', '/contacts/fields/data./values')).status).toBe(404);
  });
});

describe('GET /contacts/fields/:field/usage', () => {
  it('names what refers to the field or to something in it', async () => {
    const owner = await app.createProject();
    await createContact(owner, { profile: { tier: 'gold' } });
    await createContact(owner, { other: 1 });
    const condition = (field: string) => ({ logic: 'AND', groups: [{ filters: [{ field, operator: 'exists' }] }] });
    const segment = async (name: string, field: string) =>
      (await owner.api('POST', '/segments', { body: { name, condition: condition(field) } })).body.id;
    const whole = await segment('Whole', 'data.profile');
    const nested = await segment('Nested', 'data.profile.tier');
    await segment('Other', 'data.profiles');
    const campaign = await owner.api('POST', '/campaigns', {
      body: {
        name: 'C',
        subject: 'S',
        body: 'B',
        from: 'me@example.com',
        audienceType: 'FILTERED',
        audienceCondition: condition('data.profile.tier'),
      },
    });
    const usage = async (field: string) => (await owner.api('GET', `/contacts/fields/${field}/usage`)).body;
    expect(await usage('data.profile')).toEqual({
      usedInSegments: [
        { id: whole, name: 'Whole' },
        { id: nested, name: 'Nested' },
      ],
      usedInCampaigns: [{ id: campaign.body.data.id, name: 'C', status: 'DRAFT' }],
      usedInWorkflows: [],
      contactCount: 1,
    });
    expect((await usage('profile.tier')).usedInSegments).toEqual([{ id: nested, name: 'Nested' }]);
    expect(await usage('email')).toMatchObject({ usedInSegments: [], contactCount: 2 });
    expect(await usage('nothing')).toEqual({
      usedInSegments: [],
      usedInCampaigns: [],
      usedInWorkflows: [],
      contactCount: 0,
    });
  });
});

describe('the usage of a field by workflows', () => {
  it('counts conditions that read it and steps that write it', async () => {
    const owner = await app.createProject();
    const createWorkflow = async (name: string, step: object) => {
      const { body } = await owner.api('POST', '/workflows', { body: { name, eventName: 'started' } });
      expect((await owner.api('POST', `/workflows/${body.id}/steps`, { body: step })).status).toBe(201);
      return { id: body.id as string, name };
    };
    const filter = { field: 'contact.data.plan', operator: 'equals', value: 'pro' };
    const reads = await createWorkflow('Reads', { type: 'CONDITION', config: filter });
    const writes = await createWorkflow('Writes', {
      type: 'UPDATE_CONTACT',
      config: { data: { plan: 'pro' }, subscribed: true },
    });
    await createWorkflow('Other', { type: 'CONDITION', config: { ...filter, field: 'data.planet' } });
    const usage = async (field: string) =>
      (await owner.api('GET', `/contacts/fields/${field}/usage`)).body.usedInWorkflows;
    expect(await usage('data.plan')).toEqual([reads, writes]);
    expect(await usage('subscribed')).toEqual([writes]);
    expect(await usage('createdAt')).toEqual([]);
  });
});

describe('DELETE /contacts/fields/:field', () => {
  const remove = (owner: TestProject, field: string) =>
    owner.api('DELETE', `/contacts/fields/${encodeURIComponent(field)}`);

  it('removes the field from every contact and from the catalogue, and segments on it match nobody', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, { plan: 'pro', keep: 1 });
    await createContact(owner, { plan: 'free' });
    await createContact(owner, { keep: 2 });
    const stranger = await app.createProject();
    const theirs = await createContact(stranger, { plan: 'pro' });
    const segment = await owner.api('POST', '/segments', {
      body: {
        name: 'S',
        condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'exists' }] }] },
      },
    });
    const reply = await remove(owner, 'data.plan');
    expect([reply.status, reply.body]).toEqual([200, { deletedFrom: 2 }]);
    expect((await owner.api('GET', `/contacts/${id}`)).body.data).toEqual({ keep: 1 });
    expect(await fieldsOf(owner)).toEqual([...standard(1), custom('keep', 'number', 2 / 3)]);
    expect((await owner.api('GET', `/segments/${segment.body.id}/contacts`)).body.total).toBe(0);
    expect((await stranger.api('GET', `/contacts/${theirs}`)).body.data).toEqual({ plan: 'pro' });
    expect((await remove(owner, 'plan')).body).toEqual({ deletedFrom: 0 });
    // The next value decides the type.
    await createContact(owner, { plan: 5 });
    expect(await fieldsOf(owner)).toContainEqual(custom('plan', 'number', 0.25));
  });

  it('removes keys with dots and keys inside of others', async () => {
    const owner = await app.createProject();
    const nested = await createContact(owner, { a: { b: 1, c: 2 } });
    const dotted = await createContact(owner, { 'a.b': 1, x: 1 });
    expect((await remove(owner, 'data.a.b')).body).toEqual({ deletedFrom: 2 });
    expect((await owner.api('GET', `/contacts/${nested}`)).body.data).toEqual({ a: { c: 2 } });
    expect((await owner.api('GET', `/contacts/${dotted}`)).body.data).toEqual({ x: 1 });
  });

  it('refuses a standard field', async () => {
    for (const field of ['email', 'subscribed', 'createdAt', 'updatedAt']) {
      expect((await remove(app, field)).status).toBe(400);
    }
  });

  it('queues a job when many contacts have it', async () => {
    const owner = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{"plan":"pro"}', now(), now()
        from generate_series(1, 5001) i`,
    );
    const reply = await remove(owner, 'plan');
    expect([reply.status, reply.body]).toEqual([202, { deletedFrom: 5_001, jobId: expect.any(String) }]);
    const job = await owner.api('GET', `/contacts/bulk/${reply.body.jobId}`);
    expect(job.body).toEqual({ id: reply.body.jobId, state: 'waiting', progress: 0, result: null, failedReason: null });
  });
});
