import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { findFreePort } from '../local/processes/free-port.ts';
import { readFigures, ROWS_COUNTED_MAX } from '../shared/domain/lifecycle/figures.ts';
import { query, sql } from '../shared/database/sql.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { startMetricsServer } from '../shared/platform/metrics/metrics-server.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { testConfig } from './support/config.ts';
import { testEnvironment } from './support/environment.ts';
import { eventually } from './support/eventually.ts';
import { startEverpostProcess } from './support/everpost-process.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';

const logger = createLogger({ level: 'silent', name: 'test' });

let database: TestDatabase;
let temporal: TestNamespace;
beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestNamespace()]);
});
afterAll(async () => {
  await temporal.close();
  await database.drop();
});

/** The metrics at a port of this machine; undefined while one of these names is missing. */
async function metricsOn(port: number, wanted: RegExp[]): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  return response.status === 200 && wanted.every((pattern) => pattern.test(text)) ? text : undefined;
}

it('an API and a worker serve their own metrics, the worker also those of the SDK', async () => {
  const [apiPort, apiMetrics, workerMetrics] = [await findFreePort(0), await findFreePort(0), await findFreePort(0)];
  const config = testConfig({ DATABASE_URL: database.url, SMTP_URL: ['smtp://127.0.0.1:1'] });
  const host = '127.0.0.1';
  const api = startEverpostProcess('api', config, temporal, {
    HOST: host,
    PORT: String(apiPort),
    METRICS_PORT: String(apiMetrics),
  });
  const worker = startEverpostProcess('worker', config, temporal, {
    METRICS_PORT: String(workerMetrics),
    WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
  });
  try {
    await eventually(async () => (await fetch(`http://${host}:${apiPort}/health`)).status === 200, 60_000);
    const requests = /^everpost_http_requests_total\{method="GET",endpoint="\/health",status="200"\} \d+$/m;
    const shared = [
      /^everpost_database_up 1$/m,
      /^nodejs_eventloop_lag_p99_seconds /m,
      /^everpost_outbox_rows\{kind="email"\} 0$/m,
    ];
    await eventually(() => metricsOn(apiMetrics, [...shared, requests]), 60_000);
    await eventually(
      () =>
        metricsOn(workerMetrics, [...shared, /^everpost_relay_down\{relay="127\.0\.0\.1:1"\} 0$/m, /^temporal_\w+/m]),
      60_000,
    );
  } finally {
    await Promise.all([api.kill(), worker.kill()]);
  }
}, 120_000);

it('a metrics port that is in use is logged, and the process continues', async () => {
  const config = { METRICS_PORT: 0, METRICS_HOST: '127.0.0.1' };
  const server = await startMetricsServer(config, logger, async () => 'x 1\n');
  const { port } = server!;
  expect(await startMetricsServer({ ...config, METRICS_PORT: port }, logger, async () => '')).toBeUndefined();
  expect(await metricsOn(port, [/^x 1$/m])).toBe('x 1\n');
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  await server!.close();
  expect(await startMetricsServer({ ...config, METRICS_PORT: undefined }, logger, async () => '')).toBeUndefined();
});

it('a large backlog is counted up to a bound, and its oldest email is still found', async () => {
  const em = database.orm.em.fork();
  const project = uuidV7();
  const old = uuidV7({ msecs: Date.now() - 500_000 });
  await query(
    em,
    sql`
      insert into outbox (id, project_id, kind, subject_id)
      select case when n = 1 then ${old}::uuid else everpost_uuid_v7() end, ${project}, 'email', everpost_uuid_v7()
      from generate_series(1, 50000) n`,
  );
  await query(
    em,
    sql`
      insert into email (id, project_id, status, created_at, delivery_due_at)
      select everpost_uuid_v7(), ${project}, 'PENDING', now(), now() - n * interval '1 millisecond'
      from generate_series(1, 50000) n`,
  );
  const figures = await readFigures(em);
  const email = figures.outbox.find(({ kind }) => kind === 'email');
  expect(email).toEqual({ kind: 'email', rows: ROWS_COUNTED_MAX, oldestSeconds: expect.any(Number) });
  expect(email?.oldestSeconds).toBeGreaterThanOrEqual(499);
  expect(figures.emailsDue.rows).toBe(ROWS_COUNTED_MAX);
  expect(figures.emailsDue.oldestSeconds).toBeGreaterThanOrEqual(49);
  expect(figures.outbox.find(({ kind }) => kind === 'job')).toEqual({ kind: 'job', rows: 0, oldestSeconds: 0 });
});
