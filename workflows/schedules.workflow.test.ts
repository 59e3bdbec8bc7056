import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { startTestWorkflows, type TestWorkflows } from '../tests/support/test-workflows.ts';

let workflows: TestWorkflows;
beforeAll(async () => {
  workflows = await startTestWorkflows();
});
afterAll(() => workflows.stop());

type ScheduledType = 'segmentRefresh' | 'domainChecks' | 'cleanUp' | 'reconcile' | 'tlsReports';

interface Run {
  /** The runs of the workflow, each continued as new by the next. */
  runs: number;
  historyLength: number;
}

/** Runs a workflow as its schedule starts it. @throws when the workflow fails */
async function run(type: ScheduledType, activities: Partial<Activities>): Promise<Run> {
  const workflowId = `${type}-${randomUUID()}`;
  return workflows.withActivities(activities, async () => {
    const handle = await workflows.client.workflow.start(WORKFLOW_TYPES[type], {
      workflowId,
      taskQueue: TASK_QUEUES.orchestration,
      args: type === 'segmentRefresh' || type === 'domainChecks' ? [{}] : [],
    });
    await handle.result();
    let runs = 0;
    let historyLength = 0;
    for (let runId: string | undefined = handle.firstExecutionRunId; runId !== undefined; runs++) {
      const { events } = await workflows.client.workflow.getHandle(workflowId, runId).fetchHistory();
      historyLength = Math.max(historyLength, events?.length ?? 0);
      runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
    }
    return { runs, historyLength };
  });
}

const givenUp = () => Promise.reject(ApplicationFailure.nonRetryable('Given up.', 'TypeError'));

describe('segmentRefresh', () => {
  it('refreshes all batches of one pass', async () => {
    const passes = new Set<string | undefined>();
    const batches = ['a', 'b', null];
    const { runs } = await run('segmentRefresh', {
      async refreshSegments({ startedAt }) {
        passes.add(startedAt);
        return { lastId: batches.shift() ?? null };
      },
    });
    expect([batches, passes.size, runs]).toEqual([[], 1, 1]);
  });

  it('continues as new with its pass when there are very many segments', async () => {
    const passes = new Set<string | undefined>();
    let left = 170;
    const { runs, historyLength } = await run('segmentRefresh', {
      async refreshSegments({ startedAt }) {
        passes.add(startedAt);
        left--;
        return { lastId: left > 0 ? String(left) : null };
      },
    });
    expect(left).toBe(0);
    expect(passes.size).toBe(1);
    expect(runs).toBe(2);
    expect(historyLength).toBeLessThan(1_100);
  }, 120_000);
});

describe('domainChecks', () => {
  it('checks the domains due at its start batch by batch, and continues as new after a hundred batches', async () => {
    const moments = new Set<number>();
    const seen: (string | null)[] = [];
    const { runs } = await run('domainChecks', {
      async checkDomains({ asOfMs, afterId }) {
        moments.add(asOfMs);
        seen.push(afterId);
        return { checked: 1, lastId: seen.length < 102 ? String(seen.length) : null };
      },
    });
    expect(moments.size).toBe(1);
    expect(seen).toEqual([null, ...Array.from({ length: 101 }, (_, n) => String(n + 1))]);
    expect(runs).toBe(2);
  }, 120_000);
});

describe('an activity of a schedule that is given up', () => {
  it.each<[ScheduledType, keyof Activities]>([
    ['segmentRefresh', 'refreshSegments'],
    ['domainChecks', 'checkDomains'],
    ['cleanUp', 'cleanUp'],
    ['reconcile', 'reconcile'],
    ['tlsReports', 'sendTlsReports'],
  ])('fails the workflow %s', async (type, activity) => {
    await expect(run(type, { [activity]: givenUp })).rejects.toThrow('Workflow execution failed');
  });
});
