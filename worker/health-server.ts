import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import type { Config } from '../shared/platform/config.ts';
import { checkTemporal } from '../shared/dispatch/temporal.ts';

export interface HealthServer {
  port: number;
  close: () => Promise<void>;
}

/** Whether every worker polls its queue, and Temporal answers: without it they poll nothing. */
export async function isTakingWork(workers: Pick<Worker, 'getStatus'>[], client: Client): Promise<boolean> {
  const arePolling = workers.every((worker) => {
    const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
    return runState === 'RUNNING' && ![workflowPollerState, activityPollerState].includes('FAILED');
  });
  if (!arePolling) return false;
  return checkTemporal(client).then(
    () => true,
    () => false,
  );
}

/** Answers `GET /health` on HEALTH_PORT; undefined when there is none. One look at a time, however many ask. */
export async function startHealthServer(
  config: Pick<Config, 'HEALTH_PORT' | 'METRICS_HOST'>,
  isHealthy: () => Promise<boolean>,
): Promise<HealthServer | undefined> {
  if (config.HEALTH_PORT === undefined) return undefined;
  let looking: Promise<boolean> | undefined;
  const look = (): Promise<boolean> =>
    (looking ??= isHealthy().finally(() => {
      looking = undefined;
    }));
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== '/health') {
      response.writeHead(404).end();
      return;
    }
    void look().then((healthy) => {
      response.writeHead(healthy ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: healthy ? 'ok' : 'takes no work' }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.HEALTH_PORT, config.METRICS_HOST, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
