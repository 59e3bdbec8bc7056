import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestProject } from '../../tests/support/api.ts';
import {
  campaignContent,
  filterCondition,
  proPlan,
  TIME,
  UNKNOWN_ID,
  startCampaignApi,
  type CampaignApi,
} from '../../tests/support/campaigns.ts';

let app: CampaignApi;
beforeAll(async () => {
  app = await startCampaignApi();
});
afterAll(() => app.stop());

describe('POST /campaigns', () => {
  it('creates a draft', async () => {
    const reply = await app.postCampaign(campaignContent({ from: ' News@Example.com ', unknown: 1 }));
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
        text: null,
        preheader: null,
        type: 'MARKETING',
        topicId: null,
        status: 'DRAFT',
        audienceType: 'ALL',
        audienceCondition: null,
        segmentId: null,
        scheduledFor: null,
        paused: false,
        pausedAt: null,
        public: false,
        totalRecipients: 0,
        sentCount: 0,
        deliveredCount: 0,
        openedCount: 0,
        clickedCount: 0,
        bouncedCount: 0,
        humanOpenedCount: 0,
        humanClickedCount: 0,
        projectId: app.project.id,
        sentAt: null,
        error: null,
        waiting: null,
        createdAt: TIME,
        updatedAt: TIME,
      },
    });
    expect(await app.read(reply.body.data.id)).toEqual(reply.body.data);
    expect(await app.outboxRows(reply.body.data.id)).toBe(0);
  });

  it('keeps only the field that its audience type needs', async () => {
    const segmentId = await app.createSegment();
    const both = { segmentId, audienceCondition: proPlan };
    expect(await app.createCampaign({ ...both, audienceType: 'FILTERED' })).toMatchObject({
      audienceCondition: proPlan,
      segmentId: null,
    });
    expect(await app.createCampaign({ ...both, audienceType: 'SEGMENT' })).toMatchObject({
      audienceCondition: null,
      segmentId,
    });
    expect(await app.createCampaign({ ...both, audienceType: 'ALL' })).toMatchObject({
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
    const reply = await app.postCampaign(campaignContent(change));
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.error.details).toEqual({ field });
  });

  it.each<[string, unknown[], string]>([
    ['an unknown field', [{ field: 'colour', operator: 'equals', value: 1 }], 'audienceCondition.groups[0].filters[0]'],
    [
      'a value of the wrong type in the second filter',
      [proPlan.groups[0]?.filters[0], { field: 'subscribed', operator: 'equals', value: 'yes' }],
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
  ])('answers 400 with the path in the tree to %s', async (_fault, filters, path) => {
    const reply = await app.postCampaign(
      campaignContent({ audienceType: 'FILTERED', audienceCondition: filterCondition(...filters) }),
    );
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
      { audienceType: 'FILTERED', audienceCondition: { ...proPlan, logic: 'XOR' } },
      'audienceCondition.logic',
    ],
    [
      'no groups',
      { audienceType: 'FILTERED', audienceCondition: { logic: 'AND', groups: [] } },
      'audienceCondition.groups',
    ],
  ])('answers 422 to %s', async (_fault, change, field) => {
    const reply = await app.postCampaign(campaignContent(change));
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error.errors.map((error: any) => error.field)).toContain(field);
  });

  it('refuses a fault in the template, the segments of others and unverified senders', async () => {
    const syntax = await app.postCampaign(campaignContent({ body: '<p>{{#if name}}</p>' }));
    expect([syntax.status, syntax.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(syntax.body.error.details).toMatchObject({ field: 'body', line: 1, column: 4 });
    const theirs = await app.createSegment(await app.createProject());
    for (const segmentId of [theirs, UNKNOWN_ID]) {
      const segment = await app.postCampaign(campaignContent({ audienceType: 'SEGMENT', segmentId }));
      expect([segment.status, segment.body.error.code]).toEqual([404, 'SEGMENT_NOT_FOUND']);
    }
    const domain = await app.postCampaign(campaignContent({ from: 'news@other.test' }));
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
      await app.createCampaign({ name, subject, from }, project);
    }
  });

  it('lists by page, newest first', async () => {
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
