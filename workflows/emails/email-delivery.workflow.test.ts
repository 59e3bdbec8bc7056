import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../activities/index.ts';
import type { StatusCounts } from '../../shared/domain/emails/transactional-delivery.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import {
  WORKFLOW_TYPES,
  emailDeliveryWorkflowId,
  type EmailDeliveryInput,
} from '../../shared/pure/workflow-contracts.ts';
import {
  durationOf,
  startTimeSkippingWorkflows,
  type TimeSkippingWorkflows,
} from '../../tests/support/test-workflows.ts';

const HOUR_MS = 60 * 60 * 1_000;

let workflows: TimeSkippingWorkflows;
beforeAll(async () => {
  workflows = await startTimeSkippingWorkflows();
});
afterAll(() => workflows.stop());

type Delivery = Pick<Activities, 'deliverEmails' | 'abandonEmails'>;

interface Run {
  /** The emails that each call of the activity was given. */
  calls: string[][];
  queues: Set<string>;
  abandoned: { emailIds: string[]; reason: string }[];
  durationMs: number;
  result: unknown;
}

/** Runs a delivery. Its first attempts end as `attempts` say, later ones without a deferral. */
async function deliver(
  attempts: (() => ReturnType<Delivery['deliverEmails']>)[],
  input: Partial<EmailDeliveryInput> = {},
): Promise<Run> {
  const run: Run = { calls: [], queues: new Set(), abandoned: [], durationMs: 0, result: null };
  const activities: Delivery = {
    deliverEmails({ emailIds }) {
      run.calls.push(emailIds);
      run.queues.add(activityInfo().taskQueue);
      return attempts.shift()?.() ?? Promise.resolve({ deferredIds: [], retryInMs: 0, ended: {} });
    },
    async abandonEmails(given) {
      run.abandoned.push(given);
      return { FAILED: given.emailIds.length };
    },
  };
  await workflows.withActivities(activities, async () => {
    const handle = await workflows.client.workflow.start(WORKFLOW_TYPES.emailDelivery, {
      workflowId: emailDeliveryWorkflowId(randomUUID()),
      taskQueue: TASK_QUEUES.orchestration,
      args: [{ projectId: randomUUID(), emailIds: ['a', 'b', 'c'], ...input }],
    });
    run.result = await handle.result();
    run.durationMs = await durationOf(handle);
  });
  return run;
}

const deferred =
  (ids: string[], retryInMs: number, ended: StatusCounts = {}) =>
  () =>
    Promise.resolve({ deferredIds: ids, retryInMs, ended });
const fails = (failure: ApplicationFailure) => () => Promise.reject(failure);

describe('the delivery of emails', () => {
  it('sends them once when no server refuses', async () => {
    const { calls, abandoned, queues } = await deliver([]);
    expect([calls, abandoned]).toEqual([[['a', 'b', 'c']], []]);
    expect([...queues]).toEqual([TASK_QUEUES.transactional]);
  });

  it('uses the task queue of automations for their emails', async () => {
    const { queues } = await deliver([], { origin: 'automation' });
    expect([...queues]).toEqual([TASK_QUEUES.automations]);
  });

  it('tries only the deferred ones again after the pause', async () => {
    const { calls, durationMs } = await deliver([deferred(['b', 'c'], HOUR_MS), deferred(['c'], 8 * HOUR_MS)]);
    expect(calls).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']]);
    expect(durationMs).toBeGreaterThanOrEqual(9 * HOUR_MS);
  });

  it('waits as long as its attempts require, a month for a disabled project', async () => {
    const disabled = ApplicationFailure.create({ type: 'ProjectDisabled', nextRetryDelay: '10 days' });
    const { calls, abandoned, durationMs } = await deliver([fails(disabled), fails(disabled), fails(disabled)]);
    expect(calls).toHaveLength(4);
    expect(abandoned).toEqual([]);
    expect(durationMs).toBeGreaterThanOrEqual(30 * 24 * HOUR_MS);
  });

  it('returns their outcomes', async () => {
    const final = ApplicationFailure.nonRetryable('No SMTP server took mail for 2 days.', 'SmtpUnavailable');
    const ended = [{ SENT: 1 }, { SENT: 1, BOUNCED: 1 }];
    const taken = await deliver([deferred(['b', 'c'], 1_000, ended[0]), deferred([], 0, ended[1])]);
    expect(taken.result).toEqual({ rounds: 2, emails: { SENT: 2, BOUNCED: 1 } });
    const left = await deliver([deferred(['c'], 1_000, { SENT: 2 }), fails(final)]);
    expect(left.result).toEqual({ rounds: 2, emails: { SENT: 2, FAILED: 1 } });
  });

  it('gives up the remaining emails, with the reason, after a failure that is not retried', async () => {
    const final = ApplicationFailure.nonRetryable('No SMTP server took mail for 2 days.', 'SmtpUnavailable');
    const { calls, abandoned } = await deliver([deferred(['c'], 1_000), fails(final)]);
    expect(calls).toHaveLength(2);
    expect(abandoned).toEqual([{ emailIds: ['c'], reason: 'No SMTP server took mail for 2 days.' }]);
  });
});
