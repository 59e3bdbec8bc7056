import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { PRIORITIES, TASK_QUEUES } from '../../pure/task-queues.ts';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  WORKFLOW_TYPES,
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  jobWorkflowId,
  segmentComputationWorkflowId,
  type CampaignInput,
  type EmailDeliveryInput,
  type JobInput,
  type SegmentComputationInput,
} from '../../pure/workflow-contracts.ts';
import type { Logger } from '../../platform/logger.ts';
import { searchAttributes } from '../../platform/search-attributes.ts';
import type { Orm } from '../orm.ts';
import {
  cancelExecutionWorkflows,
  signalEventArrivals,
  startExecutionWorkflows,
} from '../automations/execution-dispatch.ts';
import { findCampaignSummary } from '../campaigns/campaign-summary.ts';
import { isDatabaseUnavailable } from '../database-errors.ts';
import { findJobSummary } from '../jobs/job-summary.ts';
import { createLane, type Lane } from './lane.ts';
import {
  deleteOutboxBatches,
  isFullClaim,
  postponeOutboxBatch,
  recoverOutboxBatches,
  untilGatheredMs,
  type OutboxBatch,
  type OutboxKind,
} from './outbox.ts';

export interface Dispatcher {
  /**
   * Something was, or may have been, committed: look now, or within `withinMs`, so that a thousand calls make one look.
   * Never throws, never waits.
   */
  wake: (withinMs?: number) => void;
  /** Stops looking and waits for the round under way. */
  stop: () => Promise<void>;
}

export interface DispatcherDeps {
  orm: Orm;
  client: Client;
  logger: Logger;
  /** How often to look for what others left behind. */
  pollMs: number;
  /** For a process that has other work: it starts executions at once, but leaves most of a great number to others. */
  isHelper?: boolean;
}

/**
 * Pause between two rounds: what is committed meanwhile goes into larger batches. A start costs Temporal and the worker
 * what some hundred rows cost PostgreSQL, so the pause grows with the load; a single mail never waits for it.
 */
const GATHER_MS = { min: 20, max: 250, perRow: 4 } as const;

function gatherMs(batches: OutboxBatch[]): number {
  const mails = batches.filter((batch) => batch.kind === 'email' || batch.kind === 'automationEmail');
  const rows = mails.reduce((sum, batch) => sum + batch.subjectIds.length, 0);
  return Math.min(GATHER_MS.max, GATHER_MS.min + rows * GATHER_MS.perRow);
}

/**
 * Lanes of executions, each with a claim of twenty at a time: one start that takes long holds up its own claim, not the
 * others. What a helper does not take within its pause, the workers take.
 */
const EXECUTION_LANES = { own: 3, helper: 1 } as const;
const HELPER_PAUSE_MS = 1_000;

const START_DEADLINE_MS = 10_000;
/** A closed workflow of that id has done, or refused, this work already; a running one is doing it. */
function startPolicy(batch: OutboxBatch) {
  return {
    workflowIdReusePolicy: batch.isRestart ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  } as const;
}

function onlySubjectOf(batch: OutboxBatch): string {
  const [subjectId] = batch.subjectIds;
  if (subjectId === undefined) throw new Error(`outbox batch ${batch.batchId} is empty`);
  return subjectId;
}

