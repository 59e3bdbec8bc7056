import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { CAMPAIGN_CHANGED_SIGNAL } from '../../shared/pure/workflow-contracts.ts';
import { eventually } from '../../tests/support/eventually.ts';
import {
  fakeCampaign,
  startCampaign,
  untilCancelled,
  type CampaignActivities,
  type FakeCampaign,
} from '../../tests/support/fake-campaign.ts';
import { startTestWorkflows, type TestWorkflows } from '../../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

type Moment = (fake: FakeCampaign) => Partial<CampaignActivities>;
const inAnHour = Date.now() + 3_600_000;

/** The states in which a campaign can wait for long. */
const moments: [string, Moment][] = [
  [
    'it waits until it is due',
    ({ campaign }) => {
      Object.assign(campaign, { status: 'SCHEDULED', scheduledForMs: inAnHour });
      return {};
    },
  ],
  ['its audience is stored', () => ({ freezeAudience: untilCancelled })],
  ['its pages are sent', () => ({ sendRecipientPage: untilCancelled })],
  [
    'no server accepts email',
    () => ({
      sendRecipientPage: () =>
        Promise.reject(ApplicationFailure.create({ type: 'SmtpUnavailable', nextRetryDelay: '1 hour' })),
    }),
  ],
  ['deferred emails wait', () => ({ planDeferred: () => Promise.resolve({ firstSeqs: [101], retryInMs: 3_600_000 }) })],
];

/** Whether the workflow has begun to wait: for a timer, or for an activity that has started. */
async function isWaiting(handle: WorkflowHandle): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  if (events?.some((event) => event.timerStartedEventAttributes)) return true;
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).some(
    ({ activityType, attempt, lastStartedTime }) =>
      isLong(activityType?.name) && (lastStartedTime || Number(attempt) > 1),
  );
}

const eventsOf = async (handle: WorkflowHandle) => (await handle.fetchHistory()).events ?? [];

/** The ids of the events that schedule an activity. */
const scheduledIn = (events: Awaited<ReturnType<typeof eventsOf>>, name: string) =>
  events
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)
    .map((event) => Number(event.eventId));

/** Whether the workflow has completed a task that began with the result of this activity. */
async function hasActedAfter(name: string, handle: WorkflowHandle): Promise<boolean> {
  const events = await eventsOf(handle);
  const scheduled = scheduledIn(events, name);
  const result = events.findIndex((event) =>
    scheduled.includes(Number(event.activityTaskCompletedEventAttributes?.scheduledEventId)),
  );
  return result !== -1 && events.slice(result).some((event) => event.workflowTaskCompletedEventAttributes);
}

function isLong(name: string | null | undefined): boolean {
  return name === 'freezeAudience' || name === 'sendRecipientPage';
}

async function runToItsEnd({ activities }: FakeCampaign): Promise<void> {
  await workflows.withActivities(activities, async () => (await startCampaign(workflows.client)).result());
}

async function startAt(fake: FakeCampaign): Promise<WorkflowHandle> {
  const handle = await startCampaign(workflows.client);
  await eventually(() => isWaiting(handle));
  expect(fake.closings).toEqual([]);
  return handle;
}

function prepare(moment: Moment): FakeCampaign {
  const fake = fakeCampaign();
  Object.assign(fake.activities, moment(fake));
  return fake;
}

async function endsCancelled(handle: WorkflowHandle, fake: FakeCampaign): Promise<void> {
  await eventually(async () => (await handle.describe()).status.name === 'COMPLETED', 10_000);
  expect(fake.campaign.status).toBe('CANCELLED');
  expect(fake.closings.at(-1)).toBe('at the end');
  const { events } = await handle.fetchHistory();
  const failures = (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? []);
  // The cause that the server gives for a workflow task that failed because of a new event. The task is then repeated.
  expect(failures.filter((message) => message !== 'UnhandledCommand')).toEqual([]);
}

describe('a campaign', () => {
  it.each(moments)('is cancelled within ten seconds through the API, while %s', async (_name, moment) => {
    const fake = prepare(moment);
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startAt(fake);
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await endsCancelled(handle, fake);
    });
    expect(fake.reasons).toEqual([]);
  });

  it.each(moments)('is cancelled within ten seconds in Temporal, while %s', async (_name, moment) => {
    const fake = prepare(moment);
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startAt(fake);
      await handle.cancel();
      await endsCancelled(handle, fake);
    });
    expect(fake.reasons).toEqual([null]);
  });

  it('ends when it is deleted while its pages are sent', async () => {
    const fake = prepare(() => ({ sendRecipientPage: untilCancelled }));
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startAt(fake);
      fake.campaign.status = 'DELETED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await handle.result();
    });
    expect(fake.closings).toEqual(['early', 'at the end']);
  });
});

