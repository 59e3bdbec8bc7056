import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../shared/domain/emails/email.entity.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import { query, sql } from '../../shared/domain/database/sql.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

const UNKNOWN_ID = '019a0000-0000-7000-8000-000000000000';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
  await app.api('POST', '/contacts', { body: { email: 'reader@mail.test', data: { plan: 'pro' } } });
});
afterAll(() => app.stop());

const content = (change: Record<string, unknown> = {}) => ({
  name: 'Launch',
  subject: 'Hi {{firstName}}',
  body: '<p>Dear {{firstName}}</p>',
  from: 'news@example.com',
  audienceType: 'ALL',
  ...change,
});
const condition = (...filters: unknown[]) => ({ logic: 'AND', groups: [{ filters }] });
const plan = condition({ field: 'data.plan', operator: 'equals', value: 'pro' });

const post = (body: unknown, project: TestProject = app): Promise<TestReply> =>
  project.api('POST', '/campaigns', { body });
async function createCampaign(change: Record<string, unknown> = {}, project: TestProject = app): Promise<any> {
  const reply = await post(content(change), project);
  expect(reply.status).toBe(201);
  return reply.body.data;
}
const call = (method: string, id: string, action = '', body?: unknown): Promise<TestReply> =>
  app.api(method, `/campaigns/${id}${action}`, { body });
const sendCampaign = (id: string, body: unknown = {}): Promise<TestReply> => call('POST', id, '/send', body);
const read = async (id: string) => (await call('GET', id)).body;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** A campaign brought into a status, by rows where nothing but a worker would do it. */
async function campaignIn(status: CampaignStatus): Promise<any> {
  const { id } = await createCampaign();
  if (status === 'SCHEDULED') await sendCampaign(id, { scheduledFor: inDays(30) });
  else if (status !== 'DRAFT') await query(app.em(), sql`update campaign set status = ${status} where id = ${id}`);
  return read(id);
}

const outboxRows = async (id: string): Promise<number> =>
  (await query(app.em(), sql`select from outbox where kind = 'campaign' and subject_id = ${id}`)).length;

