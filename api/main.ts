import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ConfigError, publicUrlWarning, readConfig, type Config } from '../shared/platform/config.ts';
import { listenFault } from '../shared/platform/listen-fault.ts';
import { createLogger, type Logger } from '../shared/platform/logger.ts';
import { runProcess } from '../shared/platform/process.ts';
import { startTracing } from '../shared/platform/tracing/start-tracing.ts';
import { appSecretsOf } from '../shared/platform/sealed-values.ts';
import {
  addressOf,
  checkTemporal,
  createTemporalClient,
  readTemporalOptions,
} from '../shared/durable/temporal/client.ts';
import { createNamespaceCheck, watchNamespace } from '../shared/domain/lifecycle/namespace-watch.ts';
import { createOrm, isMigrated, type Orm } from '../shared/domain/schema/orm.ts';
import { waitForDatabase } from '../shared/domain/schema/wait-for-database.ts';
import { unsignedWarning } from '../shared/domain/domains/domain-health.ts';
import { assertKnownSecret } from '../shared/domain/secrets/known-secrets.ts';
import { requestLimits } from '../shared/database/session-limits.ts';
import { query, sql } from '../shared/database/sql.ts';
import { readEngagedEmails, recordEngagements, reviseEngagements } from '../shared/domain/engagement/engagement.ts';
import { createApp, createSharedParts, createWaitingApp } from './app.ts';
import { createAuthenticatorOrm } from './http/authenticator.ts';
import { createApiMetrics } from './http/api-metrics.ts';
import { createHttpServer, serverLimitsOf } from './http/server.ts';
import { startSubmission } from './submission/submission-server.ts';
import { createEngagementRecorder } from './feedback/engagement-recorder.ts';

/** Longest wait for requests under way when the process is told to stop. */
const DRAIN_MS = 10_000;
/** Longest wait after that for opens and clicks in memory to be recorded. */
const ENGAGEMENTS_DRAIN_MS = 5_000;

/** Connects to PostgreSQL. @throws when the secrets of this process are not those of the database */
async function connect(config: Config, logger: Logger): Promise<{ orm: Orm; authenticatorOrm: Orm }> {
  const { DATABASE_URL: databaseUrl } = config;
  const onWarning = (message: string) => logger.warn(message);
  const orm = await createOrm({
    databaseUrl,
    onWarning,
    poolSize: config.DATABASE_POOL_SIZE,
    // The name is unique, so that other processes can tell whether this one still runs.
    applicationName: `everpost-api ${randomUUID()}`,
    limits: requestLimits(config.API_STATEMENT_TIMEOUT_SECONDS),
  });
  try {
    await assertKnownSecret(orm.em.fork(), appSecretsOf(config));
    const applicationName = 'everpost-api-authentication';
    return { orm, authenticatorOrm: await createAuthenticatorOrm({ databaseUrl, onWarning, applicationName }) };
  } catch (error) {
    await orm.close();
    throw error;
  }
}

await runProcess('api', async ({ onStop, fail }) => {
  const config = readConfig();
  const logger = createLogger({ level: config.LOG_LEVEL, name: 'api' });
  const warning = publicUrlWarning(config);
  if (warning !== undefined) logger.warn(warning);
  const tracing = await startTracing(config, 'api', logger);
  const metrics = await createApiMetrics(config, logger);
  let app = createWaitingApp(config, logger, metrics.observe);
  const server = createHttpServer((req, res) => void app(req, res), serverLimitsOf(config, logger));
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening').catch((error: unknown) => {
    throw listenFault(error, 'PORT', config.HOST, config.PORT);
  });
  logger.info({ port: (server.address() as AddressInfo).port }, 'listening');

  const { orm, authenticatorOrm } = await waitForDatabase(config.DATABASE_URL, logger, () => connect(config, logger));
  const temporal = readTemporalOptions(config.TEMPORAL_CODEC_KEYS);
  const client = createTemporalClient(temporal);
  const stopWatching = await watchNamespace(
    createNamespaceCheck({
      em: () => orm.em.fork(),
      client,
      logger,
      address: addressOf(temporal),
      mayAdopt: config.TEMPORAL_ADOPT,
    }),
    (error) => fail(error, 'the API stops'),
  );
  const engagements = createEngagementRecorder({
    logger,
    emailsOf: (emailIds) => readEngagedEmails(orm.em.fork(), emailIds),
    record: (batch, lockMs) => recordEngagements(orm.em.fork(), batch, lockMs),
    revise: (batch, lockMs) => reviseEngagements(orm.em.fork(), batch, lockMs),
  });
  const deps = { config, orm, authenticatorOrm, logger, engagements };
  const shared = createSharedParts(deps);
  const serving = createApp(
    deps,
    {
      database: () => query(orm.em.fork(), sql`select 1`),
      migrations: async () => {
        if (!(await isMigrated(orm))) throw new ConfigError('migrations are pending');
      },
      temporal: () => checkTemporal(client),
    },
    metrics.observe,
    shared,
  );
  const submission = await startSubmission({ ...deps, ...shared });
  metrics.watch(orm);
  onStop(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A keep-alive connection becomes idle only after its last answer.
    const closing = setInterval(() => server.closeIdleConnections(), 100);
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    await Promise.all([closed, submission.close()]);
    clearTimeout(timer);
    clearInterval(closing);
    await metrics.server?.close();
    await engagements.drain(ENGAGEMENTS_DRAIN_MS);
    stopWatching();
    await client.connection.close();
    await Promise.all([orm.close(), authenticatorOrm.close()]);
    await tracing.stop();
    logger.info('stopped');
  });
  serving.prepare();
  app = serving.app;
  logger.info('serving');
  // Migrations may still be pending.
  const unsigned = await unsignedWarning(orm.em.fork(), config).catch(() => undefined);
  if (unsigned !== undefined) logger.warn(unsigned);
});
