import { createServer } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import type { Config } from '../shared/platform/config.ts';
import { listenFault } from '../shared/platform/listen-fault.ts';
import { listenBeside, type SideServer } from '../shared/platform/side-server.ts';
import { checkTemporal } from '../shared/durable/temporal/client.ts';

/** The reason why the process takes no work; undefined while it can. */
export type Hindrance = string | undefined;

/** Checks whether every worker polls its task queue and Temporal answers: without Temporal, a worker polls in vain. */
export async function hindranceOf(workers: Pick<Worker, 'getStatus'>[], client: Client): Promise<Hindrance> {
  const arePolling = workers.every((worker) => {
    const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
    return runState === 'RUNNING' && ![workflowPollerState, activityPollerState].includes('FAILED');
  });
  if (!arePolling) return 'not every queue is polled';
  return checkTemporal(client).then(
    () => undefined,
    () => 'Temporal does not answer',
  );
}

/**
 * Answers `GET /health` on HEALTH_PORT. Concurrent requests share one check.
 * @returns undefined without HEALTH_PORT
 * @throws ConfigError when the port cannot be used
 */
export async function startHealthServer(
  config: Pick<Config, 'HEALTH_PORT' | 'METRICS_HOST'>,
  findHindrance: () => Promise<Hindrance>,
): Promise<SideServer | undefined> {
  if (config.HEALTH_PORT === undefined) return undefined;
  let checking: Promise<Hindrance> | undefined;
  function check(): Promise<Hindrance> {
    checking ??= findHindrance().finally(() => {
      checking = undefined;
    });
    return checking;
  }
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== '/health') {
      response.writeHead(404).end();
      return;
    }
    void check().then((reason) => {
      response.writeHead(reason === undefined ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reason === undefined ? { status: 'ok' } : { status: 'takes no work', reason }));
    });
  });
  const { HEALTH_PORT: port, METRICS_HOST: host } = config;
  return listenBeside(server, port, host).catch((error: unknown) => {
    throw listenFault(error, 'HEALTH_PORT', host, port);
  });
}