async function createSegment(project: TestProject = app): Promise<string> {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      insert into segment (id, project_id, name, type, condition, track_membership, member_count, created_at, updated_at)
      values (${id}, ${project.project.id}, 'Pro', 'DYNAMIC', ${JSON.stringify(plan)}::jsonb, false, 0, now(), now())`,
  );
  return id;
}

describe('POST /campaigns', () => {
  it('creates a draft', async () => {
    const wakeups = app.wakeups();
    const reply = await post(content({ from: ' News@Example.com ', unknown: 1 }));
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        name: 'Launch',
        description: null,
        subject: 'Hi {{firstName}}',
        body: '<p>Dear {{firstName}}</p>',
        from: 'news@example.com',
        fromName: null,
        replyTo: null,
        type: 'MARKETING',
        status: 'DRAFT',
        audienceType: 'ALL',
        audienceCondition: null,
        segmentId: null,
        scheduledFor: null,
        totalRecipients: 0,
        sentCount: 0,
        deliveredCount: 0,
        openedCount: 0,
        clickedCount: 0,
        bouncedCount: 0,
        projectId: app.project.id,
        sentAt: null,
        error: null,
        createdAt: TIME,
        updatedAt: TIME,
      },
    });
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
    expect(app.wakeups()).toBe(wakeups);
  });

  it('keeps only the companion that its audience needs', async () => {
    const segmentId = await createSegment();
    const both = { segmentId, audienceCondition: plan };
    expect(await createCampaign({ ...both, audienceType: 'FILTERED' })).toMatchObject({
      audienceCondition: plan,
      segmentId: null,
    });
    expect(await createCampaign({ ...both, audienceType: 'SEGMENT' })).toMatchObject({
      audienceCondition: null,
      segmentId,
    });
    expect(await createCampaign({ ...both, audienceType: 'ALL' })).toMatchObject({
      audienceCondition: null,
      segmentId: null,
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no segment', { audienceType: 'SEGMENT' }, 'segmentId'],
    ['null as segment', { audienceType: 'SEGMENT', segmentId: null }, 'segmentId'],
    ['no condition', { audienceType: 'FILTERED' }, 'audienceCondition'],
    ['null as condition', { audienceType: 'FILTERED', audienceCondition: null }, 'audienceCondition'],
  ])('answers 400 to %s', async (_fault, change, field) => {
    const reply = await post(content(change));
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.error.details).toEqual({ field });
  });

  it.each<[string, unknown[], string]>([
    ['an unknown field', [{ field: 'colour', operator: 'equals', value: 1 }], 'audienceCondition.groups[0].filters[0]'],
    [
      'a value of the wrong type in the second filter',
      [plan.groups[0]?.filters[0], { field: 'subscribed', operator: 'equals', value: 'yes' }],
      'audienceCondition.groups[0].filters[1]',
    ],
    [
      'an order of booleans',
      [{ field: 'subscribed', operator: 'greaterThan', value: true }],
      'audienceCondition.groups[0].filters[0]',
    ],
    [
      'a segment of nobody',
      [{ field: `segment.${UNKNOWN_ID}`, operator: 'memberOfSegment' }],
      'audienceCondition.groups[0].filters[0]',
    ],
  ])('answers 400 with the place in the tree to %s', async (_fault, filters, path) => {
    const reply = await post(content({ audienceType: 'FILTERED', audienceCondition: condition(...filters) }));
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.error.message).toContain(path);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['no subject', { subject: undefined }, 'subject'],
    ['a line break in the subject', { subject: 'a\nBcc: b' }, 'subject'],
    ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject'],
    ['no body', { body: undefined }, 'body'],
    ['no sender', { from: undefined }, 'from'],
    ['a bad sender', { from: 'news' }, 'from'],
    ['a line break in the sender name', { fromName: 'a\nb' }, 'fromName'],
    ['a bad reply address', { replyTo: 'x' }, 'replyTo'],
    ['a sender without an ASCII form', { from: 'jürgen@example.com' }, 'from'],
    ['a reply address without one', { replyTo: 'a@xn--ü.test' }, 'replyTo'],
    ['an unknown type', { type: 'SPAM' }, 'type'],
    ['no audience', { audienceType: undefined }, 'audienceType'],
    ['an unknown audience', { audienceType: 'SOME' }, 'audienceType'],
    ['a segment id that is none', { audienceType: 'SEGMENT', segmentId: 'x' }, 'segmentId'],
    ['a text as condition', { audienceType: 'FILTERED', audienceCondition: 'x' }, 'audienceCondition'],
    [
      'an unknown logic',
      { audienceType: 'FILTERED', audienceCondition: { ...plan, logic: 'XOR' } },
      'audienceCondition.logic',
    ],
    [
      'no groups',
      { audienceType: 'FILTERED', audienceCondition: { logic: 'AND', groups: [] } },
      'audienceCondition.groups',
    ],
  ])('answers 422 to %s', async (_fault, change, field) => {
    const reply = await post(content(change));
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error.errors.map((error: any) => error.field)).toContain(field);
  });

  it('refuses a fault in the template, the segments of others and unverified senders', async () => {
    const syntax = await post(content({ body: '<p>{{#if name}}</p>' }));
    expect([syntax.status, syntax.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(syntax.body.error.details).toMatchObject({ field: 'body', line: 1, column: 4 });
    const theirs = await createSegment(await app.createProject());
    for (const segmentId of [theirs, UNKNOWN_ID]) {
      const segment = await post(content({ audienceType: 'SEGMENT', segmentId }));
      expect([segment.status, segment.body.error.code]).toEqual([404, 'SEGMENT_NOT_FOUND']);
    }
    const domain = await post(content({ from: 'news@other.test' }));
    expect([domain.status, domain.body.error.details]).toEqual([
      403,
      { reason: 'DOMAIN_NOT_REGISTERED', domain: 'other.test' },
    ]);
  });
});

describe('GET /campaigns', () => {
  let project: TestProject;
  const list = async (search: string) => project.api('GET', `/campaigns${search}`);
  const names = async (search: string) => (await list(search)).body.data.map((campaign: any) => campaign.name);
  beforeAll(async () => {
    project = await app.createProject();
    for (const [name, subject, from] of [
      ['Beta', '100% off', 'news@example.com'],
      ['Alpha', 'Second', 'sales@example.com'],
      ['Gamma', 'Third_one', 'news@example.com'],
    ]) {
      await createCampaign({ name, subject, from }, project);
    }
  });

  it('pages, newest first', async () => {
    const first = await list('?page=1&pageSize=2');
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2 });
    expect(first.body.data.map((campaign: any) => campaign.name)).toEqual(['Gamma', 'Alpha']);
    expect(await names('?page=2&pageSize=2')).toEqual(['Beta']);
    expect((await list('?page=9')).body).toMatchObject({ data: [], page: 9, pageSize: 20, total: 3, totalPages: 1 });
  });

  it.each([
    ['?dir=asc', ['Beta', 'Alpha', 'Gamma']],
    ['?sort=name&dir=asc', ['Alpha', 'Beta', 'Gamma']],
    ['?sort=updatedAt&dir=asc', ['Beta', 'Alpha', 'Gamma']],
    ['?sort=rumour&dir=sideways', ['Gamma', 'Alpha', 'Beta']],
    ['?search=ALPH', ['Alpha']],
    ['?search=second', ['Alpha']],
    ['?search=SALES@', ['Alpha']],
    ['?search=%25', ['Beta']],
    ['?search=_', ['Gamma']],
    ['?search=nothing', []],
    ['?status=DRAFT&search=beta', ['Beta']],
    ['?status=SENT', []],
    ['?status=', ['Gamma', 'Alpha', 'Beta']],
  ])('answers %s', async (search, expected) => {
    expect(await names(search)).toEqual(expected);
  });

  it.each(['?status=draft', '?status=UNKNOWN', '?status=DRAFT,SENT'])('answers 400 to %s', async (search) => {
    const reply = await list(search);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('one campaign', () => {
  const ENDPOINTS: [string, string, unknown][] = [
    ['GET', '', undefined],
    ['PUT', '', content()],
    ['DELETE', '', undefined],
    ['POST', '/duplicate', undefined],
    ['POST', '/send', {}],
    ['POST', '/cancel', undefined],
    ['POST', '/test', { email: 'a@mail.test' }],
    ['GET', '/stats', undefined],
  ];

  it.each(ENDPOINTS)(
    '%s %s answers 422 to an id that is none and 404 to that of another',
    async (method, action, body) => {
      const theirs = await createCampaign({}, await app.createProject());
      for (const id of [UNKNOWN_ID, theirs.id]) {
        const reply = await call(method, id, action, body);
        expect([reply.status, reply.body.error.code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
      }
      const reply = await call(method, 'launch', action, body);
      expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(reply.body.error.errors[0].field).toBe('id');
    },
  );

  it.each<[CampaignStatus, number]>([
    ['DRAFT', 200],
    ['SCHEDULED', 200],
    ['SENDING', 400],
    ['SENT', 400],
    ['CANCELLED', 400],
  ])('PUT in %s answers %i', async (status, expected) => {
    const before = await campaignIn(status);
    const reply = await call(
      'PUT',
      before.id,
      '',
      content({ name: 'New', type: 'HEADLESS', replyTo: 'r@example.com' }),
    );
    expect(reply.status).toBe(expected);
    const after = await read(before.id);
    if (expected === 200) {
      expect(after).toEqual(reply.body);
      expect(after).toMatchObject({ status, name: 'New', type: 'HEADLESS', replyTo: 'r@example.com' });
      expect(after.scheduledFor).toBe(before.scheduledFor);
    } else expect(after).toEqual(before);
  });

  it('PUT replaces everything and is as strict as POST', async () => {
    const { id } = await createCampaign({
      description: 'Old',
      fromName: 'Old',
      audienceType: 'FILTERED',
      audienceCondition: plan,
    });
    expect((await call('PUT', id, '', content())).body).toMatchObject({
      description: null,
      fromName: null,
      audienceType: 'ALL',
      audienceCondition: null,
    });
    expect((await call('PUT', id, '', content({ name: undefined }))).status).toBe(422);
    expect((await call('PUT', id, '', content({ from: 'news@other.test' }))).status).toBe(403);
    expect((await call('PUT', id, '', content({ audienceType: 'SEGMENT' }))).status).toBe(400);
    expect((await call('PUT', id, '', content({ subject: '{{#if a}}' }))).status).toBe(400);
  });

  it.each<[CampaignStatus, number]>([
    ['DRAFT', 204],
    ['SCHEDULED', 409],
    ['SENDING', 409],
    ['SENT', 204],
    ['CANCELLED', 204],
  ])('DELETE in %s answers %i', async (status, expected) => {
    const { id } = await campaignIn(status);
    const reply = await call('DELETE', id);
    expect(reply.status).toBe(expected);
    expect((await call('GET', id)).status).toBe(expected === 204 ? 404 : 200);
  });

  it('duplicates content and audience, not the history', async () => {
    const original = await createCampaign({
      description: 'D',
      fromName: 'F',
      replyTo: 'r@example.com',
      type: 'HEADLESS',
      audienceType: 'FILTERED',
      audienceCondition: plan,
    });
    await query(
      app.em(),
      sql`update campaign set status = 'SENT', sent_count = 5, total_recipients = 5, sent_at = now() where id = ${original.id}`,
    );
    const reply = await call('POST', original.id, '/duplicate');
    expect(reply.status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = original;
    expect(reply.body).toEqual({
      ...rest,
      name: 'Launch (Copy)',
      id: expect.any(String),
      createdAt: TIME,
      updatedAt: TIME,
    });
    expect(reply.body.id).not.toBe(id);
    expect([createdAt, updatedAt]).toEqual([TIME, TIME]);
  });

  it('duplicates a name as long as names can be', async () => {
    const { id } = await createCampaign({ name: 'n'.repeat(200) });
    const reply = await call('POST', id, '/duplicate');
    expect(reply.status).toBe(201);
    expect((await call('PUT', reply.body.id, '', content({ name: reply.body.name }))).status).toBe(200);
  });

  it('has stats, before and after', async () => {
    const { id } = await createCampaign();
    const zeroes = {
      totalRecipients: 0,
      sentCount: 0,
      deliveredCount: 0,
      openedCount: 0,
      clickedCount: 0,
      bouncedCount: 0,
      complainedCount: 0,
      unsubscribedCount: 0,
      failedCount: 0,
      skippedCount: 0,
      suppressedCount: 0,
      openRate: 0,
      clickRate: 0,
      bounceRate: 0,
      deliveryRate: 0,
    };
    expect((await call('GET', id, '/stats')).body).toEqual(zeroes);
    await query(
      app.em(),
      sql`
        update campaign set total_recipients = 12, sent_count = 9, delivered_count = 6, opened_count = 3, clicked_count = 1,
          bounced_count = 1, failed_count = 1, skipped_count = 1
        where id = ${id}`,
    );
    expect((await call('GET', id, '/stats')).body).toMatchObject({
      totalRecipients: 12,
      sentCount: 9,
      failedCount: 1,
      skippedCount: 1,
      deliveryRate: 66.67,
      openRate: 33.33,
      clickRate: 11.11,
      bounceRate: 11.11,
    });
  });
});

describe('POST /campaigns/:id/send', () => {
  it('sends now, and tells the dispatcher', async () => {
    for (const body of [undefined, {}, { scheduledFor: null }, { scheduledFor: '2001-01-01' }, { scheduledFor: 0 }]) {
      const { id } = await createCampaign();
      const wakeups = app.wakeups();
      const reply = await call('POST', id, '/send', body);
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        success: true,
        data: { id, status: 'SENDING', scheduledFor: null, sentAt: null },
        message: 'Campaign is being sent',
      });
      expect([await outboxRows(id), app.wakeups() - wakeups]).toEqual([1, 1]);
    }
  });

  it.each<[string, string | number, string]>([
    ['ISO 8601', '2090-01-02T03:04:05.678Z', '2090-01-02T03:04:05.678Z'],
    ['another zone', '2090-01-02T03:04:05+02:00', '2090-01-02T01:04:05.000Z'],
    ['the last date-time there is', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['a date', '2090-01-02', '2090-01-02T00:00:00.000Z'],
    ['what a browser prints', 'Mon, 02 Jan 2090 03:04:05 GMT', '2090-01-02T03:04:05.000Z'],
    ['milliseconds', 3_787_182_245_000, '2090-01-04T03:04:05.000Z'],
  ])('schedules for %s', async (_form, scheduledFor, expected) => {
    const { id } = await createCampaign();
    const reply = await sendCampaign(id, { scheduledFor });
    expect(reply.body).toMatchObject({
      success: true,
      data: { status: 'SCHEDULED', scheduledFor: expected },
      message: `Campaign scheduled for ${expected}`,
    });
    expect(await read(id)).toEqual(reply.body.data);
  });

  it.each(['tomorrow', '', '2090-13-40', '+010000-01-01T00:00:00Z', 8.64e15, 8.64e15 + 1])(
    'answers 400 to %p',
    async (scheduledFor) => {
      const campaign = await createCampaign();
      const reply = await sendCampaign(campaign.id, { scheduledFor });
      expect([reply.status, reply.body.error.code, reply.body.error.details]).toEqual([
        400,
        'BAD_REQUEST',
        { field: 'scheduledFor' },
      ]);
      expect([await read(campaign.id), await outboxRows(campaign.id)]).toEqual([campaign, 0]);
    },
  );

  it.each([true, { at: 1 }, [1]])('answers 422 to %j, which is no date-time at all', async (scheduledFor) => {
    const { id } = await createCampaign();
    const reply = await sendCampaign(id, { scheduledFor });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'scheduledFor']);
  });

  it('schedules anew, and sends a scheduled one now', async () => {
    const { id } = await campaignIn('SCHEDULED');
    const later = inDays(60);
    expect((await sendCampaign(id, { scheduledFor: later })).body.data).toMatchObject({
      status: 'SCHEDULED',
      scheduledFor: later,
    });
    expect((await sendCampaign(id)).body.data).toMatchObject({ status: 'SENDING', scheduledFor: null });
    expect(await outboxRows(id)).toBe(3);
  });

  it.each<CampaignStatus>(['SENDING', 'SENT', 'CANCELLED'])('answers 400 in %s', async (status) => {
    const campaign = await campaignIn(status);
    for (const body of [{}, { scheduledFor: inDays(1) }]) {
      const reply = await sendCampaign(campaign.id, body);
      expect([reply.status, reply.body.error.details]).toEqual([400, { status }]);
    }
    expect(await read(campaign.id)).toEqual(campaign);
  });

  it('answers 400 and changes nothing when there are no recipients', async () => {
    const nobody = condition({ field: 'data.plan', operator: 'equals', value: 'none' });
    const campaign = await createCampaign({ audienceType: 'FILTERED', audienceCondition: nobody });
    for (const body of [{}, { scheduledFor: inDays(1) }]) {
      const reply = await sendCampaign(campaign.id, body);
      expect([reply.status, reply.body.error.message]).toEqual([400, 'Campaign has no recipients']);
    }
    expect([await read(campaign.id), await outboxRows(campaign.id)]).toEqual([campaign, 0]);
  });

  it.each([
    ['MARKETING', 400],
    ['HEADLESS', 400],
    ['TRANSACTIONAL', 200],
  ])('of %s to unsubscribed contacts alone answers %i', async (type, expected) => {
    const project = await app.createProject();
    await project.api('POST', '/contacts', { body: { email: 'gone@mail.test', subscribed: false } });
    const { id } = await createCampaign({ type }, project);
    expect((await project.api('POST', `/campaigns/${id}/send`, { body: {} })).status).toBe(expected);
  });

  it('answers 403 when the sender domain is not verified any more', async () => {
    const project = await app.createProject();
    await project.api('POST', '/contacts', { body: { email: 'a@mail.test' } });
    const { id } = await createCampaign({}, project);
    await query(
      app.em(),
      sql`update sender_domain set verified = false, trusted = false where project_id = ${project.project.id}`,
    );
    for (const [action, body] of [
      ['send', {}],
      ['test', { email: 'a@mail.test' }],
    ] as const) {
      const reply = await project.api('POST', `/campaigns/${id}/${action}`, { body });
      expect([reply.status, reply.body.error.details?.reason]).toEqual([403, 'DOMAIN_NOT_VERIFIED']);
    }
  });

  it('lets one of twenty win', async () => {
    const { id } = await createCampaign();
    const replies = await Promise.all(Array.from({ length: 20 }, () => sendCampaign(id)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
    expect(await outboxRows(id)).toBe(1);
  });

  it('and cancel at the same time leave one state', async () => {
    const { id } = await campaignIn('SCHEDULED');
    const replies = await Promise.all([sendCampaign(id), call('POST', id, '/cancel'), call('PUT', id, '', content())]);
    expect(replies.map((reply) => reply.status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
    expect((await read(id)).status).toBe('CANCELLED');
  });
});

describe('POST /campaigns/:id/cancel', () => {
  it.each<[CampaignStatus, number]>([
    ['DRAFT', 400],
    ['SCHEDULED', 200],
    ['SENDING', 200],
    ['SENT', 400],
    ['CANCELLED', 400],
  ])('in %s answers %i', async (status, expected) => {
    const before = await campaignIn(status);
    const signals = await outboxRows(before.id);
    const reply = await call('POST', before.id, '/cancel');
    expect(reply.status).toBe(expected);
    const after = await read(before.id);
    if (expected === 200) {
      expect(after).toEqual(reply.body);
      expect([after.status, await outboxRows(before.id)]).toEqual(['CANCELLED', signals + 1]);
    } else expect([after, await outboxRows(before.id)]).toEqual([before, signals]);
  });
});

describe('POST /campaigns/:id/test', () => {
  it.each(['reader@mail.test', 'Stranger@mail.test'])(
    'sends one mail to %s and changes nothing else',
    async (email) => {
      const campaign = await createCampaign({ fromName: 'Paper', replyTo: 'r@example.com' });
      const before = [await app.em().count(ContactEntity), await read(campaign.id)];
      const reply = await call('POST', campaign.id, '/test', { email });
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({ email: expect.any(String), to: email.toLowerCase() });
      const mail = await app.em().findOneOrFail(EmailEntity, { id: reply.body.email });
      expect(mail).toMatchObject({
        status: 'PENDING',
        subject: '[Test] Hi ',
        campaignId: null,
        toAddress: email.toLowerCase(),
      });
      expect([await app.em().count(ContactEntity), await read(campaign.id)]).toEqual(before);
    },
  );

  it.each<CampaignStatus>(['SCHEDULED', 'SENT', 'CANCELLED'])('works in %s too', async (status) => {
    const { id } = await campaignIn(status);
    expect((await call('POST', id, '/test', { email: 'a@mail.test' })).status).toBe(200);
    expect((await read(id)).status).toBe(status);
  });

  it.each([{}, { email: '' }, { email: 'nobody' }, { email: 'a@mail.test\nBcc: b@mail.test' }])(
    'answers 422 to %j',
    async (body) => {
      const { id } = await createCampaign();
      const reply = await call('POST', id, '/test', body);
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'email']);
    },
  );

  it('names the field when the body grows too large for this contact', async () => {
    await app.api('POST', '/contacts', {
      body: { email: 'big@mail.test', data: { list: Array.from({ length: 900 }, () => 1) } },
    });
    const { id } = await createCampaign({ body: '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}' });
    const reply = await call('POST', id, '/test', { email: 'big@mail.test' });
    expect([reply.status, reply.body.error.errors?.[0].field]).toEqual([422, 'body']);
    expect(await app.em().count(CampaignEntity, { id })).toBe(1);
  });
});
