import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../activities/index.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CAMPAIGN_PROGRESS_QUERY,
  WORKFLOW_TYPES,
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  jobWorkflowId,
  type CampaignProgress,
} from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../support/eventually.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { fakeCampaign, untilCancelled, type FakeCampaign } from '../support/fake-campaign.ts';
import { storeHistory } from '../support/histories.ts';
import { createTemporalProcess } from '../support/temporal-process.ts';
import { startWorkflowWorkers } from '../support/workflows.ts';

/** So many pages that the history passes the suggested limit of events. */
const LONG_CAMPAIGN = { pageSize: 100, totalRecipients: 3_000 };
const SUGGESTED_AFTER = 80;

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(() => temporal.close());

interface Recording {
  type: keyof typeof WORKFLOW_TYPES;
  workflowId: string;
  input: unknown;
  activities: Partial<Activities>;
  act?: (handle: WorkflowHandle) => Promise<unknown>;
}

/** Runs a workflow with activities that lead it to a rare path, until it ends. @returns its handle */
async function runToItsEnd(
  { type, workflowId, input, activities, act }: Recording,
  server = temporal,
): Promise<WorkflowHandle> {
  const workers = await startWorkflowWorkers(server);
  try {
    return await workers.withActivities(activities, async () => {
      const handle = await server.client.workflow.start(WORKFLOW_TYPES[type], {
        workflowId,
        taskQueue: TASK_QUEUES.orchestration,
        args: [input],
      });
      await act?.(handle);
      await handle.result();
      return handle;
    });
  } finally {
    await workers.stop();
  }
}

async function record(name: string, recording: Recording): Promise<void> {
  const { workflowId } = await runToItsEnd(recording);
  await storeHistory(temporal.client, workflowId, `${recording.type}.${name}`);
}

function ofCampaign(fake: FakeCampaign, act?: Recording['act']): Recording {
  const campaignId = randomUUID();
  const workflowId = campaignWorkflowId(campaignId);
  return { type: 'campaign', workflowId, input: { campaignId }, activities: fake.activities, ...(act && { act }) };
}

const isSending = (fake: FakeCampaign) => eventually(async () => fake.pages.length > 0);

/** A campaign whose pages go out until it is cancelled. */
function endlessCampaign(): FakeCampaign {
  const fake = fakeCampaign();
  fake.activities.sendRecipientPage = ({ firstSeq }) => {
    fake.pages.push(String(firstSeq));
    return untilCancelled();
  };
  return fake;
}

it('records campaigns that are cancelled or given up', async () => {
  const cancelled = endlessCampaign();
  await record(
    'cancelled-while-sending',
    ofCampaign(cancelled, async (handle) => {
      await isSending(cancelled);
      cancelled.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
    }),
  );
  const cancelledByOperator = endlessCampaign();
  await record(
    'cancelled-in-temporal',
    ofCampaign(cancelledByOperator, async (handle) => {
      await isSending(cancelledByOperator);
      await handle.cancel();
    }),
  );
  const givenUp = ApplicationFailure.nonRetryable('Given up.', 'TypeError');
  await record('given-up', ofCampaign(fakeCampaign({ sendRecipientPage: () => Promise.reject(givenUp) })));
}, 60_000);

it('records a campaign that tries emails again beside a slow page', async () => {
  const fake = fakeCampaign({}, { totalRecipients: 300 });
  const { sendRecipientPage } = fake.activities;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  fake.activities.sendRecipientPage = async (page) => {
    if (page.firstSeq === 101) await released;
    return sendRecipientPage(page);
  };
  const rounds = [[], [1, 101, 201]];
  fake.activities.planDeferred = async () => ({ firstSeqs: rounds.shift() ?? [], retryInMs: 0 });
  await record(
    'beside-a-slow-page',
    ofCampaign(fake, async () => {
      await eventually(async () => fake.pages.length === 4);
      release();
    }),
  );
}, 60_000);

it('records a campaign that is paused and resumed', async () => {
  const paused = endlessCampaign();
  const left = [1, 101, 201];
  paused.activities.planDeferred = async () => ({ firstSeqs: left.splice(0), retryInMs: 0 });
  await record(
    'paused',
    ofCampaign(paused, async (handle) => {
      await isSending(paused);
      paused.campaign.pausedSince = new Date().toISOString();
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(async () => (await handle.query<CampaignProgress>(CAMPAIGN_PROGRESS_QUERY)).phase === 'paused');
      left.push(201, 301);
      paused.activities.sendRecipientPage = async () => ({ sent: 100, deferred: 0, isStopped: false });
      delete paused.campaign.pausedSince;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
    }),
  );
}, 60_000);

