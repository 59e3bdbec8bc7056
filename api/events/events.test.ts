import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { SegmentEntity } from '../../shared/domain/segments/segment.entity.ts';
import { query, sql } from '../../shared/database/sql.ts';
import type { FilterCondition, FilterOperator } from '../../shared/pure/filters/filter-condition.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const record = (owner: TestProject, body: Record<string, unknown>): Promise<TestReply> =>
  owner.api('POST', '/events/track', { body });

async function seed(owner: TestProject, events: { name: string; at?: string; contactId?: string }[]): Promise<void> {
  const em = app.em();
  for (const { name, at = '2026-03-01T12:00:00.000Z', contactId } of events) {
    em.create(EventEntity, {
      id: uuidV7(),
      projectId: owner.project.id,
      name,
      contactId,
      data: {},
      createdAt: new Date(at),
    });
  }
  await em.flush();
}

describe('POST /events/track', () => {
  it('takes the body of /v1/track with the secret key', async () => {
    const owner = await app.createProject();
    const reply = await record(owner, {
      email: 'ada@example.com',
      event: 'bought',
      data: { total: { value: 5, persistent: false }, city: 'Graz' },
    });
    expect(reply.status).toBe(201);
    const {
      data: [contact],
    } = (await owner.api('GET', '/contacts')).body;
    expect(contact).toMatchObject({ email: 'ada@example.com', subscribed: true, data: { city: 'Graz' } });
    expect(reply.body).toEqual({
      id: expect.any(String),
      name: 'bought',
      data: { total: 5, city: 'Graz' },
      contactId: contact.id,
      emailId: null,
      projectId: owner.project.id,
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  it('takes a name with a contact or without, and leaves the contact as it is', async () => {
    const owner = await app.createProject();
    const contact = (await owner.api('POST', '/contacts', { body: { email: 'ada@example.com' } })).body;
    const named = await record(owner, { name: 'called', contactId: contact.id, data: { minutes: 5 } });
    expect([named.status, named.body]).toEqual([
      201,
      expect.objectContaining({ name: 'called', contactId: contact.id, data: { minutes: 5 } }),
    ]);
    const alone = await record(owner, { name: 'deployed' });
    expect([alone.status, alone.body]).toEqual([201, expect.objectContaining({ contactId: null, data: {} })]);
    expect((await owner.api('GET', `/contacts/${contact.id}`)).body.data).toEqual({});
  });

  it.each([
    [{}, 'name', 'invalid_type'],
    [{ name: 'email.open' }, 'name', 'reserved_event'],
    [{ email: 'ada@example.com', event: 'email.open' }, 'event', 'reserved_event'],
    [{ email: 'nobody', event: 'e' }, 'email', 'invalid_string'],
    [{ name: 'e', contactId: '7' }, 'contactId', 'invalid_string'],
    [{ email: 'ada@example.com' }, 'event', 'invalid_type'],
  ])('refuses %j and names the field', async (body, field, code) => {
    const reply = await record(app, body);
    expect(reply.status).toBe(422);
    expect(reply.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
  });

  it('answers 404 for a contact of another project, and records nothing', async () => {
    const other = await app.createProject();
    const contact = (await other.api('POST', '/contacts', { body: { email: 'x@example.com' } })).body;
    const reply = await record(app, { name: 'sneaky', contactId: contact.id });
    expect([reply.status, reply.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
    expect(await app.em().count(EventEntity, { name: 'sneaky' })).toBe(0);
  });
});

describe('lists of events', () => {
  it('GET /events lists every event once, newest first, with its contact', async () => {
    const owner = await app.createProject();
    await record(owner, { email: 'ada@example.com', event: 'last' });
    await seed(
      owner,
      Array.from({ length: 7 }, (_, n) => ({ name: n % 2 ? 'odd' : 'even' })),
    );
    const whole = await owner.api('GET', '/events');
    expect(whole.body).toMatchObject({ cursor: '', hasMore: false });
    expect(whole.body.events).toHaveLength(8);
    expect(whole.body.events[0]).toMatchObject({ name: 'last', contact: { email: 'ada@example.com' } });
    expect(whole.body.events[1].contact).toBeNull();
    const walked: unknown[] = [];
    for (let cursor = '', hasMore = true; hasMore;) {
      const page = await owner.api('GET', `/events?limit=3${cursor && `&cursor=${cursor}`}`);
      walked.push(...page.body.events);
      ({ cursor, hasMore } = page.body);
    }
    expect(walked).toEqual(whole.body.events);
    const odd = await owner.api('GET', '/events?eventName=odd');
    expect(odd.body.events.map((event: { name: string }) => event.name)).toEqual(['odd', 'odd', 'odd']);
    expect((await owner.api('GET', '/events?eventName=unknown')).body.events).toEqual([]);
  });

  it('have a default limit of 100 and a largest of 500', async () => {
    const owner = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into event (id, project_id, name, created_at)
        select everpost_uuid_v7(), ${owner.project.id}, 'many', now() from generate_series(1, 510)`,
    );
    expect((await owner.api('GET', '/events')).body.events).toHaveLength(100);
    expect((await owner.api('GET', '/events?limit=9999')).body.events).toHaveLength(500);
    expect((await owner.api('GET', '/events?limit=0')).status).toBe(422);
    expect((await owner.api('GET', '/events?cursor=x')).status).toBe(400);
  });

  it('GET /events/contact/:contactId shows one contact', async () => {
    const owner = await app.createProject();
    const { contactId } = (await record(owner, { email: 'ada@example.com', event: 'a' })).body;
    await record(owner, { email: 'ada@example.com', event: 'b' });
    await record(owner, { email: 'bob@example.com', event: 'c' });
    const reply = await owner.api('GET', `/events/contact/${contactId}`);
    expect(reply.status).toBe(200);
    expect(reply.body.events.map((event: { name: string }) => event.name)).toEqual(['b', 'a']);
    const first = await owner.api('GET', `/events/contact/${contactId}?limit=1`);
    const second = await owner.api('GET', `/events/contact/${contactId}?limit=1&cursor=${first.body.cursor}`);
    expect([first.body.hasMore, second.body.hasMore, second.body.events[0].name]).toEqual([true, false, 'a']);
  });

  it('GET /events/names has the most frequent first', async () => {
    const owner = await app.createProject();
    await seed(
      owner,
      ['b', 'b', 'a', 'c', 'c', 'c'].map((name) => ({ name })),
    );
    expect((await owner.api('GET', '/events/names')).body).toEqual({ eventNames: ['c', 'b', 'a'] });
    expect((await (await app.createProject()).api('GET', '/events/names')).body).toEqual({ eventNames: [] });
  });
});

describe('GET /events/stats', () => {
  let owner: TestProject;
  beforeAll(async () => {
    owner = await app.createProject();
    await seed(owner, [
      { name: 'a', at: '2026-01-31T23:59:59.999Z' },
      { name: 'a', at: '2026-02-01T00:00:00.000Z' },
      { name: 'b', at: '2026-02-01T23:59:59.999Z' },
      { name: 'a', at: '2026-02-02T00:00:00.000Z' },
    ]);
  });

  it.each([
    [
      '',
      [
        ['a', 3],
        ['b', 1],
      ],
    ],
    [
      'startDate=2026-02-01',
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    [
      'endDate=2026-02-01',
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    [
      'startDate=2026-02-01&endDate=2026-02-01',
      [
        ['a', 1],
        ['b', 1],
      ],
    ],
    ['startDate=2026-02-02T00:00:00Z', [['a', 1]]],
    ['endDate=2026-01-31T23:59:59.999Z', [['a', 1]]],
    ['endDate=2026-02-01T00:59:59.999%2B01:00', [['a', 1]]],
    ['startDate=2026-03-01', []],
    ['startDate=2026-02-02&endDate=2026-01-01', []],
    [
      'startDate=0001-01-01&endDate=9999-12-31',
      [
        ['a', 3],
        ['b', 1],
      ],
    ],
  ])('counts by name for "%s"', async (parameters, expected) => {
    const reply = await owner.api('GET', `/events/stats?${parameters}`);
    expect([reply.status, reply.body]).toEqual([200, expected.map(([name, count]) => ({ name, count }))]);
  });

  it.each([
    'startDate=yesterday',
    'startDate=',
    'endDate=2026-02-30',
    'endDate=0000-01-01',
    'startDate=1700000000',
    'endDate=2026-02-01T25:00:00Z',
    'startDate=2026-02-01T00:00:00',
  ])('refuses %s', async (parameters) => {
    const reply = await owner.api('GET', `/events/stats?${parameters}`);
    expect([reply.status, reply.body.error.errors]).toEqual([
      422,
      [expect.objectContaining({ field: parameters.split('=')[0], code: 'invalid_string' })],
    ]);
  });
});

describe('/events/:eventName', () => {
  it('DELETE removes every event of that name in the project, however many', async () => {
    const [owner, other] = [await app.createProject(), await app.createProject()];
    await query(
      app.em(),
      sql`
        insert into event (id, project_id, name, created_at)
        select everpost_uuid_v7(), ${owner.project.id}, 'bulk/ü %', now() from generate_series(1, 20500)`,
    );
    await seed(owner, [{ name: 'kept' }]);
    await seed(other, [{ name: 'bulk/ü %' }]);
    const reply = await owner.api('DELETE', `/events/${encodeURIComponent('bulk/ü %')}`);
    expect([reply.status, reply.body]).toEqual([200, { deletedCount: 20_500 }]);
    expect((await owner.api('GET', '/events/names')).body).toEqual({ eventNames: ['kept'] });
    expect((await other.api('GET', '/events/names')).body).toEqual({ eventNames: ['bulk/ü %'] });
    expect((await owner.api('DELETE', '/events/names')).body).toEqual({ deletedCount: 0 });
  });

  it('usage names segments and campaigns that refer to the event, and counts it', async () => {
    const owner = await app.createProject();
    const projectId = owner.project.id;
    const condition = (field: string, operator: FilterOperator): FilterCondition => ({
      logic: 'AND',
      groups: [{ filters: [], conditions: { logic: 'OR', groups: [{ filters: [{ field, operator }] }] } }],
    });
    const em = app.em();
    const bought = em.create(SegmentEntity, { projectId, name: 'Bought', condition: condition('bought', 'triggered') });
    em.create(SegmentEntity, { projectId, name: 'A field, no event', condition: condition('data.bought', 'exists') });
    em.create(SegmentEntity, {
      projectId: app.project.id,
      name: 'Theirs',
      condition: condition('bought', 'triggered'),
    });
    const mail = { projectId, subject: 'S', body: 'B', from: 'a@example.com' };
    const never = em.create(CampaignEntity, {
      ...mail,
      name: 'Never bought',
      audienceType: 'FILTERED',
      audienceCondition: condition('event.bought', 'notTriggered'),
    });
    em.create(CampaignEntity, { ...mail, name: 'To all', audienceType: 'ALL' });
    const opened = em.create(SegmentEntity, {
      projectId,
      name: 'Opened',
      condition: condition('email.opened', 'triggered'),
    });
    await em.flush();
    await record(owner, { email: 'ada@example.com', event: 'bought' });
    await record(owner, { email: 'ada@example.com', event: 'bought' });
    await record(owner, { email: 'bob@example.com', event: 'bought' });
    await record(owner, { name: 'bought' });

    const reply = await owner.api('GET', '/events/bought/usage');
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        usedInSegments: [{ id: bought.id, name: 'Bought' }],
        usedInWorkflows: [],
        usedInCampaigns: [{ id: never.id, name: 'Never bought', status: 'DRAFT' }],
        totalCount: 4,
        uniqueContacts: 2,
      },
    ]);
    expect((await owner.api('GET', '/events/email.opened/usage')).body.usedInSegments).toEqual([
      { id: opened.id, name: 'Opened' },
    ]);
    expect((await owner.api('GET', '/events/contact/usage')).body.totalCount).toBe(0);
    expect((await owner.api('GET', '/events/unknown/usage')).body).toMatchObject({
      totalCount: 0,
      uniqueContacts: 0,
      usedInSegments: [],
    });
  });

  it('usage names workflows that begin with the event, wait for it or have a condition on it', async () => {
    const owner = await app.createProject();
    const createWorkflow = async (name: string, eventName: string, step?: object) => {
      const { body } = await owner.api('POST', '/workflows', { body: { name, eventName } });
      if (step) expect((await owner.api('POST', `/workflows/${body.id}/steps`, { body: step })).status).toBe(201);
      return { id: body.id as string, name };
    };
    const condition = (field: string) => ({ type: 'CONDITION', config: { field, operator: 'triggered' } });
    const begins = await createWorkflow('Begins', 'bought', condition('bought'));
    const waits = await createWorkflow('Waits', 'other', { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } });
    const asks = await createWorkflow('Asks', 'other', condition('bought'));
    const asksDeep = await createWorkflow('Asks deep inside', 'other', {
      type: 'CONDITION',
      config: {
        condition: {
          logic: 'OR',
          groups: [
            { filters: [], conditions: { logic: 'AND', groups: [{ filters: [condition('event.bought').config] }] } },
          ],
        },
      },
    });
    await createWorkflow('Other', 'other', condition('bought twice'));
    await createWorkflow('A value of its context', 'other', {
      type: 'CONDITION',
      config: { field: 'event.bought', operator: 'exists' },
    });
    const { body } = await owner.api('GET', '/events/bought/usage');
    expect(body.usedInWorkflows).toEqual([begins, waits, asks, asksDeep]);
  });

  it('refuses a name with NUL', async () => {
    expect((await app.api('GET', '/events/%00/usage')).status).toBe(422);
    expect((await app.api('DELETE', '/events/a%00')).status).toBe(422);
  });
});
