import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import {
  Client,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type ConnectionOptions,
  type ScheduleOptions,
  type ScheduleSpec,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../shared/platform/search-attributes.ts';
import {
  addressOf,
  clientOptions,
  createConnection,
  findNamespaceId,
  GRPC,
  grpcErrorOf,
  hasStatus,
  type TemporalConnectOptions,
} from '../../shared/durable/temporal/client.ts';

/** How long Temporal keeps a closed workflow. PostgreSQL keeps what the product needs. */
const RETENTION = '3 days';
/** Runs missed while Temporal was down are not repeated, because each run does everything that is due. */
const CATCHUP_WINDOW = '1 minute';
/** Servers reload the lists of namespaces and search attributes every few seconds. */
const PROPAGATION_TIMEOUT_MS = 60_000;
const PROPAGATION_POLL_MS = 100;
const CONNECT_TIMEOUT_MS = 10_000;
const PASSING = [GRPC.notFound, GRPC.deadlineExceeded, GRPC.unavailable];

/** `INDEXED_VALUE_TYPE_KEYWORD` of temporal.api.enums.v1. */
const KEYWORD_TYPE = 2;

/** A workflow that a schedule starts. */
export interface ScheduleDefinition {
  scheduleId: string;
  workflowType: string;
  taskQueue: string;
  /** A description for operators in the Temporal UI. */
  summary: string;
  /** When to start the workflow; times are UTC. */
  spec: ScheduleSpec;
  args?: unknown[];
}

export interface TemporalSetupResult {
  namespace: string;
  namespaceId: string;
  isNamespaceNew: boolean;
  searchAttributesAdded: string[];
  /** The ids of all schedules of the setup, new and existing. */
  schedules: string[];
}

/**
 * Repeats `work` while the server does not yet know a new namespace or attribute, or does not answer: after its start, a
 * server can take longer than a call to describe a schedule.
 */
async function untilKnown<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PROPAGATION_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!hasStatus(grpcErrorOf(error), ...PASSING) || Date.now() > deadline) throw error;
      await sleep(PROPAGATION_POLL_MS);
    }
  }
}

/** Rejects to leave a namespace as it is. Its id is undefined while it does not exist. */
export type NamespaceCheck = (namespaceId: string | undefined) => Promise<void>;

async function ensureNamespace(connection: Connection, namespace: string, check: NamespaceCheck): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return false;
  } catch (error) {
    if (!hasStatus(error, GRPC.notFound)) throw error;
  }
  await check(undefined);
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Everpost',
      workflowExecutionRetentionPeriod: msToTs(RETENTION),
    });
    return true;
  } catch (error) {
    // Another process may have been faster.
    if (hasStatus(error, GRPC.alreadyExists)) return false;
    throw error;
  }
}

/**
 * Names of the search attributes of a namespace. Temporal Cloud reports them only in the description of the namespace.
 */
export async function knownSearchAttributes(connection: Connection, namespace: string): Promise<Set<string>> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return new Set(Object.keys(customAttributes));
  } catch (error) {
    if (!hasStatus(error, GRPC.permissionDenied, GRPC.unauthenticated, GRPC.unimplemented)) throw error;
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return new Set(Object.values(config?.customSearchAttributeAliases ?? {}));
  }
}

async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const known = await untilKnown(() => knownSearchAttributes(connection, namespace));
  const missing = Object.values(SEARCH_ATTRIBUTES).filter((name) => !known.has(name));
  if (missing.length === 0) return [];
  try {
    await untilKnown(() =>
      connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD_TYPE])),
      }),
    );
  } catch (error) {
    if (hasStatus(error, GRPC.permissionDenied, GRPC.unauthenticated, GRPC.unimplemented)) {
      throw new Error(
        `Temporal does not let these credentials create search attributes. Create ${missing.join(', ')} ` +
          `(each of type Keyword) in the settings of the namespace ${namespace} and run this again.`,
        { cause: error },
      );
    }
    if (!hasStatus(error, GRPC.alreadyExists)) throw error;
  }
  const deadline = Date.now() + PROPAGATION_TIMEOUT_MS;
  for (;;) {
    const names = await knownSearchAttributes(connection, namespace);
    if (missing.every((name) => names.has(name))) return missing;
    if (Date.now() > deadline) throw new Error(`The search attributes ${missing.join(', ')} do not become visible.`);
    await sleep(PROPAGATION_POLL_MS);
  }
}

function scheduleOptions(definition: ScheduleDefinition): ScheduleOptions {
  return {
    scheduleId: definition.scheduleId,
    spec: { ...definition.spec, timezone: 'UTC' },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
    action: {
      type: 'startWorkflow',
      workflowType: definition.workflowType,
      workflowId: definition.scheduleId,
      taskQueue: definition.taskQueue,
      args: definition.args ?? [],
      staticSummary: definition.summary,
    },
  };
}

/**
 * Creates missing schedules and updates the others. A schedule that an operator has paused stays paused. No run is
 * started, and no missed run is repeated.
 * @returns the ids, in the order of `definitions`
 */
export async function ensureSchedules(client: Client, definitions: readonly ScheduleDefinition[]): Promise<string[]> {
  for (const definition of definitions) {
    const options = scheduleOptions(definition);
    try {
      await untilKnown(() => client.schedule.create(options));
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const handle = client.schedule.getHandle(definition.scheduleId);
      await untilKnown(() =>
        handle.update(({ state }) => ({ ...options, state: { paused: state.paused, note: state.note } })),
      );
    }
  }
  return definitions.map(({ scheduleId }) => scheduleId);
}

async function connect(options: ConnectionOptions): Promise<Connection> {
  const connection = createConnection({ connectTimeout: CONNECT_TIMEOUT_MS, ...options });
  try {
    await connection.ensureConnected();
    return connection;
  } catch (error) {
    await connection.close();
    throw new Error(`Temporal cannot be reached at ${addressOf({ connectionOptions: options })}`, { cause: error });
  }
}

/**
 * Prepares Temporal for Everpost: the namespace (it keeps closed workflows for three days), the search attributes and
 * the schedules. An existing namespace and existing search attributes stay as they are; schedules are updated. May run
 * any number of times.
 * @param check is called before anything is changed in a namespace
 * @throws the error of `check`; also when Temporal cannot be reached or the credentials do not suffice
 */
export async function setUpTemporal(
  options: TemporalConnectOptions,
  schedules: readonly ScheduleDefinition[],
  check: NamespaceCheck = () => Promise.resolve(),
): Promise<TemporalSetupResult> {
  const { connectionOptions, namespace } = options;
  const connection = await connect(connectionOptions);
  try {
    const client = new Client({ connection, ...clientOptions(options) });
    const isNamespaceNew = await ensureNamespace(connection, namespace, check);
    const namespaceId = await untilKnown(() => findNamespaceId(client, CONNECT_TIMEOUT_MS));
    await check(namespaceId);
    const searchAttributesAdded = await ensureSearchAttributes(connection, namespace);
    return {
      namespace,
      namespaceId,
      isNamespaceNew,
      searchAttributesAdded,
      schedules: await ensureSchedules(client, schedules),
    };
  } finally {
    await connection.close();
  }
}
