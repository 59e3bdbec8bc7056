import type { DataConverter, WorkerDeploymentVersion } from '@temporalio/common';
import type {
  ActivityInterceptorsFactory,
  NativeConnection,
  WorkerOptions,
  WorkflowBundleOption,
} from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { activityTracing, workflowTracing } from '../shared/platform/tracing/temporal.ts';
import { TASK_QUEUES, type TaskQueueName } from '../shared/pure/task-queues.ts';
import { createFailureInterceptor } from './failure-interceptor.ts';
import { cachedWorkflowBundle, encodingBundlePath } from './workflow-bundle.ts';

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Set when the payload codec is on. */
  dataConverter?: DataConverter | undefined;
  activities: Activities;
  logger: Logger;
  /** A bundle made beforehand; without it there is one in a cache. */
  workflowBundlePath?: string;
  /** Which queues to serve; all when left out. */
  taskQueues?: TaskQueueName[];
  /** Which version of the workflow code this is, for Temporal to hand out tasks by; none without it. */
  version?: WorkerDeploymentVersion | undefined;
}

/** Workflows kept in memory, for each queue that has any; each takes about 0.3 MB. */
const CACHED_WORKFLOWS = 500;
/** Emails are handed over in parallel inside an activity, so few activities fill the connections. */
const DELIVERY_SLOTS = 8;
/** No more than the connections to PostgreSQL that a worker has unless told otherwise. */
const STEP_SLOTS = 10;
/** Steps that were too slow to be taken at once, or failed then. They leave connections to the others. */
const SLOW_STEP_SLOTS = 5;
const JOB_SLOTS = 20;
/** They mostly wait for others. */
const WEBHOOK_SLOTS = 50;
/** How long messages on the wire may take to finish when the process is told to stop. */
const SHUTDOWN_GRACE = '8 seconds';
/** An activity that ignores its cancellation must not keep the process running. */
const SHUTDOWN_FORCE = '15 seconds';

async function optionsFor(
  queue: TaskQueueName,
  deps: WorkerDeps,
  bundle: () => Promise<WorkflowBundleOption>,
): Promise<WorkerOptions> {
  const common: WorkerOptions = {
    connection: deps.connection,
    namespace: deps.namespace,
    ...(deps.dataConverter && { dataConverter: deps.dataConverter }),
    taskQueue: TASK_QUEUES[queue],
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    ...(deps.version && {
      workerDeploymentOptions: {
        version: deps.version,
        useWorkerVersioning: true,
        // The default is for workflows that live long; workflows/index.ts names the others.
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
      return withActivities(common, deps, DELIVERY_SLOTS);
    case 'campaigns':
      // A worker asks for one page at a time, so that several workers take turns: with a poll for each slot, one of them
      // could take all pages that a campaign has under way.
      return { ...withActivities(common, deps, DELIVERY_SLOTS), maxConcurrentActivityTaskPolls: 1 };
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

function withActivities(common: WorkerOptions, deps: WorkerDeps, slots: number): WorkerOptions {
  return {
    ...common,
    activities: deps.activities,
    maxConcurrentActivityTaskExecutions: slots,
    // The default of 0.8 × the heartbeat timeout would leave a margin of two seconds.
    maxHeartbeatThrottleInterval: '3 seconds',
    interceptors: { activity: activityInterceptors(deps) },
  };
}

/** The failures that Temporal gets are those that a trace shows. */
function activityInterceptors({ logger }: WorkerDeps): ActivityInterceptorsFactory[] {
  return [activityTracing, createFailureInterceptor(logger)];
}

/** The bundle at the path that is given, else the one in the cache. With the payload codec, workflows encode failures. */
export function workflowBundleOf({
  workflowBundlePath,
  dataConverter,
}: Pick<WorkerDeps, 'workflowBundlePath' | 'dataConverter'>): Promise<WorkflowBundleOption> {
  const isEncoding = dataConverter !== undefined;
  if (workflowBundlePath === undefined) return cachedWorkflowBundle(isEncoding);
  return Promise.resolve({ codePath: isEncoding ? encodingBundlePath(workflowBundlePath) : workflowBundlePath });
}

/** Creates one Temporal worker per task queue, not yet polling. */
export async function createWorkers(deps: WorkerDeps): Promise<Worker[]> {
  const queues = deps.taskQueues?.length ? deps.taskQueues : (Object.keys(TASK_QUEUES) as TaskQueueName[]);
  let made: Promise<WorkflowBundleOption> | undefined;
  const bundle = () => (made ??= workflowBundleOf(deps));
  return Promise.all(queues.map(async (queue) => Worker.create(await optionsFor(queue, deps, bundle))));
}
