import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { createTemporalClient } from '../shared/durable/temporal/client.ts';
import { eventually } from '../tests/support/eventually.ts';
import { createTestNamespace, type TestNamespace } from '../tests/support/temporal.ts';
import type { SideServer } from '../shared/platform/side-server.ts';
import { hindranceOf, startHealthServer } from './health-server.ts';

let temporal: TestNamespace;
let worker: Worker;
let health: SideServer;
beforeAll(async () => {
  temporal = await createTestNamespace();
  worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: 'health',
    activities: { nothing: async () => undefined },
  });
  const started = await startHealthServer({ HEALTH_PORT: 0, METRICS_HOST: '127.0.0.1' }, () =>
    hindranceOf([worker], temporal.client),
  );
  health = started!;
});
afterAll(async () => {
  await health.close();
  await temporal.close();
});

async function ask(path = '/health'): Promise<number> {
  return (await fetch(`http://127.0.0.1:${health.port}${path}`)).status;
}

it('a worker is healthy only while it takes work', async () => {
  expect(await ask()).toBe(503);
  const running = worker.run();
  await eventually(async () => (await ask()) === 200);
  expect(await ask('/')).toBe(404);
  const nowhere = createTemporalClient({ ...temporal, connectionOptions: { address: '127.0.0.1:9' } });
  expect(await hindranceOf([worker], nowhere)).toBe('Temporal does not answer');
  await nowhere.connection.close();
  worker.shutdown();
  await running;
  expect(await ask()).toBe(503);
}, 30_000);

it('no server is started without a port', async () => {
  const isHealthy = async () => undefined;
  expect(await startHealthServer({ HEALTH_PORT: undefined, METRICS_HOST: '127.0.0.1' }, isHealthy)).toBeUndefined();
});
