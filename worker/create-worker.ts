import type { DataConverter, WorkerDeploymentVersion } from '@temporalio/common';
import type {
  ActivityInterceptorsFactory,
  NativeConnection,
  WorkerOptions,
  WorkerTuner,
  WorkflowBundleOption,
} from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { activityTracing, workflowTracing } from '../shared/platform/tracing/temporal.ts';
import type { SendingSlots, SlotsByUrgency } from '../shared/sending/sending-slots.ts';
import { TASK_QUEUES, type TaskQueueName } from '../shared/pure/task-queues.ts';
import { createFailureInterceptor } from './failure-interceptor.ts';
import { PLAIN_FAILURE_CONVERTER_PATH } from '../shared/platform/temporal-codec.ts';
import { cachedWorkflowBundle, encodingBundlePath } from './workflow-bundle.ts';

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Set when the payload codec is on. */
  dataConverter?: DataConverter | undefined;
  activities: Activities;
  slots: SlotsByUrgency;
  logger: Logger;
  /** The path of a prebuilt bundle; without it, the bundle comes from a cache. */
  workflowBundlePath?: string;
  /** The task queues to serve; all when left out. */
  taskQueues?: TaskQueueName[];
  /** The version of the workflow code, by which Temporal assigns tasks; without it workers have no versions. */
  version?: WorkerDeploymentVersion | undefined;
}

/** The mail that a queue of single emails sends. */
const URGENCY_OF = { transactional: 'transactional', automations: 'automation' } as const;
/** Workflows kept in memory, per task queue with workflows; each takes about 0.3 MB. */
const CACHED_WORKFLOWS = 500;
/** At most the default number of PostgreSQL connections of a worker. */
const STEP_SLOTS = 10;
/** Steps that were too slow or failed in a workflow task. They leave connections to the others. */
const SLOW_STEP_SLOTS = 5;
const JOB_SLOTS = 20;
/** Activities that mostly wait for other servers. */
const WEBHOOK_SLOTS = 50;
/** How long messages on the wire may take to finish after the process was told to stop. */
const SHUTDOWN_GRACE = '8 seconds';
/** The time after which a shutdown no longer waits for an activity that ignores its cancellation. */
const SHUTDOWN_FORCE = '15 seconds';

async function optionsFor(
  queue: TaskQueueName,
  deps: WorkerDeps,
  bundle: () => Promise<WorkflowBundleOption>,
): Promise<WorkerOptions> {
  const common: WorkerOptions = {
    connection: deps.connection,
    namespace: deps.namespace,
    dataConverter: deps.dataConverter ?? { failureConverterPath: PLAIN_FAILURE_CONVERTER_PATH },
    taskQueue: TASK_QUEUES[queue],
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    ...(deps.version && {
      workerDeploymentOptions: {
        version: deps.version,
        useWorkerVersioning: true,
        // The default applies to long-running workflows; workflows/index.ts names the others.
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  };
  switch (queue) {
    case 'orchestration':
      return {
        ...withActivities(common, deps, STEP_SLOTS),
        ...withWorkflows(await bundle()),
      };
    case 'executions':
      return {
        ...withActivities(common, deps, SLOW_STEP_SLOTS),
        ...withWorkflows(await bundle()),
        maxConcurrentLocalActivityExecutions: STEP_SLOTS,
      };
    case 'transactional':
    case 'automations':
      return withActivities(common, deps, deps.slots[URGENCY_OF[queue]]);
    case 'campaigns':
      // A worker polls for one page at a time, so that workers take turns: with one poll per slot, a single worker
      // could take all pages of a campaign.
      return { ...withActivities(common, deps, deps.slots.campaign), maxConcurrentActivityTaskPolls: 1 };
    case 'jobs':
      return withActivities(common, deps, JOB_SLOTS);
    case 'webhooks':
    case 'eventWebhooks':
    case 'slowEventWebhooks':
      return withActivities(common, deps, WEBHOOK_SLOTS);
  }
}

function withWorkflows(workflowBundle: WorkflowBundleOption) {
  return { maxCachedWorkflows: CACHED_WORKFLOWS, sinks: workflowTracing, workflowBundle };
}

function withActivities(common: WorkerOptions, deps: WorkerDeps, slots: number | SendingSlots): WorkerOptions {
  return {
    ...common,
    activities: deps.activities,
    ...(typeof slots === 'number' ? { maxConcurrentActivityTaskExecutions: slots } : { tuner: tunerOf(slots) }),
    // The default of 0.8 × the heartbeat timeout would leave a margin of two seconds.
    maxHeartbeatThrottleInterval: '3 seconds',
    interceptors: { activity: activityInterceptors(deps) },
  };
}

/** Tells Temporal of slots that are ours. A worker that sends runs nothing but activities. */
function tunerOf(slots: SendingSlots): WorkerTuner {
  const none = { type: 'fixed-size', numSlots: 1 } as const;
  return {
    workflowTaskSlotSupplier: none,
    localActivityTaskSlotSupplier: none,
    nexusTaskSlotSupplier: none,
    activityTaskSlotSupplier: {
      type: 'custom',
      reserveSlot: async (_context, signal) => {
        await slots.wait(signal);
        return {};
      },
      tryReserveSlot: () => (slots.take() ? {} : null),
      markSlotUsed: () => undefined,
      releaseSlot: () => slots.give(),
    },
  };
}

/** The tracing interceptor is the outer one, so that a trace shows the same failures as Temporal. */
function activityInterceptors({ logger }: WorkerDeps): ActivityInterceptorsFactory[] {
  return [activityTracing, createFailureInterceptor(logger)];
}

/**
 * The bundle at the given path, or else the one in the cache. With the payload codec, its workflows encode failures.
 */
export function workflowBundleOf({
  workflowBundlePath,
  dataConverter,
}: Pick<WorkerDeps, 'workflowBundlePath' | 'dataConverter'>): Promise<WorkflowBundleOption> {
  const isEncoding = dataConverter !== undefined;
  if (workflowBundlePath === undefined) return cachedWorkflowBundle(isEncoding);
  return Promise.resolve({ codePath: isEncoding ? encodingBundlePath(workflowBundlePath) : workflowBundlePath });
}

/** Creates one Temporal worker per task queue. They do not poll yet. */
export async function createWorkers(deps: WorkerDeps): Promise<Worker[]> {
  const queues = deps.taskQueues?.length ? deps.taskQueues : (Object.keys(TASK_QUEUES) as TaskQueueName[]);
  let bundle: Promise<WorkflowBundleOption> | undefined;
  const sharedBundle = () => (bundle ??= workflowBundleOf(deps));
  return Promise.all(queues.map(async (queue) => Worker.create(await optionsFor(queue, deps, sharedBundle))));
}
