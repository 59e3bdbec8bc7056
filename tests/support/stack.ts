import type { Worker } from '@temporalio/worker';
import { createSendingSlots } from '../../shared/sending/sending-slots.ts';
import { createDatabaseGauges } from '../../shared/domain/lifecycle/database-gauges.ts';
import { readFigures } from '../../shared/domain/lifecycle/figures.ts';
import { poolUsageOf } from '../../shared/domain/schema/orm.ts';
import { createDeliveryMetrics, createSmtpGauges } from '../../shared/sending/delivery-metrics.ts';
import { countRequests } from '../../shared/platform/metrics/http-metrics.ts';
import { createProcessMetrics, type ProcessMetrics } from '../../shared/platform/metrics/process-metrics.ts';
import { createActivities } from '../../activities/index.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createTemporalClient } from '../../shared/durable/temporal/client.ts';
import { dataConverterOf } from '../../shared/platform/temporal-codec.ts';
import { createSmtpPool, type SmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { createOpenDeliveries, type OpenDeliveries } from '../../activities/emails/open-deliveries.ts';
import { OUTBOX_WORK } from '../../shared/domain/work/outbox-work.ts';
import { wakeEndpoints } from '../../shared/domain/webhooks/delivery-state.ts';
import { createDispatcher } from '../../shared/durable/outbox/dispatcher.ts';
import { testEnvironment } from './environment.ts';
import { createSmtpSink, type SmtpSink } from './smtp-sink.ts';
import { withoutThreads } from './quiet-temporal.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';
import type { TaskQueueName } from '../../shared/pure/task-queues.ts';
import { createWorkers } from '../../worker/create-worker.ts';
import { startTestApi, type TestApi, type TestApiOptions } from './api.ts';

export { eventually } from './eventually.ts';

export interface TestStack extends TestApi {
  sink: SmtpSink;
  temporal: TestNamespace;
  /** Metrics of the API and of the workers; those from the database are never cached. */
  metrics: ProcessMetrics;
  /** Stops the workers as SIGTERM would; `startWorkers` starts them again. */
  stopWorkers: () => Promise<void>;
  /** Starts workers, for all task queues or for some. */
  startWorkers: (taskQueues?: TaskQueueName[]) => Promise<void>;
}

export interface TestStackOptions extends TestApiOptions {
  sink?: Parameters<typeof createSmtpSink>[0];
  /** The URLs of further SMTP servers that the workers send to. */
  moreRelays?: string[];
  /** host:port of a Temporal server of the test's own. */
  temporalServer?: string;
  /** The address of a proxy that the test can cut, for the dispatcher. */
  temporalAddress?: string;
  /** False when each batch of emails must have a delivery of its own. */
  canJoinDeliveries?: boolean;
  /** False for tests that run workers as processes of their own. */
  hasWorkers?: boolean;
}

/** Endpoints with news are looked for more often than in production, where a second more hardly counts. */
const logger = createLogger({ level: 'silent', name: 'test' });
const KINDS = { ...OUTBOX_WORK, webhook: { ...OUTBOX_WORK.webhook, find: { everyMs: 200, add: wakeEndpoints } } };

/** Adds metrics of the database and of the SMTP connections. */
function watch(metrics: ProcessMetrics, api: TestApi, pool: () => SmtpPool | undefined): void {
  const { registry } = metrics;
  const read = () => readFigures(api.em());
  metrics.beforeAnswer(createDatabaseGauges(registry, { read, poolUsage: () => poolUsageOf(api.orm), keptMs: 0 }));
  const noUse = { connections: 0, sending: 0, queued: 0 };
  metrics.beforeAnswer(
    createSmtpGauges(registry, { usage: () => pool()?.usage() ?? noUse, relays: () => pool()?.relays() ?? [] }),
  );
}

function startDispatcher(
  options: TestStackOptions,
  { em }: TestApi,
  temporal: TestNamespace,
  openDeliveries: OpenDeliveries,
) {
  const canStartEagerly = options.temporalAddress === undefined;
  const client = canStartEagerly
    ? createTemporalClient(temporal, temporal.connection)
    : createTemporalClient({ ...temporal, connectionOptions: { address: options.temporalAddress } });
  const dispatcher = createDispatcher({
    em,
    client,
    canStartEagerly,
    logger,
    kinds: KINDS,
    ...(options.canJoinDeliveries !== false && { join: openDeliveries.offer }),
  });
  return {
    async stop() {
      await dispatcher.stop();
      if (!canStartEagerly) await client.connection.close();
    },
  };
}

function runWorkers(workers: readonly Worker[]): () => Promise<void> {
  const running = Promise.all(workers.map((worker) => worker.run()));
  return async () => {
    for (const worker of workers) worker.shutdown();
    await running;
  };
}

/**
 * All of Everpost in this process, on real servers: the API on a database of its own, workers and dispatcher on a
 * Temporal namespace of their own, and an SMTP server that keeps its messages.
 */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const sink = await createSmtpSink(options.sink);
  const dataConverter = dataConverterOf(options.config?.TEMPORAL_CODEC_KEYS ?? []);
  const openDeliveries = createOpenDeliveries();
  const metrics = createProcessMetrics({ withNode: true });
  const delivery = createDeliveryMetrics(metrics.registry);
  const [temporal, api] = await Promise.all([
    createTestNamespace(options.temporalServer, dataConverter),
    startTestApi({
      ...options,
      observe: countRequests(metrics.registry),
      config: { SMTP_URL: [sink.url, ...(options.moreRelays ?? [])], SMTP_CONNECTIONS: 5, ...options.config },
    }),
  ]);
  const { config } = api;
  let smtp: SmtpPool | undefined;
  watch(metrics, api, () => smtp);
  const dispatcher = startDispatcher(options, api, temporal, openDeliveries);

  let stopRunning: (() => Promise<void>) | undefined;
  async function startWorkers(taskQueues?: TaskQueueName[]): Promise<void> {
    const pool = createSmtpPool({ urls: config.SMTP_URL, maxConnections: config.SMTP_CONNECTIONS, logger });
    smtp = pool;
    const links = linkSignerOf(config);
    const slots = createSendingSlots();
    const workers = await withoutThreads(() =>
      createWorkers({
        connection: temporal.connection,
        namespace: temporal.namespace,
        dataConverter,
        logger,
        activities: createActivities({
          config,
          orm: api.database.orm,
          logger,
          smtp: pool,
          links,
          temporal: temporal.client,
          metrics: delivery,
          heartbeatMs: 500,
          openDeliveries,
          slots,
        }),
        slots,
        // The bundle that all tests share does not encode failures.
        workflowBundlePath: dataConverter ? undefined : testEnvironment().workflowBundlePath,
        ...(taskQueues && { taskQueues }),
      }),
    );
    const stop = runWorkers(workers);
    stopRunning = async () => {
      openDeliveries.closeAll();
      await stop();
      await pool.close();
    };
  }
  const stopWorkers = async (): Promise<void> => stopRunning?.().finally(() => (stopRunning = undefined));

  if (options.hasWorkers !== false) await startWorkers();
  return {
    ...api,
    sink,
    temporal,
    metrics,
    startWorkers,
    stopWorkers,
    async stop() {
      await dispatcher.stop();
      await stopWorkers();
      await temporal.close();
      await sink.close();
      await api.stop();
    },
  };
}
