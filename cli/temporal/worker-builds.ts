import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import proto from '@temporalio/proto';
import { TASK_QUEUES, WORKFLOW_QUEUES } from '../../shared/pure/task-queues.ts';
import { GRPC, hasStatus } from '../../shared/durable/temporal/client.ts';

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** A version of the workflow code that workers run, or ran. */
export interface WorkerBuild {
  buildId: string;
  /** Whether Temporal gives this build new workflows, and the next tasks of long-lived workflows. */
  isCurrent: boolean;
  /** The number of open workflows that only workers of this build can continue. */
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
 * The builds of a worker deployment that Temporal knows, the newest first. Empty when no worker has ever named the
 * deployment. Counts come from Temporal's index, which may be some seconds old.
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

/** The names of the task queues that no worker of this build polls. */
export async function queuesWithoutBuild(client: Client, version: WorkerDeploymentVersion): Promise<string[]> {
  const expected = [
    ...WORKFLOW_QUEUES.map((name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW })),
    ...Object.values(TASK_QUEUES).map((name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY })),
  ];
  const queues = await Promise.all(
    expected.map(async ({ name, taskQueueType }) => {
      const { namespace } = client.options;
      const described = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name },
        taskQueueType,
      });
      const isServed = described.pollers.some(
        ({ deploymentOptions: poller }) =>
          poller?.deploymentName === version.deploymentName && poller.buildId === version.buildId,
      );
      return { name, isServed };
    }),
  );
  return [...new Set(queues.filter(({ isServed }) => !isServed).map(({ name }) => name))];
}

/**
 * Makes a build current: its workers get new workflows, and the next tasks of long-lived workflows.
 * @throws the error of gRPC, for example when Temporal does not know the build
 */
export async function makeBuildCurrent(client: Client, version: WorkerDeploymentVersion): Promise<void> {
  const { namespace, identity } = client.options;
  await client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, identity, ...version });
}
