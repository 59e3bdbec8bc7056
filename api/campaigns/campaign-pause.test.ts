import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import { trustDomain, untrustDomain } from '../../shared/domain/domains/sender-domains.ts';
import { domainOf } from '../../shared/pure/emails/email-address.ts';
import { startCampaignApi, TIME, UNKNOWN_ID, type CampaignApi } from '../../tests/support/campaigns.ts';

let app: CampaignApi;
beforeAll(async () => {
  app = await startCampaignApi();
});
afterAll(() => app.stop());

describe('a campaign that is being sent', () => {
  it('shows that it is paused beside its status, until it is resumed', async () => {
    const { id } = await app.campaignIn('SENDING');
    expect(await app.read(id)).toMatchObject({ status: 'SENDING', paused: false, pausedAt: null });
    const paused = await app.call('POST', id, '/pause');
    expect([paused.status, paused.body]).toMatchObject([200, { status: 'SENDING', paused: true, pausedAt: TIME }]);
    expect(await app.read(id)).toEqual(paused.body);
    const resumed = await app.call('POST', id, '/resume');
    expect([resumed.status, resumed.body]).toMatchObject([200, { status: 'SENDING', paused: false, pausedAt: null }]);
  });

  it('is paused once and resumed once, however often that is requested, also at the same time', async () => {
    const { id } = await app.campaignIn('SENDING');
    for (const [action, rows] of [
      ['/pause', 1],
      ['/resume', 2],
    ] as const) {
      const replies = await Promise.all(Array.from({ length: 5 }, () => app.call('POST', id, action)));
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200, 200]);
      expect(new Set(replies.map((reply) => reply.body.pausedAt)).size).toBe(1);
      expect(await app.outboxRows(id)).toBe(rows);
    }
  });

  it('stays paused while its sender domain is not verified', async () => {
    const { id, from } = await app.campaignIn('SENDING');
    await app.call('POST', id, '/pause');
    await untrustDomain(app.em(), app.project.id, domainOf(from));
    const refused = await app.call('POST', id, '/resume');
    expect([refused.status, refused.body.error.details?.reason]).toEqual([403, 'DOMAIN_NOT_VERIFIED']);
    expect(await app.read(id)).toMatchObject({ status: 'SENDING', paused: true });
    expect(await app.outboxRows(id)).toBe(1);
    await trustDomain(app.em(), app.project.id, domainOf(from));
    expect((await app.call('POST', id, '/resume')).body).toMatchObject({ paused: false });
  });

  it('can be cancelled and deleted while it is paused, and is no longer paused then', async () => {
    const { id } = await app.campaignIn('SENDING');
    await app.call('POST', id, '/pause');
    const refused = await app.call('DELETE', id);
    expect([refused.status, refused.body.error.suggestion]).toEqual([409, expect.stringMatching(/^Cancel it first/)]);
    const cancelled = await app.call('POST', id, '/cancel');
    expect(cancelled.body).toMatchObject({ status: 'CANCELLED', paused: false, pausedAt: null });
    expect((await app.call('DELETE', id)).status).toBe(204);
  });
});

describe.each(['/pause', '/resume'])('POST %s', (action) => {
  it.each<CampaignStatus>(['DRAFT', 'SCHEDULED', 'SENT', 'CANCELLED'])('of a campaign in %s is 400', async (status) => {
    const before = await app.campaignIn(status);
    const reply = await app.call('POST', before.id, action);
    expect([reply.status, reply.body.error.code, reply.body.error.details]).toEqual([400, 'BAD_REQUEST', { status }]);
    expect(reply.body.error.message).toContain(status);
    expect(await app.read(before.id)).toEqual(before);
  });

  it('of a campaign that is not there, or of another project, is 404', async () => {
    const theirs = await app.createCampaign({}, await app.createProject());
    for (const id of [UNKNOWN_ID, theirs.id]) {
      const reply = await app.call('POST', id, action);
      expect([reply.status, reply.body.error.code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
    }
    expect((await app.call('POST', 'launch', action)).status).toBe(422);
  });
});
