import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import {
  campaignContent,
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

describe('one campaign', () => {
  const ENDPOINTS: [string, string, unknown][] = [
    ['GET', '', undefined],
    ['PUT', '', campaignContent()],
    ['DELETE', '', undefined],
    ['POST', '/duplicate', undefined],
    ['POST', '/send', {}],
    ['POST', '/cancel', undefined],
    ['POST', '/test', { email: 'a@mail.test' }],
    ['GET', '/stats', undefined],
  ];

  it.each(ENDPOINTS)(
    '%s %s answers 422 to a malformed id, and 404 to an unknown one or one of another project',
    async (method, action, body) => {
      const theirs = await app.createCampaign({}, await app.createProject());
      for (const id of [UNKNOWN_ID, theirs.id]) {
        const reply = await app.call(method, id, action, body);
        expect([reply.status, reply.body.error.code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
      }
      const reply = await app.call(method, 'launch', action, body);
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
    const before = await app.campaignIn(status);
    const reply = await app.call(
      'PUT',
      before.id,
      '',
      campaignContent({ name: 'New', type: 'HEADLESS', replyTo: 'r@example.com' }),
    );
    expect(reply.status).toBe(expected);
    const after = await app.read(before.id);
    if (expected === 200) {
      expect(after).toEqual(reply.body);
      expect(after).toMatchObject({ status, name: 'New', type: 'HEADLESS', replyTo: 'r@example.com' });
      expect(after.scheduledFor).toBe(before.scheduledFor);
    } else expect(after).toEqual(before);
  });

  it('PUT replaces everything and is as strict as POST', async () => {
    const { id } = await app.createCampaign({
      description: 'Old',
      fromName: 'Old',
      audienceType: 'FILTERED',
      audienceCondition: proPlan,
    });
    expect((await app.call('PUT', id, '', campaignContent())).body).toMatchObject({
      description: null,
      fromName: null,
      audienceType: 'ALL',
      audienceCondition: null,
    });
    expect((await app.call('PUT', id, '', campaignContent({ name: undefined }))).status).toBe(422);
    expect((await app.call('PUT', id, '', campaignContent({ from: 'news@other.test' }))).status).toBe(403);
    expect((await app.call('PUT', id, '', campaignContent({ audienceType: 'SEGMENT' }))).status).toBe(400);
    expect((await app.call('PUT', id, '', campaignContent({ subject: '{{#if a}}' }))).status).toBe(400);
  });

  it.each<[CampaignStatus, number]>([
    ['DRAFT', 204],
    ['SCHEDULED', 409],
    ['SENDING', 409],
    ['SENT', 204],
    ['CANCELLED', 204],
  ])('DELETE in %s answers %i', async (status, expected) => {
    const { id } = await app.campaignIn(status);
    const reply = await app.call('DELETE', id);
    expect(reply.status).toBe(expected);
    expect((await app.call('GET', id)).status).toBe(expected === 204 ? 404 : 200);
  });

  it('duplicates content and audience, not the history', async () => {
    const original = await app.createCampaign({
      description: 'D',
      fromName: 'F',
      replyTo: 'r@example.com',
      type: 'HEADLESS',
      audienceType: 'FILTERED',
      audienceCondition: proPlan,
    });
    await query(
      app.em(),
      sql`update campaign set status = 'SENT', sent_count = 5, total_recipients = 5, sent_at = now() where id = ${original.id}`,
    );
    const reply = await app.call('POST', original.id, '/duplicate');
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
    const { id } = await app.createCampaign({ name: 'n'.repeat(200) });
    const reply = await app.call('POST', id, '/duplicate');
    expect(reply.status).toBe(201);
    expect((await app.call('PUT', reply.body.id, '', campaignContent({ name: reply.body.name }))).status).toBe(200);
  });

  it('has rates from 0 to 100, whatever its counters are', async () => {
    const { id } = await app.createCampaign();
    await query(
      app.em(),
      sql`update campaign set sent_count = 2, delivered_count = 1, opened_count = 3, bounced_count = 5 where id = ${id}`,
    );
    expect((await app.call('GET', id, '/stats')).body).toMatchObject({
      deliveryRate: 50,
      openRate: 100,
      clickRate: 0,
      bounceRate: 100,
    });
  });

  it('has stats, before and after it is sent', async () => {
    const { id } = await app.createCampaign();
    const zeroes = {
      totalRecipients: 0,
      sentCount: 0,
      deliveredCount: 0,
      openedCount: 0,
      clickedCount: 0,
      bouncedCount: 0,
      humanOpenedCount: 0,
      humanClickedCount: 0,
      complainedCount: 0,
      unsubscribedCount: 0,
      failedCount: 0,
      skippedCount: 0,
      suppressedCount: 0,
      openRate: 0,
      clickRate: 0,
      humanOpenRate: 0,
      humanClickRate: 0,
      bounceRate: 0,
      deliveryRate: 0,
    };
    expect((await app.call('GET', id, '/stats')).body).toEqual(zeroes);
    await query(
      app.em(),
      sql`
        update campaign set total_recipients = 12, sent_count = 9, delivered_count = 6, opened_count = 3, clicked_count = 1,
          bounced_count = 1, failed_count = 1, skipped_count = 1
        where id = ${id}`,
    );
    expect((await app.call('GET', id, '/stats')).body).toMatchObject({
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