it('records a campaign that holds and is let go on', async () => {
  const held = endlessCampaign();
  const left = [1, 101, 201];
  held.activities.planDeferred = async () => ({ firstSeqs: left.splice(0), retryInMs: 0 });
  await record(
    'hold-ended',
    ofCampaign(held, async (handle) => {
      await isSending(held);
      held.campaign.waiting = {
        level: 'stream',
        reason: 'complaints',
        words: 'Many called it spam.',
        provider: 'gmail.com',
        until: new Date().toISOString(),
      };
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await eventually(async () =>
        JSON.stringify(await handle.query('__temporal_workflow_metadata')).includes('**holds**'),
      );
      held.activities.sendRecipientPage = async () => ({ sent: 100, deferred: 0, isStopped: false });
      delete held.campaign.waiting;
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
    }),
  );
}, 60_000);

it('records a campaign that is sent again, at its end and by a run of its own', async () => {
  const left = [101];
  const planDeferred = async () => ({ firstSeqs: left.splice(0), retryInMs: 0 });
  const atEnd = fakeCampaign({ planDeferred });
  const { finishCampaign } = atEnd.activities;
  let closings = 0;
  atEnd.activities.finishCampaign = async (campaign) => {
    if (closings++ > 0) return finishCampaign(campaign);
    left.push(201);
    atEnd.campaign.isResending = true;
    return { status: 'SENDING', isResending: true };
  };
  await record('sent-again-at-its-end', ofCampaign(atEnd));
  left.push(1);
  await record('sent-again', ofCampaign(fakeCampaign({ planDeferred }, { isResending: true, isAudienceFrozen: true })));
}, 60_000);

it('records a campaign that sends while its audience is stored', async () => {
  const growing = fakeCampaign();
  growing.activities.freezeAudience = async ({ untilTotal = Infinity }) => {
    const totalRecipients = Math.min(untilTotal, 450);
    return { totalRecipients, isStopped: false, ...(totalRecipients < 450 && { isPartial: true }) };
  };
  await record('sent-while-freezing', ofCampaign(growing));
}, 60_000);

it('records a campaign that is continued', async () => {
  const process = await createTemporalProcess({ 'limit.historyCount.suggestContinueAsNew': SUGGESTED_AFTER });
  await process.start();
  const server = await createTestNamespace(process.address);
  const handle = await runToItsEnd(ofCampaign(fakeCampaign({}, LONG_CAMPAIGN)), server);
  const { workflowId, firstExecutionRunId } = handle as WorkflowHandle & { firstExecutionRunId: string };
  await storeHistory(server.client, workflowId, 'campaign.continued', firstExecutionRunId);
  await storeHistory(server.client, workflowId, 'campaign.continued-continuation');
  await server.close();
  await process.remove();
}, 120_000);

it('records deliveries and jobs that are given up', async () => {
  const deliveryId = randomUUID();
  const final = ApplicationFailure.nonRetryable('No SMTP server took mail for 2 days.', 'SmtpUnavailable');
  await record('abandoned', {
    type: 'emailDelivery',
    workflowId: emailDeliveryWorkflowId(deliveryId),
    input: { projectId: randomUUID(), emailIds: [deliveryId], origin: 'automation' },
    activities: { deliverEmails: () => Promise.reject(final), abandonEmails: async () => ({ FAILED: 1 }) },
  });
  const jobId = randomUUID();
  await record('given-up', {
    type: 'job',
    workflowId: jobWorkflowId(jobId),
    input: { jobId },
    activities: { runJob: () => Promise.reject(final), failJob: async () => {} },
  });
}, 60_000);

it('records checks of domains', async () => {
  let batches = 3;
  await record('three-batches', {
    type: 'domainChecks',
    workflowId: `domain-checks-${randomUUID()}`,
    input: {},
    activities: { checkDomains: async () => ({ checked: 1, lastId: --batches > 0 ? randomUUID() : null }) },
  });
}, 60_000);

it('records what schedules start and one activity does', async () => {
  const ended = { removed: 0 } as never;
  const recordings = { cleanUp: 'cleanUp', reconcile: 'reconcile', tlsReports: 'sendTlsReports' } as const;
  for (const [type, activity] of Object.entries(recordings) as [keyof typeof recordings, keyof Activities][]) {
    const workflowId = `${type}-${randomUUID()}`;
    await record('done', { type, workflowId, input: {}, activities: { [activity]: async () => ended } });
  }
}, 60_000);
