import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import type { CampaignStateView } from '../../activities/campaigns/campaign-activities.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { CAMPAIGN_CHANGED_SIGNAL, WORKFLOW_TYPES, campaignWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { testEnvironment } from '../../shared/testing/environment.ts';
import { quietTemporal } from '../../shared/testing/quiet-temporal.ts';

quietTemporal();

const DAY_MS = 24 * 60 * 60 * 1_000;

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testEnvironment().timeSkippingServerPath } },
  });
});
afterAll(() => environment.teardown());

type CampaignActivities = Pick<
  Activities,
  | 'readCampaign'
  | 'beginCampaign'
  | 'cancelCampaign'
  | 'freezeAudience'
  | 'sendRecipientPage'
  | 'planDeferred'
  | 'finishCampaign'
>;

/** A campaign in memory that behaves as PostgreSQL's does; single activities are replaced by a test. */
function fakeCampaign(overrides: Partial<CampaignActivities> = {}, state: Partial<CampaignStateView> = {}) {
  const campaign: CampaignStateView = {
    status: 'SENDING',
    scheduledForMs: null,
    totalRecipients: 0,
    isAudienceFrozen: false,
    pageSize: 100,
    ...state,
  };
  const pages: string[] = [];
  const activities: CampaignActivities = {
    readCampaign: () => Promise.resolve({ ...campaign }),
    beginCampaign({ asOfMs }) {
      if (campaign.status === 'SCHEDULED' && (campaign.scheduledForMs ?? Infinity) <= asOfMs)
        campaign.status = 'SENDING';
      return Promise.resolve();
    },
    cancelCampaign() {
      campaign.status = 'CANCELLED';
      return Promise.resolve();
    },
    freezeAudience() {
      campaign.isAudienceFrozen = true;
      campaign.totalRecipients = 450;
      return Promise.resolve({ totalRecipients: 450 });
    },
    sendRecipientPage({ firstSeq, lastSeq }) {
      pages.push(`${firstSeq}-${lastSeq}`);
      return Promise.resolve({ sent: lastSeq - firstSeq + 1, deferred: 0, isStopped: campaign.status !== 'SENDING' });
    },
    planDeferred: () => Promise.resolve({ firstSeqs: [], retryInMs: 0 }),
    finishCampaign() {
      if (campaign.status === 'SENDING') campaign.status = 'SENT';
      return Promise.resolve({ status: campaign.status });
    },
    ...overrides,
  };
  return { campaign, pages, activities };
}

async function withWorkers<T>(activities: CampaignActivities, run: () => Promise<T>): Promise<T> {
  const workers = await Promise.all([
    Worker.create({
      connection: environment.nativeConnection,
      taskQueue: TASK_QUEUES.orchestration,
      workflowBundle: { codePath: testEnvironment().workflowBundlePath },
    }),
    Worker.create({ connection: environment.nativeConnection, taskQueue: TASK_QUEUES.jobs, activities }),
    Worker.create({ connection: environment.nativeConnection, taskQueue: TASK_QUEUES.campaigns, activities }),
  ]);
  const running = workers.map((worker) => worker.run());
  try {
    return await run();
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  }
}

function startCampaign() {
  const campaignId = randomUUID();
  return environment.client.workflow.start(WORKFLOW_TYPES.campaign, {
    workflowId: campaignWorkflowId(campaignId),
    taskQueue: TASK_QUEUES.orchestration,
    args: [{ campaignId }],
  });
}

/** By the clock of the workflow; the server's own runs on to the next time-out when nothing is left to do. */
async function durationOf(handle: WorkflowHandle): Promise<number> {
  const { startTime, closeTime } = await handle.describe();
  return Number(closeTime) - Number(startTime);
}

