import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { CAMPAIGN_CHANGED_SIGNAL } from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { fakeCampaign, startCampaign, untilCancelled, type FakeCampaign } from '../../tests/support/fake-campaign.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

const TOTAL = 1_050;
const ALL_PAGES = Array.from({ length: 11 }, (_, n) => `${n * 100 + 1}-${Math.min((n + 1) * 100, TOTAL)}`).sort();

type Freeze = FakeCampaign['activities']['freezeAudience'];

/** A campaign of eleven pages whose audience grows with each call; `before` runs ahead of each call but the first. */
function growingCampaign(before: (untilTotal: number) => Promise<unknown>) {
  const asked: (number | undefined)[] = [];
  const fake = fakeCampaign({}, { totalRecipients: 0 });
  const freezeAudience: Freeze = async ({ untilTotal = Infinity }) => {
    asked.push(untilTotal);
    if (asked.length > 1) await before(untilTotal);
    const totalRecipients = Math.min(untilTotal, TOTAL);
    if (totalRecipients < TOTAL) return { totalRecipients, isStopped: false, isPartial: true };
    return { totalRecipients, isStopped: false };
  };
  fake.activities.freezeAudience = freezeAudience;
  return { fake, asked };
}

async function run(fake: FakeCampaign, during?: (handle: WorkflowHandle) => Promise<void>): Promise<void> {
  await workflows.withActivities(fake.activities, async () => {
    const handle = await startCampaign(workflows.client);
    await during?.(handle);
    await handle.result();
  });
}

it('a campaign sends stored pages while the rest of its audience is being stored', async () => {
  const { fake, asked } = growingCampaign((untilTotal) =>
    // All stored recipients are sent to before more are stored.
    eventually(async () => fake.pages.length === untilTotal / 200),
  );
  await run(fake);
  expect(asked).toEqual([200, 400, 800, 1_600]);
  expect([...fake.pages].sort()).toEqual(ALL_PAGES);
  expect(fake.campaign.status).toBe('SENT');
});

it('a campaign paused while its audience is being stored stores all of it, and sends the rest later', async () => {
  let isFrozen = false;
  let rounds = 0;
  const { fake } = growingCampaign(() => eventually(async () => isFrozen));
  const sent = new Set<string>();
  fake.activities.sendRecipientPage = async ({ firstSeq, lastSeq }) => {
    if (fake.campaign.pausedSince !== undefined) return { sent: 0, deferred: 0, isStopped: true };
    sent.add(`${firstSeq}-${lastSeq}`);
    return { sent: 100, deferred: 0, isStopped: false };
  };
  fake.activities.planDeferred = async () => {
    rounds += 1;
    const left = ALL_PAGES.filter((page) => !sent.has(page)).map((page) => Number(page.split('-')[0]));
    return { firstSeqs: left, retryInMs: 0 };
  };
  await run(fake, async (handle) => {
    await eventually(async () => sent.size === 2);
    fake.campaign.pausedSince = '2026-11-22T08:00:00.000Z';
    await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
    isFrozen = true;
    await eventually(async () => rounds > 0);
    expect(sent.size).toBe(2);
    delete fake.campaign.pausedSince;
    await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
  });
  expect([...sent].sort()).toEqual(ALL_PAGES);
  expect(fake.campaign.status).toBe('SENT');
});

it.each(['the API', 'Temporal'])(
  'a campaign that is cancelled through %s while its audience grows ends at once',
  async (by) => {
    const { fake } = growingCampaign(untilCancelled);
    await run(fake, async (handle) => {
      await eventually(async () => fake.pages.length === 2);
      if (by === 'Temporal') return void (await handle.cancel());
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
    });
    expect(fake.campaign.status).toBe('CANCELLED');
    expect([...fake.pages].sort()).toEqual(['1-100', '101-200']);
    expect(fake.closings).toEqual(['early', 'at the end']);
  },
);

it('a campaign whose audience cannot be stored completely is cancelled with the reason', async () => {
  const { fake } = growingCampaign(() =>
    Promise.reject(ApplicationFailure.nonRetryable('It cannot be done.', 'Impossible')),
  );
  await run(fake);
  expect([fake.campaign.status, fake.reasons]).toEqual(['CANCELLED', ['It cannot be done.']]);
});
