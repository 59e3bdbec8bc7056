import { setFlagsFromString } from 'node:v8';
import { NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { createEmailSpool } from '../shared/domain/campaigns/result-sink.ts';
import { spoolFault } from '../shared/sending/results/spool-folder.ts';
import { ConfigError, publicUrlWarning, readConfig, type Config } from '../shared/platform/config.ts';
import { linkSignerOf } from '../shared/sending/compose/links.ts';
import { createLogger, type Logger } from '../shared/platform/logger.ts';
import { createMailPool } from '../shared/sending/route/mail-pool.ts';
import { createMxPorts } from '../shared/domain/emails/mx-ports.ts';
import { readShapingFile } from '../shared/platform/shaping-file.ts';
import { runProcess, type ProcessHooks } from '../shared/platform/process.ts';
import { startTracing } from '../shared/platform/tracing/start-tracing.ts';
import { appSecretsOf } from '../shared/platform/sealed-values.ts';
import {
  addressOf,
  createTemporalClient,
  readTemporalOptions,
  waitForTemporal,
} from '../shared/durable/temporal/client.ts';
import { createOpenDeliveries } from '../activities/emails/open-deliveries.ts';
import { createDispatcher } from '../shared/durable/outbox/dispatcher.ts';
import { createNamespaceCheck, watchNamespace } from '../shared/domain/lifecycle/namespace-watch.ts';
import { OUTBOX_WORK } from '../shared/domain/work/outbox-work.ts';
import { createOrm, type Orm } from '../shared/domain/schema/orm.ts';
import { waitForDatabase } from '../shared/domain/schema/wait-for-database.ts';
import { assertKnownSecret } from '../shared/domain/secrets/known-secrets.ts';
import { WORKER_LIMITS } from '../shared/database/session-limits.ts';
import { TASK_QUEUES, type TaskQueueName } from '../shared/pure/task-queues.ts';
import { startInbound } from './inbound/start-inbound.ts';
import { createSendingSlots } from '../shared/sending/sending-slots.ts';
import { createWorkers, type WorkerDeps } from './create-worker.ts';
import { hindranceOf, startHealthServer, type Hindrance } from './health-server.ts';
import { createWorkerMetrics } from './metrics.ts';
import { temporalLogger } from './temporal-logger.ts';

const HEARTBEAT_MS = 2_000;

function taskQueuesOf(config: Config): TaskQueueName[] {
  const known = Object.keys(TASK_QUEUES);
  const unknown = config.WORKER_TASK_QUEUES.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError(`WORKER_TASK_QUEUES: ${unknown.join(', ')} is not one of ${known.join(', ')}`);
  }
  return config.WORKER_TASK_QUEUES as TaskQueueName[];
}

function versionOf({ WORKER_DEPLOYMENT, WORKER_BUILD_ID }: Config): WorkerDeps['version'] {
  if (WORKER_DEPLOYMENT === undefined || WORKER_BUILD_ID === undefined) return undefined;
  return { deploymentName: WORKER_DEPLOYMENT, buildId: WORKER_BUILD_ID };
}

/** Connects to PostgreSQL and checks that the secrets of this process are those of the database. */
async function connectToDatabase(config: Config, logger: Logger): Promise<Orm> {
  const orm = await createOrm({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'everpost-worker',
    limits: WORKER_LIMITS,
    onWarning: (message) => logger.warn(message),
  });
  try {
    await assertKnownSecret(orm.em.fork(), appSecretsOf(config));
    return orm;
  } catch (error) {
    await orm.close();
    throw error;
  }
}

/** Begins to record what an earlier process kept, before claims are made. */
async function recordKeptResults(config: Config, orm: Orm, logger: Logger): Promise<void> {
  const reason = await spoolFault(config.RESULTS_FOLDER);
  if (reason !== undefined) {
    const effect = 'results are kept in memory only when the worker stops while PostgreSQL is away';
    logger.warn({ reason }, `RESULTS_FOLDER cannot be written: ${effect}`);
  }
  createEmailSpool({ config, orm, logger }).recordAll();
}

/** Sets the logger and the metrics of the Temporal SDK, which exist once per process. */
function installRuntime(logger: Logger, metricsAddress: string | undefined): void {
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
      ...(metricsAddress !== undefined && {
        metrics: {
          prometheus: { bindAddress: metricsAddress, useSecondsForDurations: true, countersTotalSuffix: true },
        },
      }),
    },
  });
}

/**
 * Runs the workers. @returns what ends them, and waits for all of them. One that cannot hand over its results in time ends
 * by force, which is no fault of the process: Temporal gives out their work again.
 */