describe('the campaign workflow', () => {
  it('sends every page once and closes the campaign', async () => {
    const { campaign, pages, activities } = fakeCampaign();
    await withWorkers(activities, async () => {
      const handle = await startCampaign();
      await handle.result();
    });
    expect([...pages].sort()).toEqual(['1-100', '101-200', '201-300', '301-400', '401-450']);
    expect(campaign.status).toBe('SENT');
  });

  it('waits thirty days for a scheduled campaign, and sends at the time it was scheduled anew for', async () => {
    const startMs = await environment.currentTimeMs();
    const { campaign, pages, activities } = fakeCampaign(
      {},
      { status: 'SCHEDULED', scheduledForMs: startMs + 60 * DAY_MS },
    );
    await withWorkers(activities, async () => {
      const handle = await startCampaign();
      await environment.sleep(DAY_MS);
      campaign.scheduledForMs = startMs + 30 * DAY_MS;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await environment.sleep(28 * DAY_MS);
      expect(pages).toEqual([]);
      await handle.result();
      const passedMs = await durationOf(handle);
      expect(passedMs).toBeGreaterThanOrEqual(30 * DAY_MS - 1_000);
      expect(passedMs).toBeLessThan(31 * DAY_MS);
    });
    expect(pages).toHaveLength(5);
    expect(campaign.status).toBe('SENT');
  });

  it('ends at once, having sent nothing, when a scheduled campaign is cancelled', async () => {
    const { campaign, pages, activities } = fakeCampaign(
      {},
      { status: 'SCHEDULED', scheduledForMs: (await environment.currentTimeMs()) + 30 * DAY_MS },
    );
    await withWorkers(activities, async () => {
      const handle = await startCampaign();
      campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
      expect(await durationOf(handle)).toBeLessThan(DAY_MS);
    });
    expect(pages).toEqual([]);
    expect(campaign.status).toBe('CANCELLED');
  });

  it('stops between pages, and ends retries that are waiting, when a campaign is cancelled while it goes out', async () => {
    const fake = fakeCampaign({
      sendRecipientPage({ firstSeq }) {
        if (firstSeq > 1) return Promise.reject(new Error('no SMTP server takes mail'));
        fake.pages.push('first');
        return Promise.resolve({ sent: 100, deferred: 0, isStopped: false });
      },
    });
    await withWorkers(fake.activities, async () => {
      const handle = await startCampaign();
      while (fake.pages.length === 0) await environment.sleep('1 second');
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
    });
    expect(fake.pages).toEqual(['first']);
    expect(fake.campaign.status).toBe('CANCELLED');
  });

  it('comes back for deferred mail after the pause, until none is left', async () => {
    const rounds = [
      { firstSeqs: [101, 401], retryInMs: 10_000 },
      { firstSeqs: [401], retryInMs: 8 * 60 * 60 * 1_000 },
      { firstSeqs: [], retryInMs: 0 },
    ];
    const { campaign, pages, activities } = fakeCampaign({
      planDeferred: () => Promise.resolve(rounds.shift() ?? { firstSeqs: [], retryInMs: 0 }),
    });
    await withWorkers(activities, async () => {
      const handle = await startCampaign();
      await handle.result();
      expect(await durationOf(handle)).toBeGreaterThanOrEqual(8 * 60 * 60 * 1_000);
    });
    expect(pages.slice(5).sort()).toEqual(['101-200', '401-450', '401-450']);
    expect(campaign.status).toBe('SENT');
  });

  it('continues as new with nothing lost or repeated when there are many pages', async () => {
    const total = 100_000;
    const fake = fakeCampaign(
      {
        freezeAudience() {
          fake.campaign.isAudienceFrozen = true;
          fake.campaign.totalRecipients = total;
          return Promise.resolve({ totalRecipients: total });
        },
      },
      { pageSize: 200 },
    );
    await withWorkers(fake.activities, async () => {
      const handle = await startCampaign();
      await handle.result();
      const first = environment.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      const { status, historyLength } = await first.describe();
      expect(status.name).toBe('CONTINUED_AS_NEW');
      expect(historyLength).toBeLessThan(2_000);
    });
    expect(fake.pages).toHaveLength(500);
    expect(new Set(fake.pages).size).toBe(500);
    expect(fake.campaign.status).toBe('SENT');
  });

  it('cancels the campaign when an operator cancels the workflow in Temporal', async () => {
    const { campaign, activities } = fakeCampaign(
      {},
      { status: 'SCHEDULED', scheduledForMs: (await environment.currentTimeMs()) + DAY_MS },
    );
    await withWorkers(activities, async () => {
      const handle = await startCampaign();
      await environment.sleep('1 second');
      await handle.cancel();
      await handle.result();
    });
    expect(campaign.status).toBe('CANCELLED');
  });
});
