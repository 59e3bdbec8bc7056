import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CAMPAIGN_CHANGED_SIGNAL } from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { fakeCampaign, startCampaign, untilCancelled, type FakeCampaign } from '../../tests/support/fake-campaign.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

/** A campaign of three pages. The second one takes long; the others have deferred emails. */
function campaignWithSlowPage(slow: () => Promise<unknown>): FakeCampaign {
  const fake = fakeCampaign({}, { totalRecipients: 300 });
  const { sendRecipientPage } = fake.activities;
  const deferred = new Set([1, 101, 201]);
  Object.assign(fake.activities, {
    async sendRecipientPage(page: Parameters<typeof sendRecipientPage>[0]) {
      if (fake.pages.includes(`${page.firstSeq}-${page.lastSeq}`)) deferred.delete(page.firstSeq);
      if (page.firstSeq === 101) await slow();
      return sendRecipientPage(page);
    },
    planDeferred: async () => ({ firstSeqs: [...deferred].sort((a, b) => a - b), retryInMs: 0 }),
  });
  return fake;
}

describe('a campaign with a page that takes long', () => {
  it('tries the emails of the other pages again meanwhile, and those of this page when it has ended', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const fake = campaignWithSlowPage(() => released);
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 4));
      expect(fake.pages.toSorted()).toEqual(['1-100', '1-100', '201-300', '201-300']);
      release();
      expect((await handle.result()).status).toBe('SENT');
    });
    expect(fake.pages.slice(4)).toEqual(['101-200', '101-200']);
  });

  it('is cancelled at once while it looks for other pages', async () => {
    const fake = campaignWithSlowPage(untilCancelled);
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 4));
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
    });
    expect(fake.pages).toHaveLength(4);
    expect(fake.closings).toContain('early');
  });
});
