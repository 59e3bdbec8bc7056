import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { TASK_QUEUES, type TaskQueueName } from '../shared/pure/task-queues.ts';
import { createFailureInterceptor } from './failure-interceptor.ts';

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Set when the payload codec is on. */
  dataConverter?: DataConverter | undefined;
  activities: Activities;
  logger: Logger;
  /** A bundle made beforehand; without it the workflows are bundled at start. */
  workflowBundlePath?: string;
  /** Which queues to serve; all when left out. */
  taskQueues?: TaskQueueName[];
}

/** Workflows kept in memory; each takes about 0.3 MB. */
const CACHED_WORKFLOWS = 500;
/** Emails are handed over in parallel inside an activity, so few activities fill the connections. */
const DELIVERY_SLOTS = 8;
/** No more than the connections to PostgreSQL that a worker has unless told otherwise. */
const STEP_SLOTS = 10;
const JOB_SLOTS = 20;
/** They mostly wait for others. */
const WEBHOOK_SLOTS = 50;
/** How long messages on the wire may take to finish when the process is told to stop. */
const SHUTDOWN_GRACE = '8 seconds';
/** An activity that ignores its cancellation must not keep the process running. */
const SHUTDOWN_FORCE = '15 seconds';

function optionsFor(queue: TaskQueueName, deps: WorkerDeps): WorkerOptions {
  const common: WorkerOptions = {
    connection: deps.connection,
    namespace: deps.namespace,
    ...(deps.dataConverter && { dataConverter: deps.dataConverter }),
    taskQueue: TASK_QUEUES[queue],
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
  };
  switch (queue) {
    case 'orchestration':
      return {
        ...withActivities(common, deps, STEP_SLOTS),
        maxCachedWorkflows: CACHED_WORKFLOWS,
        ...(deps.workflowBundlePath !== undefined
          ? { workflowBundle: { codePath: bundleFor(deps.workflowBundlePath, deps.dataConverter) } }
          : { workflowsPath: workflowsPath() }),
      };
    case 'transactional':
    case 'automations':
    case 'campaigns':
      return withActivities(common, deps, DELIVERY_SLOTS);
    case 'jobs':
      return withActivities(common, deps, JOB_SLOTS);
    case 'webhooks':
    case 'eventWebhooks':
    case 'slowEventWebhooks':
      return withActivities(common, deps, WEBHOOK_SLOTS);
  }
}

function withActivities(common: WorkerOptions, deps: WorkerDeps, slots: number): WorkerOptions {
  return {
    ...common,
    activities: deps.activities,
    maxConcurrentActivityTaskExecutions: slots,
    // The default of 0.8 × the heartbeat timeout would leave a margin of two seconds.
    maxHeartbeatThrottleInterval: '3 seconds',
    interceptors: { activity: [createFailureInterceptor(deps.logger)] },
  };
}

/**
 * Chooses one of two prepared bundles: with the payload codec, failures of workflows are encoded inside the bundle.
 */
function bundleFor(path: string, dataConverter: DataConverter | undefined): string {
  return dataConverter ? encodingBundlePath(path) : path;
}

/** The path of the bundle for the payload codec, next to the one at `path`. */
export function encodingBundlePath(path: string): string {
  return path.replace(/(?:\.js)?$/, '.codec.js');
}

/** The file that names all workflow types. */
export function workflowsPath(): string {
  return fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
}

/** Creates one Temporal worker per task queue, not yet polling. */
export async function createWorkers(deps: WorkerDeps): Promise<Worker[]> {
  const queues = deps.taskQueues?.length ? deps.taskQueues : (Object.keys(TASK_QUEUES) as TaskQueueName[]);
  return Promise.all(queues.map((queue) => Worker.create(optionsFor(queue, deps))));
}