function runWorkers(workers: readonly Worker[], logger: Logger, fail: ProcessHooks['fail']): () => Promise<void> {
  let isEnding = false;
  const runs = workers.map((worker) => worker.run());
  Promise.all(runs).catch((error: unknown) => isEnding || fail(error, 'the worker failed'));
  return async () => {
    isEnding = true;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    const fault = (await Promise.allSettled(runs)).find((end) => end.status === 'rejected');
    if (fault) logger.warn({ err: fault.reason }, 'Temporal gives out again what it has no result of');
  };
}

/** Reads the configuration. A fault of it ends the worker before it waits for servers. */
function readWorkerConfig(): Config {
  const config = readConfig();
  if (config.SMTP_URL.length === 0) throw new ConfigError('SMTP_URL is required, for example smtp://127.0.0.1:1025');
  readShapingFile(config.SHAPING_FILE);
  return config;
}

// A heap may grow by half of what lives before V8 collects what is dead. By V8's own measure it grows by more, and a
// worker takes 570 MB for the work that takes 490 MB with this one (`bench campaign`).
setFlagsFromString('--heap-growing-percent=50');

await runProcess('worker', async ({ onStop, fail }) => {
  const config = readWorkerConfig();
  const logger = createLogger({ level: config.LOG_LEVEL, name: 'worker' });
  const warning = publicUrlWarning(config);
  if (warning !== undefined) logger.warn(warning);
  const taskQueues = taskQueuesOf(config);
  const tracing = await startTracing(config, 'worker', logger);
  const metrics = await createWorkerMetrics(config, logger);
  installRuntime(logger, metrics.sdkAddress);

  let findHindrance = async (): Promise<Hindrance> => 'waiting for PostgreSQL';
  const health = await startHealthServer(config, () => findHindrance());
  const orm = await waitForDatabase(config.DATABASE_URL, logger, () => connectToDatabase(config, logger));
  findHindrance = async () => 'waiting for Temporal';
  const smtp = createMailPool({ urls: config.SMTP_URL, maxConnections: config.SMTP_CONNECTIONS, logger }, () =>
    createMxPorts({ config, logger, em: () => orm.em.fork() }),
  );
  const metricsServer = await metrics.serve(orm, smtp);
  const temporal = readTemporalOptions(config.TEMPORAL_CODEC_KEYS);
  const client = createTemporalClient(temporal);
  const address = addressOf(temporal);
  const em = () => orm.em.fork();
  const checkNamespace = createNamespaceCheck({ em, client, address, logger, mayAdopt: config.TEMPORAL_ADOPT });
  const connection = await waitForTemporal(client, address, logger, async () => {
    await checkNamespace();
    return NativeConnection.connect(temporal.connectionOptions);
  });
  const version = versionOf(config);
  const openDeliveries = createOpenDeliveries();
  const slots = createSendingSlots();
  const stopWatching = await watchNamespace(checkNamespace, (error) => fail(error, 'the worker stops'));
  const dispatcher = createDispatcher({
    em,
    client: createTemporalClient(temporal, connection),
    logger,
    kinds: OUTBOX_WORK,
    // A task that Temporal returns with a start does not say for which version of the workflow code it is.
    canStartEagerly: version === undefined,
    isTraced: config.tracing.isOn,
    join: openDeliveries.offer,
  });
  await recordKeptResults(config, orm, logger);
  const links = linkSignerOf(config);
  const inbound = await startInbound({ config, orm, logger, links, smtp });
  const workers = await createWorkers({
    connection,
    namespace: temporal.namespace,
    dataConverter: temporal.dataConverter,
    logger,
    activities: createActivities({
      config,
      orm,
      logger,
      smtp,
      links,
      temporal: client,
      metrics: metrics.delivery,
      heartbeatMs: HEARTBEAT_MS,
      openDeliveries,
      slots,
    }),
    slots,
    workflowBundlePath: config.WORKFLOW_BUNDLE,
    taskQueues,
    version,
  });

  findHindrance = () => hindranceOf(workers, client);
  const endWork = runWorkers(workers, logger, fail);
  logger.info({ taskQueues: taskQueues.length > 0 ? taskQueues : Object.keys(TASK_QUEUES) }, 'working');
  onStop(async () => {
    openDeliveries.closeAll();
    const ended = endWork();
    await Promise.all([health?.close(), metricsServer?.close()]);
    await Promise.all([ended, inbound?.close()]);
    stopWatching();
    await dispatcher.stop();
    await Promise.all([smtp.close(), client.connection.close(), connection.close()]);
    await orm.close();
    await tracing.stop();
    logger.info('stopped');
  });
});