/**
 * The one way from a database commit to Temporal: starts or signals what the outbox holds, with ids that make every
 * repetition harmless, and deletes the rows. Runs in every API and worker process.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const starters: Record<OutboxKind, (batch: OutboxBatch) => Promise<unknown>> = {
    email: (batch) => startDelivery(batch),
    automationEmail: (batch) => startDelivery(batch, 'automation'),
    async campaign(batch) {
      const campaignId = onlySubjectOf(batch);
      const input: CampaignInput = { campaignId };
      const summary = await findCampaignSummary(deps.orm.em.fork(), campaignId);
      return deps.client.workflow.signalWithStart(WORKFLOW_TYPES.campaign, {
        ...startPolicy(batch),
        workflowId: campaignWorkflowId(campaignId),
        taskQueue: TASK_QUEUES.orchestration,
        args: [input],
        signal: CAMPAIGN_CHANGED_SIGNAL,
        signalArgs: [],
        staticSummary: summary,
        typedSearchAttributes: searchAttributes({ projectId: batch.projectId, campaignId }),
        priority: { priorityKey: PRIORITIES.campaign, fairnessKey: batch.projectId },
      });
    },
    async job(batch) {
      const jobId = onlySubjectOf(batch);
      const input: JobInput = { jobId };
      const summary = await findJobSummary(deps.orm.em.fork(), jobId);
      return deps.client.workflow.start(WORKFLOW_TYPES.job, {
        ...startPolicy(batch),
        workflowId: jobWorkflowId(jobId),
        taskQueue: TASK_QUEUES.orchestration,
        args: [input],
        staticSummary: summary,
        typedSearchAttributes: searchAttributes({ projectId: batch.projectId }),
        priority: { priorityKey: PRIORITIES.job, fairnessKey: batch.projectId },
      });
    },
    segment(batch) {
      const input: SegmentComputationInput = { segmentId: onlySubjectOf(batch) };
      return deps.client.workflow.start(WORKFLOW_TYPES.segmentComputation, {
        ...startPolicy(batch),
        workflowId: segmentComputationWorkflowId(input.segmentId, batch.batchId),
        taskQueue: TASK_QUEUES.orchestration,
        args: [input],
        staticSummary: 'compute membership',
        typedSearchAttributes: searchAttributes({ projectId: batch.projectId }),
        priority: { priorityKey: PRIORITIES.job, fairnessKey: batch.projectId },
      });
    },
    execution: (batch) =>
      startExecutionWorkflows(deps.orm.em.fork(), deps.client, batch.subjectIds, startPolicy(batch)),
    executionEvent: (batch) => signalEventArrivals(deps.orm.em.fork(), deps.client, batch.subjectIds),
    executionCancel: (batch) => cancelExecutionWorkflows(deps.client, batch.subjectIds),
  };

  function startDelivery(batch: OutboxBatch, origin?: EmailDeliveryInput['origin']) {
    const input: EmailDeliveryInput = {
      projectId: batch.projectId,
      emailIds: batch.subjectIds,
      ...(origin !== undefined && { origin }),
    };
    return deps.client.workflow.start(WORKFLOW_TYPES.emailDelivery, {
      ...startPolicy(batch),
      workflowId: emailDeliveryWorkflowId(batch.batchId),
      taskQueue: TASK_QUEUES.orchestration,
      args: [input],
      staticSummary: batch.subjectIds.length === 1 ? 'one mail' : `${batch.subjectIds.length} mails`,
      typedSearchAttributes: searchAttributes({ projectId: batch.projectId }),
      priority: { priorityKey: PRIORITIES[origin ?? 'transactional'], fairnessKey: batch.projectId },
    });
  }

  let isStopped = false;
  let recoverAt = 0;

  async function start(batch: OutboxBatch): Promise<boolean> {
    try {
      await deps.client.withDeadline(Date.now() + START_DEADLINE_MS, () => starters[batch.kind](batch));
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
      const reason = error instanceof Error ? error.message : String(error);
      deps.logger.warn(
        { kind: batch.kind, batchId: batch.batchId, attempts: batch.attempts, reason },
        'Temporal did not take a start, it is kept and tried again',
      );
      await postponeOutboxBatch(deps.orm.em.fork(), batch, reason);
      return false;
    }
  }

  async function dispatch(batches: OutboxBatch[]): Promise<void> {
    const started = await Promise.all(batches.map(start));
    const done = batches.filter((_, index) => started[index]).map((batch) => batch.batchId);
    if (done.length > 0) await deleteOutboxBatches(deps.orm.em.fork(), done);
  }

  /** What failed, or what a process that died had claimed. */
  async function recover(): Promise<void> {
    if (Date.now() < recoverAt) return;
    recoverAt = Date.now() + deps.pollMs;
    try {
      await dispatch(await recoverOutboxBatches(deps.orm.em.fork()));
    } catch (error) {
      reportUnreadable(error);
    }
  }

  function reportUnreadable(error: unknown): void {
    const level = isDatabaseUnavailable(error) ? 'warn' : 'error';
    deps.logger[level]({ err: error }, 'the outbox could not be read, it is tried again');
  }

  const executionPauseMs = (batches: OutboxBatch[]): number =>
    deps.isHelper && isFullClaim('execution', batches) ? HELPER_PAUSE_MS : GATHER_MS.min;
  const common = { em: () => deps.orm.em.fork(), dispatch, onError: reportUnreadable };
  const urgent = createLane({ ...common, lane: 'urgent', pauseMs: gatherMs });
  // The first one has the second one help when there is much to do, and so on.
  const executions: Lane[] = [];
  for (let index = 0; index < EXECUTION_LANES[deps.isHelper ? 'helper' : 'own']; index++) {
    const onFull = (): void => executions[index + 1]?.look();
    executions.push(createLane({ ...common, lane: 'execution', pauseMs: executionPauseMs, onFull }));
  }

  let recovering: Promise<void> | undefined;
  let gathered: NodeJS.Timeout | undefined;
  let later: { timer: NodeJS.Timeout; at: number } | undefined;

  function look(): void {
    if (isStopped) return;
    recovering ??= recover().finally(() => {
      recovering = undefined;
    });
    urgent.look();
    executions[0]?.look();
  }

  function lookLater(withinMs: number): void {
    const at = Date.now() + withinMs;
    if (later && later.at <= at) return;
    clearTimeout(later?.timer);
    const timer = setTimeout(() => {
      later = undefined;
      look();
    }, withinMs);
    later = { timer, at };
  }

  function wake(withinMs = 0): void {
    if (isStopped) return;
    if (withinMs === 0) look();
    else lookLater(withinMs);
    gathered ??= setTimeout(() => {
      gathered = undefined;
      urgent.look();
    }, untilGatheredMs());
  }

  const timer = setInterval(look, deps.pollMs);
  timer.unref();

  return {
    wake,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(gathered);
      clearTimeout(later?.timer);
      await Promise.all([recovering, ...[urgent, ...executions].map((lane) => lane.stop())]);
    },
  };
}