describe('a campaign that is cancelled just before its audience is complete', () => {
  it('sends nothing', async () => {
    let reads = 0;
    let handle: WorkflowHandle | undefined;
    let freeze = (): void => undefined;
    const isComplete = new Promise<void>((resolve) => (freeze = resolve));
    const fake = prepare(({ campaign }) => ({
      async freezeAudience() {
        await isComplete;
        return { totalRecipients: 450, isStopped: false };
      },
      async readCampaign() {
        const read = { ...campaign };
        if (++reads === 1) return read;
        freeze();
        await eventually(async () => handle && hasActedAfter('freezeAudience', handle));
        return read;
      },
    }));
    await workflows.withActivities(fake.activities, async () => {
      handle = await startAt(fake);
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await endsCancelled(handle, fake);
      expect(scheduledIn(await eventsOf(handle), 'sendRecipientPage')).toEqual([]);
    });
    expect(fake.pages).toEqual([]);
  });
});

describe('a campaign whose pages end just before they learn that it was cancelled', () => {
  it('ends cancelled, and begins no other page', async () => {
    const begun: number[] = [];
    const fake = prepare(() => ({
      async sendRecipientPage({ firstSeq }) {
        begun.push(firstSeq);
        await untilCancelled().catch(() => undefined);
        return { sent: 100, deferred: 0, isStopped: false };
      },
    }));
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startAt(fake);
      await eventually(async () => begun.length === 4);
      fake.campaign.status = 'CANCELLED';
      await handle.signal(CAMPAIGN_CHANGED_SIGNAL);
      await endsCancelled(handle, fake);
    });
    expect(begun.sort()).toEqual([1, 101, 201, 301]);
  });
});

describe('recipients of a cancelled campaign', () => {
  it('get their outcome before a page that is on the wire to a slow server has ended', async () => {
    let endPages = (): void => undefined;
    const isOut = new Promise<void>((resolve) => (endPages = resolve));
    const fake = prepare(() => ({
      sendRecipientPage: () =>
        untilCancelled().catch((error: unknown) => isOut.then(() => Promise.reject(error as Error))),
    }));
    await workflows.withActivities(fake.activities, async () => {
      const handle = await startAt(fake);
      await handle.cancel();
      await eventually(async () => fake.closings.length > 0);
      expect(fake.closings).toEqual(['early']);
      endPages();
      await endsCancelled(handle, fake);
    });
    expect(fake.closings).toEqual(['early', 'at the end']);
  });
});

describe('a campaign that cannot continue', () => {
  const givenUp = () => Promise.reject(ApplicationFailure.nonRetryable('It cannot be done.', 'Impossible'));

  it.each<keyof CampaignActivities>(['freezeAudience', 'planDeferred', 'readCampaign', 'beginCampaign'])(
    'is cancelled with the reason when %s is given up',
    async (name) => {
      const fake = fakeCampaign({ [name]: givenUp });
      if (name === 'beginCampaign') Object.assign(fake.campaign, { status: 'SCHEDULED', scheduledForMs: 1 });
      await runToItsEnd(fake);
      expect([fake.campaign.status, fake.reasons]).toEqual(['CANCELLED', ['It cannot be done.']]);
      expect(fake.closings).toEqual(['at the end']);
    },
  );

  it('ends its other pages when one is given up, and waits for their messages on the wire', async () => {
    let cancelledPages = 0;
    const fake = fakeCampaign({
      sendRecipientPage: ({ firstSeq }) =>
        firstSeq === 101
          ? givenUp()
          : untilCancelled().finally(() => {
              cancelledPages++;
            }),
    });
    await runToItsEnd(fake);
    expect(cancelledPages).toBe(3);
    expect(fake.reasons).toEqual(['It cannot be done.']);
  });

  it('sends nothing more after an error in its audience has ended it', async () => {
    const fake = fakeCampaign({
      async freezeAudience() {
        fake.campaign.status = 'CANCELLED';
        return { totalRecipients: 100, isStopped: true };
      },
    });
    await runToItsEnd(fake);
    expect([fake.pages, fake.closings]).toEqual([[], ['at the end']]);
  });
});
