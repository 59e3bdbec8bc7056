import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

interface World extends TestProject {
  contactId: string;
}

const HARD = { bounceType: 'hard' };

/** A project with one activity of each type, an hour apart, over two days. */
async function createWorld(): Promise<World> {
  const world = await app.createProject();
  const { project, api } = world;
  const { body: contact } = await api('POST', '/contacts', { body: { email: `${uuidV7()}@mail.test` } });
  const events: [string, string, object][] = [
    ['email.sent', '2026-03-01T10:00:00Z', {}],
    ['email.sent', '2026-03-01T10:00:00Z', {}],
    ['email.delivery', '2026-03-01T11:00:00Z', {}],
    ['email.open', '2026-03-01T12:00:00Z', { isFirstOpen: true, opens: 1 }],
    ['email.open', '2026-03-01T13:00:00Z', { isFirstOpen: false, opens: 2 }],
    ['email.click', '2026-03-01T14:00:00Z', { isFirstClick: true, link: 'https://a.test/' }],
    ['email.bounce', '2026-03-01T15:00:00Z', { bounceType: 'soft' }],
    ['email.bounce', '2026-03-01T16:00:00Z', HARD],
    ['email.complaint', '2026-03-02T00:00:00Z', {}],
    ['email.received', '2026-03-02T01:00:00Z', {}],
    ['contact.unsubscribed', '2026-03-02T02:00:00Z', {}],
    ['signed_up', '2026-03-02T03:00:00Z', { plan: 'pro' }],
    ['segment.vip.entry', '2026-03-02T04:00:00Z', {}],
  ];
  for (const [name, at, data] of events) {
    await query(
      app.em(),
      sql`
        insert into event (id, project_id, contact_id, name, data, created_at)
        values (${uuidV7()}, ${project.id}, ${contact.id}, ${name}, ${JSON.stringify(data)}::jsonb, ${at}::timestamptz)`,
    );
  }
  await query(
    app.em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, scheduled_for, scheduled_at,
        sent_at, created_at, updated_at)
      values (${uuidV7()}, ${project.id}, 'Spring', 'S', 'B', 'a@example.com', 'SENT', 'ALL', '2026-03-02T06:00:00Z',
        '2026-03-02T05:00:00Z', '2026-03-02T06:30:00Z', now(), now())`,
  );
  await query(
    app.em(),
    sql`
      with a as (
        insert into automation (id, project_id, name, trigger_event, created_at, updated_at)
        values (${uuidV7()}, ${project.id}, 'Welcome', 'signed_up', now(), now()) returning id
      )
      insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, started_at,
        completed_at, created_at, updated_at)
      select ${uuidV7()}, ${project.id}, a.id, ${uuidV7()}, ${contact.id}, 'COMPLETED', true, '2026-03-02T07:00:00Z',
        '2026-03-02T08:00:00Z', now(), now() from a`,
  );
  return { ...world, contactId: contact.id };
}

const ALL_TYPES = [
  'workflow.completed',
  'workflow.started',
  'campaign.sent',
  'campaign.scheduled',
  'event.triggered',
  'event.triggered',
  'contact.unsubscribed',
  'email.received',
  'email.complaint',
  'email.bounced',
  'email.bounced',
  'email.clicked',
  'email.opened',
  'email.opened',
  'email.delivered',
  'email.sent',
  'email.sent',
];

describe('GET /activity', () => {
  it('lists everything, newest first, each activity with its details', async () => {
    const { api, contactId } = await createWorld();
    const { status, body } = await api('GET', '/activity');
    expect(status).toBe(200);
    expect(body).toMatchObject({ cursor: '', hasMore: false });
    expect(body.data.map((item: any) => item.type)).toEqual(ALL_TYPES);
    expect(body.data[4]).toEqual({
      id: expect.any(String),
      type: 'event.triggered',
      timestamp: '2026-03-02T04:00:00.000Z',
      contactId,
      contactEmail: expect.stringMatching(/@mail\.test$/),
      metadata: { eventName: 'segment.vip.entry' },
    });
    expect(body.data[2]).toMatchObject({
      contactId: null,
      contactEmail: null,
      metadata: { name: 'Spring', status: 'SENT' },
    });
    expect(body.data[0].metadata).toMatchObject({ workflowName: 'Welcome', status: 'COMPLETED' });
  });

  it.each([1, 2, 5])('comes in pages of %d that together are the whole, without gaps or repeats', async (limit) => {
    const { api } = await createWorld();
    const { body: whole } = await api('GET', '/activity');
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 30; page++) {
      const { body } = await api('GET', `/activity?limit=${limit}&cursor=${cursor}`);
      expect(body.data.length).toBeLessThanOrEqual(limit);
      seen.push(...body.data);
      if (!body.hasMore) break;
      cursor = body.cursor;
    }
    expect(seen).toEqual(whole.data);
  });

  it('filters by type, contact and dates, together too', async () => {
    const { api, contactId } = await createWorld();
    const typesOf = async (search: string) =>
      (await api('GET', `/activity?${search}`)).body.data.map((item: any) => item.type);
    expect(await typesOf('types=email.opened,email.clicked')).toEqual([
      'email.clicked',
      'email.opened',
      'email.opened',
    ]);
    expect(await typesOf('types=event.triggered&types=campaign.sent')).toEqual([
      'campaign.sent',
      'event.triggered',
      'event.triggered',
    ]);
    expect(await typesOf('types=workflow.started,workflow.completed&limit=1')).toEqual(['workflow.completed']);
    expect(await typesOf(`types=${ALL_TYPES.join(',')}`)).toEqual(ALL_TYPES);
    expect(await typesOf(`contactId=${contactId}`)).toEqual(ALL_TYPES.filter((type) => !type.startsWith('campaign.')));
    expect(await typesOf(`contactId=${uuidV7()}`)).toEqual([]);
    expect(await typesOf('startDate=2026-03-02')).toEqual(ALL_TYPES.slice(0, 9));
    expect(await typesOf('endDate=2026-03-01')).toEqual(ALL_TYPES.slice(9));
    expect(await typesOf(`startDate=2026-03-02&endDate=2026-03-02T02:00:00Z&contactId=${contactId}`)).toEqual([
      'contact.unsubscribed',
      'email.received',
      'email.complaint',
    ]);
  });

  it('shows nothing of another project', async () => {
    await createWorld();
    const other = await app.createProject();
    expect((await other.api('GET', '/activity')).body).toEqual({ data: [], cursor: '', hasMore: false });
  });

  it.each([
    ['types=email.imagined', 422],
    ['contactId=1', 422],
    ['limit=0', 422],
    ['startDate=yesterday', 422],
    ['cursor=x', 400],
  ])('answers %s with %d', async (search, status) => {
    expect((await app.api('GET', `/activity?${search}`)).status).toBe(status);
  });
});

describe('GET /activity/stats', () => {
  it('counts by day, an email once, with rates of what was sent', async () => {
    const { api } = await createWorld();
    const { status, body } = await api('GET', '/activity/stats?startDate=2026-02-28&endDate=2026-03-02');
    expect(status).toBe(200);
    const none = {
      events: 0,
      sent: 0,
      delivered: 0,
      opened: 0,
      clicked: 0,
      humanOpened: 0,
      humanClicked: 0,
      bounced: 0,
      complaints: 0,
      workflowsStarted: 0,
    };
    expect(body).toEqual({
      complaintRates: [],
      totals: {
        events: 2,
        sent: 2,
        delivered: 1,
        opened: 1,
        clicked: 1,
        humanOpened: 1,
        humanClicked: 1,
        bounced: 1,
        complaints: 1,
        workflowsStarted: 1,
      },
      rates: {
        deliveryRate: 50,
        openRate: 50,
        clickRate: 50,
        bounceRate: 50,
        complaintRate: 50,
        humanOpenRate: 50,
        humanClickRate: 50,
      },
      series: [
        { ...none, date: '2026-02-28' },
        {
          ...none,
          date: '2026-03-01',
          sent: 2,
          delivered: 1,
          opened: 1,
          clicked: 1,
          bounced: 1,
          humanOpened: 1,
          humanClicked: 1,
        },
        { ...none, date: '2026-03-02', events: 2, complaints: 1, workflowsStarted: 1 },
      ],
    });
  });

  it('takes the last 30 days when no dates are given, and refuses a century', async () => {
    const { body } = await app.api('GET', '/activity/stats');
    expect(body.series).toHaveLength(30);
    expect(body.series.at(-1).date).toBe(new Date().toISOString().slice(0, 10));
    expect(body.rates.openRate).toBe(0);
    expect((await app.api('GET', '/activity/stats?startDate=1926-01-01')).status).toBe(400);
  });
});
