import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { replaceCampaign, sendCampaign } from '../../shared/domain/campaigns/campaigns.ts';
import { query, sql, type Em } from '../../shared/database/sql.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import {
  campaignContent,
  filterCondition,
  inDays,
  startCampaignApi,
  type CampaignApi,
} from '../../tests/support/campaigns.ts';
import { untilBlocked } from '../../tests/support/database.ts';

let app: CampaignApi;
beforeAll(async () => {
  app = await startCampaignApi();
});
afterAll(() => app.stop());

describe('POST /campaigns/:id/send', () => {
  it('sends now', async () => {
    for (const body of [undefined, {}, { scheduledFor: null }, { scheduledFor: '2001-01-01' }, { scheduledFor: 0 }]) {
      const { id } = await app.createCampaign();
      const reply = await app.call('POST', id, '/send', body);
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        success: true,
        data: { id, status: 'SENDING', scheduledFor: null, sentAt: null },
        message: 'Campaign is being sent',
      });
      expect(await app.outboxRows(id)).toBe(1);
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
    const { id } = await app.createCampaign();
    const reply = await app.sendCampaign(id, { scheduledFor });
    expect(reply.body).toMatchObject({
      success: true,
      data: { status: 'SCHEDULED', scheduledFor: expected },
      message: `Campaign scheduled for ${expected}`,
    });
    expect(await app.read(id)).toEqual(reply.body.data);
  });

  it.each(['tomorrow', '', '2090-13-40', '+010000-01-01T00:00:00Z', 8.64e15, 8.64e15 + 1])(
    'answers 400 to %p',
    async (scheduledFor) => {
      const campaign = await app.createCampaign();
      const reply = await app.sendCampaign(campaign.id, { scheduledFor });
      expect([reply.status, reply.body.error.code, reply.body.error.details]).toEqual([
        400,
        'BAD_REQUEST',
        { field: 'scheduledFor' },
      ]);
      expect([await app.read(campaign.id), await app.outboxRows(campaign.id)]).toEqual([campaign, 0]);
    },
  );

  it.each([true, { at: 1 }, [1]])('answers 422 to %j, which is no date-time at all', async (scheduledFor) => {
    const { id } = await app.createCampaign();
    const reply = await app.sendCampaign(id, { scheduledFor });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'scheduledFor']);
  });

  it('changes the schedule, and sends a scheduled one now', async () => {
    const { id } = await app.campaignIn('SCHEDULED');
    const later = inDays(60);
    expect((await app.sendCampaign(id, { scheduledFor: later })).body.data).toMatchObject({
      status: 'SCHEDULED',
      scheduledFor: later,
    });
    expect((await app.sendCampaign(id)).body.data).toMatchObject({ status: 'SENDING', scheduledFor: null });
    expect(await app.outboxRows(id)).toBe(3);
  });

  it.each<CampaignStatus>(['SENDING', 'SENT', 'CANCELLED'])('answers 400 in %s', async (status) => {
    const campaign = await app.campaignIn(status);
    for (const body of [{}, { scheduledFor: inDays(1) }]) {
      const reply = await app.sendCampaign(campaign.id, body);
      expect([reply.status, reply.body.error.details]).toEqual([400, { status }]);
    }
    expect(await app.read(campaign.id)).toEqual(campaign);
  });

  it('answers 400 now and for later when a segment of the audience was deleted', async () => {
    const outside = (segmentId: string) =>
      filterCondition({ field: `segment.${segmentId}`, operator: 'notMemberOfSegment' });
    const excluded = await app.createSegment();
    const others = await app.api('POST', '/segments', {
      body: { name: 'Others', type: 'DYNAMIC', condition: outside(excluded) },
    });
    const drafts = await Promise.all([
      app.createCampaign({ audienceType: 'FILTERED', audienceCondition: outside(excluded) }),
      app.createCampaign({ audienceType: 'SEGMENT', segmentId: others.body.id }),
      app.createCampaign({ audienceType: 'SEGMENT', segmentId: excluded }),
    ]);
    expect((await app.api('DELETE', `/segments/${excluded}`)).status).toBe(204);
    for (const draft of drafts) {
      for (const body of [{}, { scheduledFor: inDays(1) }]) {
        const reply = await app.sendCampaign(draft.id, body);
        expect([reply.status, reply.body.error?.details]).toEqual([400, { segmentId: excluded }]);
      }
      expect((await app.call('POST', draft.id, '/check')).status).toBe(400);
      expect([await app.read(draft.id), await app.outboxRows(draft.id)]).toEqual([draft, 0]);
    }
  });

  it('keeps a segment that becomes the audience of an active campaign meanwhile', async () => {
    const [first, second] = await Promise.all([app.createSegment(), app.createSegment()]);
    const draft = await app.createCampaign({ audienceType: 'SEGMENT', segmentId: first });
    const { id, projectId } = draft;
    const steps: [string, (em: Em) => Promise<unknown>][] = [
      [first, (em) => sendCampaign(em, projectId, id, new Date(inDays(1)))],
      [second, (em) => replaceCampaign(em, projectId, id, { ...draft, status: 'SCHEDULED', segmentId: second })],
    ];
    for (const [segmentId, change] of steps) {
      const em = app.em();
      await em.begin();
      await change(em);
      const deleting = app.api('DELETE', `/segments/${segmentId}`);
      await untilBlocked(app.em);
      await em.commit();
      expect((await deleting).status).toBe(409);
    }
  });

  describe('without recipients', () => {
    const nobody = filterCondition({ field: 'data.plan', operator: 'equals', value: 'none' });
    const create = () => app.createCampaign({ audienceType: 'FILTERED', audienceCondition: nobody });

    it('answers 400 and changes nothing when it is to be sent now', async () => {
      const campaign = await create();
      const reply = await app.sendCampaign(campaign.id);
      expect([reply.status, reply.body.error.message]).toEqual([400, 'Campaign has no recipients']);
      expect([await app.read(campaign.id), await app.outboxRows(campaign.id)]).toEqual([campaign, 0]);
    });

    it('is scheduled, because its audience is stored when it is due', async () => {
      const { id } = await create();
      const scheduledFor = inDays(1);
      const reply = await app.sendCampaign(id, { scheduledFor });
      expect([reply.status, reply.body.data]).toMatchObject([200, { status: 'SCHEDULED', scheduledFor }]);
      expect(await app.outboxRows(id)).toBe(1);
    });
  });

  it.each([
    ['MARKETING', 400],
    ['HEADLESS', 400],
    ['TRANSACTIONAL', 200],
  ])('of %s to unsubscribed contacts alone answers %i', async (type, expected) => {
    const project = await app.createProject();
    await project.api('POST', '/contacts', { body: { email: 'gone@mail.test', subscribed: false } });
    const { id } = await app.createCampaign({ type }, project);
    expect((await project.api('POST', `/campaigns/${id}/send`, { body: {} })).status).toBe(expected);
  });

  it('answers 403 when the sender domain is not verified any more', async () => {
    const project = await app.createProject();
    await project.api('POST', '/contacts', { body: { email: 'a@mail.test' } });
    const { id } = await app.createCampaign({}, project);
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

  it('succeeds once for twenty requests at once', async () => {
    const { id } = await app.createCampaign();
    const replies = await Promise.all(Array.from({ length: 20 }, () => app.sendCampaign(id)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
    expect(await app.outboxRows(id)).toBe(1);
  });

  it('leaves the campaign cancelled when a cancellation and a change come at the same time', async () => {
    const { id } = await app.campaignIn('SCHEDULED');
    const replies = await Promise.all([
      app.sendCampaign(id),
      app.call('POST', id, '/cancel'),
      app.call('PUT', id, '', campaignContent()),
    ]);
    expect(replies.map((reply) => reply.status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
    expect((await app.read(id)).status).toBe('CANCELLED');
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
    const before = await app.campaignIn(status);
    const signals = await app.outboxRows(before.id);
    const reply = await app.call('POST', before.id, '/cancel');
    expect(reply.status).toBe(expected);
    const after = await app.read(before.id);
    if (expected === 200) {
      expect(after).toEqual(reply.body);
      expect([after.status, await app.outboxRows(before.id)]).toEqual(['CANCELLED', signals + 1]);
    } else expect([after, await app.outboxRows(before.id)]).toEqual([before, signals]);
  });
});

describe('POST /campaigns/:id/test', () => {
  it.each(['reader@mail.test', 'Stranger@mail.test'])(
    'sends one mail to %s and changes nothing else',
    async (email) => {
      const campaign = await app.createCampaign({ fromName: 'Paper', replyTo: 'r@example.com' });
      const before = [await app.em().count(ContactEntity), await app.read(campaign.id)];
      const reply = await app.call('POST', campaign.id, '/test', { email });
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({ email: expect.any(String), to: email.toLowerCase() });
      const mail = await app.em().findOneOrFail(EmailEntity, { id: reply.body.email });
      expect(mail).toMatchObject({
        status: 'PENDING',
        subject: '[Test] Hi ',
        campaignId: null,
        toAddress: email.toLowerCase(),
      });
      expect([await app.em().count(ContactEntity), await app.read(campaign.id)]).toEqual(before);
    },
  );

  it.each<CampaignStatus>(['SCHEDULED', 'SENT', 'CANCELLED'])(
    'sends one of a campaign in %s as well, and leaves its status',
    async (status) => {
      const { id } = await app.campaignIn(status);
      expect((await app.call('POST', id, '/test', { email: 'a@mail.test' })).status).toBe(200);
      expect((await app.read(id)).status).toBe(status);
    },
  );

  it.each([{}, { email: '' }, { email: 'nobody' }, { email: 'a@mail.test\nBcc: b@mail.test' }])(
    'answers 422 to %j',
    async (body) => {
      const { id } = await app.createCampaign();
      const reply = await app.call('POST', id, '/test', body);
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'email']);
    },
  );

  it('names the field when the body grows too large for this contact', async () => {
    await app.api('POST', '/contacts', {
      body: { email: 'big@mail.test', data: { list: Array.from({ length: 900 }, () => 1) } },
    });
    const { id } = await app.createCampaign({ body: '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}' });
    const reply = await app.call('POST', id, '/test', { email: 'big@mail.test' });
    expect([reply.status, reply.body.error.errors?.[0].field]).toEqual([422, 'body']);
    expect(await app.em().count(CampaignEntity, { id })).toBe(1);
  });
});
