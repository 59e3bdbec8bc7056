import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CAMPAIGN_CHANGED_SIGNAL } from '../../shared/pure/workflow-contracts.ts';
import { fakeCampaign, startCampaign, type FakeCampaign } from '../../tests/support/fake-campaign.ts';
import {
  durationOf,
  startTimeSkippingWorkflows,
  type TimeSkippingWorkflows,
} from '../../tests/support/test-workflows.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let workflows: TimeSkippingWorkflows;
beforeAll(async () => {
  workflows = await startTimeSkippingWorkflows();
});
afterAll(() => workflows.stop());

function withCampaign<T>({ activities }: FakeCampaign, run: () => Promise<T>): Promise<T> {
  return workflows.withActivities(activities, run);
}

describe('the campaign workflow', () => {
  it('sends every page once, closes the campaign and tells what became of its emails', async () => {
    const fake = fakeCampaign();
    await withCampaign(fake, async () => {
      const handle = await startCampaign(workflows.client);
      expect(await handle.result()).toEqual({ status: 'SENT', totalRecipients: 450, emails: { SENT: 450 } });
    });
    expect([...fake.pages].sort()).toEqual(['1-100', '101-200', '201-300', '301-400', '401-450']);
    expect(fake.campaign.status).toBe('SENT');
  });

  it('waits thirty days for a scheduled campaign, and sends at its new time', async () => {
    const startMs = await workflows.environment.currentTimeMs();
    const fake = fakeCampaign({}, { status: 'SCHEDULED', scheduledForMs: startMs + 60 * DAY_MS });
    await withCampaign(fake, async () => {
      const handle = await startCampaign(workflows.client);
      await workflows.environment.sleep(DAY_MS);
      fake.campaign.scheduledForMs = startMs + 30 * DAY_MS;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await workflows.environment.sleep(28 * DAY_MS);
      expect(fake.pages).toEqual([]);
      await handle.result();
      const { closeTime } = await handle.describe();
      const passedMs = (closeTime?.getTime() ?? 0) - startMs;
      expect(passedMs).toBeGreaterThanOrEqual(30 * DAY_MS);
      expect(passedMs).toBeLessThan(31 * DAY_MS);
    });
    expect(fake.pages).toHaveLength(5);
    expect(fake.campaign.status).toBe('SENT');
  });

  it('ends at once without sending when a scheduled campaign is cancelled', async () => {
    const fake = fakeCampaign(
      {},
      { status: 'SCHEDULED', scheduledForMs: (await workflows.environment.currentTimeMs()) + 30 * DAY_MS },
    );
    await withCampaign(fake, async () => {
      const handle = await startCampaign(workflows.client);
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
      expect(await durationOf(handle)).toBeLessThan(DAY_MS);
    });
    expect(fake.pages).toEqual([]);
    expect(fake.campaign.status).toBe('CANCELLED');
  });

  it('repeats deferred email after the pause until none is left', async () => {
    const rounds = [
      { firstSeqs: [101, 401], retryInMs: 10_000 },
      { firstSeqs: [401], retryInMs: 8 * 60 * 60 * 1_000 },
      { firstSeqs: [], retryInMs: 0 },
    ];
    const fake = fakeCampaign({
      planDeferred: () => Promise.resolve(rounds.shift() ?? { firstSeqs: [], retryInMs: 0 }),
    });
    await withCampaign(fake, async () => {
      const handle = await startCampaign(workflows.client);
      await handle.result();
      expect(await durationOf(handle)).toBeGreaterThanOrEqual(8 * 60 * 60 * 1_000);
    });
    expect(fake.pages.slice(5).sort()).toEqual(['101-200', '401-450', '401-450']);
    expect(fake.campaign.status).toBe('SENT');
  });

  it('continues as new without losing or repeating a page', async () => {
    const total = 100_000;
    const fake = fakeCampaign({}, { pageSize: 200, totalRecipients: total });
    await withCampaign(fake, async () => {
      const handle = await startCampaign(workflows.client);
      await handle.result();
      const first = workflows.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      const { status, historyLength } = await first.describe();
      expect(status.name).toBe('CONTINUED_AS_NEW');
      expect(historyLength).toBeLessThan(2_000);
    });
    expect(fake.pages).toHaveLength(500);
    expect(new Set(fake.pages).size).toBe(500);
    expect(fake.campaign.status).toBe('SENT');
  });
});
