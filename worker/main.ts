import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { ConfigError, readConfig, type Config } from '../shared/platform/config.ts';
import { linkSignerOf } from '../shared/platform/links.ts';
import { createLogger, type Logger } from '../shared/platform/logger.ts';
import { createSmtpPool } from '../shared/platform/smtp/smtp-pool.ts';
import { runProcess } from '../shared/platform/process.ts';
import { appSecretsOf } from '../shared/platform/sealed-values.ts';
import { createTemporalClient, readTemporalOptions, type TemporalConnectOptions } from '../shared/dispatch/temporal.ts';
import { createDispatcher } from '../shared/dispatch/dispatcher.ts';
import { createOrm, migrateUp } from '../shared/domain/schema/orm.ts';
import { assertKnownSecret } from '../shared/domain/secrets/known-secrets.ts';
import { WORKER_LIMITS } from '../shared/domain/database/session-limits.ts';
import { TASK_QUEUES, type TaskQueueName } from '../shared/pure/task-queues.ts';
import { startInbound } from './inbound/start-inbound.ts';
import { createWorkers } from './create-worker.ts';
import { isTakingWork, startHealthServer } from './health-server.ts';
import { temporalLogger } from './temporal-logger.ts';

const OUTBOX_POLL_MS = 1_000;
const HEARTBEAT_MS = 2_000;
const RECONNECT_MS = 2_000;

function taskQueuesOf(config: Config): TaskQueueName[] {
  const known = Object.keys(TASK_QUEUES);
  const unknown = config.WORKER_TASK_QUEUES.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError(`WORKER_TASK_QUEUES: ${unknown.join(', ')} is not one of ${known.join(', ')}`);
  }
  return config.WORKER_TASK_QUEUES as TaskQueueName[];
}

/** Waits for Temporal as long as it takes: a worker that starts before it is no fault. */
async function connect(
  options: TemporalConnectOptions,
  logger: Logger,
  isStopping: () => boolean,
): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(options.connectionOptions);
    } catch (error) {
      if (isStopping()) throw error;
      logger.warn(
        { reason: error instanceof Error ? error.message : String(error) },
        'Temporal cannot be reached, trying again',
      );
      await delay(RECONNECT_MS);
    }
  }
}

/** An IPv6 address stands in brackets before a port. */
function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

await runProcess('worker', async ({ onStop, isStopping, fail }) => {
  const config = readConfig();
  const logger = createLogger({ level: config.LOG_LEVEL, name: 'worker' });
  if (config.SMTP_URL.length === 0) throw new ConfigError('SMTP_URL is required, for example smtp://127.0.0.1:1025');
  const taskQueues = taskQueuesOf(config);
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
      ...(config.METRICS_PORT !== undefined && {
        metrics: {
          prometheus: {
            bindAddress: `${hostInUrl(config.METRICS_HOST)}:${config.METRICS_PORT}`,
            useSecondsForDurations: true,
            countersTotalSuffix: true,
          },
        },
      }),
    },
  });

  await migrateUp(config.DATABASE_URL);
  const orm = await createOrm({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'everpost-worker',
    limits: WORKER_LIMITS,
    onWarning: (message) => logger.warn(message),
  });
  await assertKnownSecret(orm.em.fork(), appSecretsOf(config));
  const smtp = createSmtpPool({ urls: config.SMTP_URL, maxConnections: config.SMTP_CONNECTIONS, logger });
  const temporal = readTemporalOptions(config.TEMPORAL_CODEC_KEYS);
  const connection = await connect(temporal, logger, isStopping);
  const client = createTemporalClient(temporal);
  const dispatcher = createDispatcher({ orm, client, logger, pollMs: OUTBOX_POLL_MS });
  const links = linkSignerOf(config);
  const inbound = await startInbound({ config, orm, logger, links, wakeDispatcher: dispatcher.wake });
  const workers = await createWorkers({
    connection,
    namespace: temporal.namespace,
    dataConverter: temporal.dataConverter,
    logger,
    activities: createActivities({
      ...{ config, orm, logger, smtp, links },
      temporal: client,
      heartbeatMs: HEARTBEAT_MS,
      wakeDispatcher: dispatcher.wake,
    }),
    workflowBundlePath: config.WORKFLOW_BUNDLE,
    taskQueues,
  });

  const health = await startHealthServer(config, () => isTakingWork(workers, client));
  const running = Promise.all(workers.map((worker) => worker.run()));
  logger.info({ taskQueues: taskQueues.length > 0 ? taskQueues : Object.keys(TASK_QUEUES) }, 'working');
  onStop(async () => {
    for (const worker of workers) worker.shutdown();
    await health?.close();
    await Promise.all([running, inbound?.close()]);
    await dispatcher.stop();
    await smtp.close();
    await client.connection.close();
    await connection.close();
    await orm.close();
    logger.info('stopped');
  });
  running.catch((error: unknown) => fail(error, 'the worker failed'));
});
