import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import proto from '@temporalio/proto';
import { TASK_QUEUES, WORKFLOW_QUEUES } from '../pure/task-queues.ts';
import { GRPC, hasStatus } from './temporal.ts';

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** One version of the workflow code that workers have, or had. */
export interface WorkerBuild {
  buildId: string;
  /** Whether Temporal gives it what begins now, and what long-lived workflows do next. */
  isCurrent: boolean;
  /** Open workflows that only workers of this build can go on with. */
  pinnedWorkflows: number;
}

function countPinned({ workflow }: Client, { deploymentName, buildId }: WorkerDeploymentVersion): Promise<number> {
  const conditions = [
    "ExecutionStatus = 'Running'",
    "TemporalWorkflowVersioningBehavior = 'Pinned'",
    `TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}'`,
  ];
  return workflow.count(conditions.join(' AND ')).then(({ count }) => count);
}

/**
 * The builds of a worker deployment that Temporal knows, the newest first; none when no worker has ever named it. Counts
 * come from Temporal's index, which is up to some seconds old.
 */
export async function listBuilds(client: Client, deploymentName: string): Promise<WorkerBuild[]> {
  const { namespace } = client.options;
  try {
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    const { routingConfig, versionSummaries } = workerDeploymentInfo ?? {};
    const current = routingConfig?.currentDeploymentVersion?.buildId;
    const buildIds = (versionSummaries ?? []).map(({ deploymentVersion }) => deploymentVersion?.buildId ?? '');
    return await Promise.all(
      buildIds.map(async (buildId) => ({
        buildId,
        isCurrent: buildId === current,
        pinnedWorkflows: await countPinned(client, { deploymentName, buildId }),
      })),
    );
  } catch (error) {
    if (hasStatus(error, GRPC.notFound)) return [];
    throw error;
  }
}

/** The task queues that no worker of this build asks for tasks. */
export async function queuesWithoutBuild(client: Client, version: WorkerDeploymentVersion): Promise<string[]> {
  const asked = [
    ...WORKFLOW_QUEUES.map((name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW })),
    ...Object.values(TASK_QUEUES).map((name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY })),
  ];
  const missing = await Promise.all(
    asked.map(async ({ name, taskQueueType }) => {
      const { namespace } = client.options;
      const described = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name },
        taskQueueType,
      });
      const isServed = described.pollers.some(
        ({ deploymentOptions: has }) =>
          has?.deploymentName === version.deploymentName && has.buildId === version.buildId,
      );
      return isServed ? [] : [name];
    }),
  );
  return [...new Set(missing.flat())];
}

/**
 * Gives workers of this build all that begins from now on, and what long-lived workflows do next.
 * @throws the error of gRPC, among others when Temporal does not know the build
 */
export async function makeBuildCurrent(client: Client, version: WorkerDeploymentVersion): Promise<void> {
  const { namespace, identity } = client.options;
  await client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, identity, ...version });
}
