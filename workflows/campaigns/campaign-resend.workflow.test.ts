import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { CAMPAIGN_CHANGED_SIGNAL } from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { fakeCampaign, startCampaign, type FakeCampaign } from '../../tests/support/fake-campaign.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

/** A campaign of two pages; those in `left` have recipients who are queued. */
function campaignWith(left: number[], state: Partial<FakeCampaign['campaign']> = {}): FakeCampaign {
  return fakeCampaign(
    { planDeferred: async () => ({ firstSeqs: left.splice(0), retryInMs: 0 }) },
    { totalRecipients: 200, ...state },
  );
}

describe('a campaign that is sent again', () => {
  it('queues its recipients first, and sends the pages that have some', async () => {
    const fake = campaignWith([101], { isResending: true, isAudienceFrozen: true });
    await workflows.withActivities(fake.activities, async () => (await startCampaign(workflows.client)).result());
    expect([fake.pages, fake.campaign]).toMatchObject([['101-200'], { status: 'SENT' }]);
    expect(fake.campaign.isResending).toBeUndefined();
  });

  it('is sent again by its workflow when that is closing it', async () => {
    const left: number[] = [];
    const fake = campaignWith(left);
    const { finishCampaign } = fake.activities;
    let handle: WorkflowHandle | undefined;
    let closings = 0;
    fake.activities.finishCampaign = async (campaign) => {
      const closed = await finishCampaign(campaign);
      if (closings++ > 0) return closed;
      // The activity returns SENT, and the resend is requested before its result arrives.
      left.push(1);
      Object.assign(fake.campaign, { status: 'SENDING', isResending: true });
      await eventually(() => Promise.resolve(handle !== undefined));
      await handle?.signal(CAMPAIGN_CHANGED_SIGNAL);
      return closed;
    };
    await workflows.withActivities(fake.activities, async () => {
      handle = await startCampaign(workflows.client);
      await handle.result();
    });
    expect([fake.pages.slice(2), fake.campaign.status, closings]).toEqual([['1-100'], 'SENT', 2]);
  });

  it('is not closed by a late repetition of an earlier attempt to close it', async () => {
    const left: number[] = [];
    const fake = campaignWith(left);
    const { finishCampaign } = fake.activities;
    let closings = 0;
    fake.activities.finishCampaign = async (campaign) => {
      if (closings++ > 0) return finishCampaign(campaign);
      left.push(101);
      fake.campaign.isResending = true;
      return { status: 'SENDING', isResending: true };
    };
    await workflows.withActivities(fake.activities, async () => (await startCampaign(workflows.client)).result());
    expect([fake.pages.slice(2), fake.campaign.status]).toEqual([['101-200'], 'SENT']);
  });
});
