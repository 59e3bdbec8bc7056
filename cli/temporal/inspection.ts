import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { SEARCH_ATTRIBUTES } from '../../shared/platform/search-attributes.ts';
import {
  GRPC,
  clientOptions,
  createConnection,
  findNamespaceId,
  hasStatus,
  type TemporalConnectOptions,
} from '../../shared/durable/temporal/client.ts';
import { knownSearchAttributes } from './setup.ts';

/** The state of Everpost's namespace, as a Temporal server reports it. */
export interface TemporalState {
  /** Empty when the server does not report it. */
  serverVersion: string;
  /** The id of the namespace; undefined when it does not exist. */
  namespaceId: string | undefined;
  missingSearchAttributes: string[];
  missingSchedules: string[];
  pausedSchedules: string[];
  /** Keys of `TASK_QUEUES` that no worker polls for activities. */
  unservedQueues: string[];
}

const ACTIVITY_QUEUE = proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY;

async function namespaceIdOf(client: Client): Promise<string | undefined> {
  try {
    return await findNamespaceId(client);
  } catch (error) {
    if (hasStatus(error, GRPC.notFound)) return undefined;
    throw error;
  }
}

async function schedulesOf(
  client: Client,
  ids: readonly string[],
): Promise<Pick<TemporalState, 'missingSchedules' | 'pausedSchedules'>> {
  const paused = new Map<string, boolean>();
  for await (const { scheduleId, state } of client.schedule.list()) paused.set(scheduleId, state.paused);
  return {
    missingSchedules: ids.filter((id) => !paused.has(id)),
    pausedSchedules: ids.filter((id) => paused.get(id)),
  };
}

async function unservedQueuesOf({ workflowService, options }: Client): Promise<string[]> {
  const queues = await Promise.all(
    Object.entries(TASK_QUEUES).map(async ([queue, name]) => {
      const taskQueue = { name };
      const { namespace } = options;
      const described = await workflowService.describeTaskQueue({
        namespace,
        taskQueue,
        taskQueueType: ACTIVITY_QUEUE,
      });
      return { queue, isServed: described.pollers.length > 0 };
    }),
  );
  return queues.filter(({ isServed }) => !isServed).map(({ queue }) => queue);
}

/**
 * Inspects the namespace of Everpost and changes nothing.
 * @param scheduleIds the schedules that there should be
 * @throws the error of gRPC when Temporal cannot be reached within `timeoutMs`, or refuses the credentials
 */
export async function inspectTemporal(
  options: TemporalConnectOptions,
  scheduleIds: readonly string[],
  timeoutMs: number,
): Promise<TemporalState> {
  const connection = createConnection(options.connectionOptions);
  const client = new Client({ connection, ...clientOptions(options) });
  try {
    return await connection.withDeadline(Date.now() + timeoutMs, async () => {
      const namespaceId = await namespaceIdOf(client);
      const { serverVersion } = await client.workflowService.getSystemInfo({});
      const absent = { missingSearchAttributes: [], missingSchedules: [], pausedSchedules: [], unservedQueues: [] };
      if (namespaceId === undefined) return { serverVersion, namespaceId, ...absent };
      const known = await knownSearchAttributes(connection, options.namespace);
      return {
        serverVersion,
        namespaceId,
        missingSearchAttributes: Object.values(SEARCH_ATTRIBUTES).filter((name) => !known.has(name)),
        ...(await schedulesOf(client, scheduleIds)),
        unservedQueues: await unservedQueuesOf(client),
      };
    });
  } finally {
    await connection.close();
  }
}
