import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CAMPAIGN_PROGRESS_QUERY,
  type CampaignProgress,
} from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { fakeCampaign, startCampaign, untilCancelled, type FakeCampaign } from '../../tests/support/fake-campaign.ts';
import type { Hold } from '../../shared/pure/emails/hold.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

const PAUSED_SINCE = '2026-11-22T08:00:00.000Z';

/** A campaign of three pages; the last two are on the wire until they are cancelled, and must be sent later. */
function campaignAtWork(): FakeCampaign {
  const fake = fakeCampaign({}, { totalRecipients: 300 });
  const { sendRecipientPage } = fake.activities;
  const left = new Set([101, 201]);
  let isFirstTime = true;
  Object.assign(fake.activities, {
    async sendRecipientPage(page: Parameters<typeof sendRecipientPage>[0]) {
      if (left.has(page.firstSeq) && isFirstTime) return untilCancelled();
      left.delete(page.firstSeq);
      return sendRecipientPage(page);
    },
    async planDeferred() {
      isFirstTime = false;
      return { firstSeqs: [...left].sort(), retryInMs: 0 };
    },
  });
  return fake;
}

async function setPaused(fake: FakeCampaign, handle: WorkflowHandle, isPaused: boolean): Promise<void> {
  if (isPaused) fake.campaign.pausedSince = PAUSED_SINCE;
  else delete fake.campaign.pausedSince;
  await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
}

async function untilPaused(handle: WorkflowHandle): Promise<void> {
  await eventually(async () => (await handle.query<CampaignProgress>(CAMPAIGN_PROGRESS_QUERY)).phase === 'paused');
}

describe('a campaign that is paused while its pages are sent', () => {
  it('ends them, says so in the Temporal UI, and sends the rest when it is resumed', async () => {
    const fake = campaignAtWork();
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      await setPaused(fake, handle, true);
      await untilPaused(handle);
      const details = await handle.query<string>('__temporal_workflow_metadata');
      expect(JSON.stringify(details)).toContain(`**Paused** since ${PAUSED_SINCE}`);
      expect(fake.pages).toEqual(['1-100']);
      expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
      await setPaused(fake, handle, false);
      await handle.result();
    });
    expect([...fake.pages].sort()).toEqual(['1-100', '101-200', '201-300']);
    expect([fake.campaign.status, fake.closings]).toEqual(['SENT', ['at the end']]);
  });

  it('waits until it is resumed, whatever other signals it gets', async () => {
    const fake = campaignAtWork();
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      await setPaused(fake, handle, true);
      for (let times = 0; times < 5; times++) {
        await untilPaused(handle);
        await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      }
      await untilPaused(handle);
      expect(fake.pages).toEqual(['1-100']);
      await setPaused(fake, handle, false);
      await handle.result();
    });
    expect(fake.pages).toHaveLength(3);
  });

  it.each(['through the API', 'in Temporal'])('is cancelled at once %s', async (way) => {
    const fake = campaignAtWork();
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      await setPaused(fake, handle, true);
      await untilPaused(handle);
      if (way === 'in Temporal') await handle.cancel();
      else {
        fake.campaign.status = 'CANCELLED';
        await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      }
      await handle.result();
    });
    expect([fake.campaign.status, fake.pages]).toEqual(['CANCELLED', ['1-100']]);
  });
});

describe('a campaign that holds while its pages are sent', () => {
  it('shows the reason in the Temporal UI after the signal', async () => {
    const fake = campaignAtWork();
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      const [words, until] = ['2.00 % of 4000 emails were reported as spam.', '2026-11-22T08:00:30.000Z'];
      fake.campaign.waiting = { level: 'stream', reason: 'complaints', provider: 'gmail.com', words, until };
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(async () =>
        JSON.stringify(await handle.query('__temporal_workflow_metadata')).includes(
          `**holds** because of **gmail.com**. ${words}`,
        ),
      );
      await handle.cancel();
      await handle.result();
    });
  });
});

describe('a campaign whose hold has ended', () => {
  const hold: Hold = {
    level: 'stream',
    reason: 'complaints',
    words: 'Many called it spam.',
    provider: 'gmail.com',
    until: '2026-11-22T08:00:30.000Z',
  };

  it('continues after the signal, without waiting for the retries of its pages', async () => {
    const fake = campaignAtWork();
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      fake.campaign.waiting = hold;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(async () =>
        JSON.stringify(await handle.query('__temporal_workflow_metadata')).includes('**holds**'),
      );
      expect(fake.pages).toEqual(['1-100']);
      delete fake.campaign.waiting;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
    });
    expect([...fake.pages].sort()).toEqual(['1-100', '101-200', '201-300']);
  });

  it('does not restart its pages while it waits for one relay only', async () => {
    const fake = campaignAtWork();
    const { readCampaign } = fake.activities;
    let reads = 0;
    fake.activities.readCampaign = (campaign) => {
      reads += 1;
      return readCampaign(campaign);
    };
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await eventually(() => Promise.resolve(fake.pages.length === 1));
      fake.campaign.waiting = { ...hold, level: 'provider', reason: 'provider paused', relay: 'smtp.example.com' };
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(async () =>
        JSON.stringify(await handle.query('__temporal_workflow_metadata')).includes('wait for'),
      );
      delete fake.campaign.waiting;
      const before = reads;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(() => Promise.resolve(reads > before));
      await eventually(async () => (await handle.describe()).raw.pendingActivities?.length === 2);
      await handle.cancel();
      await handle.result();
    });
    expect(fake.pages).toEqual(['1-100']);
  });
});

describe('a campaign that is paused while its audience is being stored', () => {
  it('stores its audience, and sends nothing before it is resumed', async () => {
    let isFrozen = false;
    const left = new Set([1, 101]);
    const fake = fakeCampaign({}, { totalRecipients: 200 });
    const { sendRecipientPage } = fake.activities;
    Object.assign(fake.activities, {
      async freezeAudience() {
        await eventually(() => Promise.resolve(isFrozen));
        return { totalRecipients: 200, isStopped: false };
      },
      async sendRecipientPage(page: Parameters<typeof sendRecipientPage>[0]) {
        if (fake.campaign.pausedSince !== undefined) return { sent: 0, deferred: 0, isStopped: true };
        left.delete(page.firstSeq);
        return sendRecipientPage(page);
      },
      planDeferred: async () => ({ firstSeqs: [...left], retryInMs: 0 }),
    });
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startCampaign(workflows.client);
      await setPaused(fake, handle, true);
      isFrozen = true;
      await untilPaused(handle);
      expect(fake.pages).toEqual([]);
      await setPaused(fake, handle, false);
      await handle.result();
    });
    expect([...fake.pages].sort()).toEqual(['1-100', '101-200']);
  });
});
