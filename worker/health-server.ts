import { createServer } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import type { Config } from '../shared/platform/config.ts';
import { listenFault } from '../shared/platform/listen-fault.ts';
import { listenBeside, type SideServer } from '../shared/platform/side-server.ts';
import { checkTemporal } from '../shared/dispatch/temporal.ts';

/** Why no work is taken; undefined while some can be. */
export type Hindrance = string | undefined;

/** The process works while every worker polls its queue and Temporal answers; without Temporal they poll nothing. */
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

/** Answers `GET /health` on HEALTH_PORT; undefined when there is none. One check at a time, however many ask. */
export async function startHealthServer(
  config: Pick<Config, 'HEALTH_PORT' | 'METRICS_HOST'>,
  lookNow: () => Promise<Hindrance>,
): Promise<SideServer | undefined> {
  if (config.HEALTH_PORT === undefined) return undefined;
  let looking: Promise<Hindrance> | undefined;
  const look = (): Promise<Hindrance> =>
    (looking ??= lookNow().finally(() => {
      looking = undefined;
    }));
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== '/health') {
      response.writeHead(404).end();
      return;
    }
    void look().then((reason) => {
      response.writeHead(reason === undefined ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reason === undefined ? { status: 'ok' } : { status: 'takes no work', reason }));
    });
  });
  const { HEALTH_PORT: port, METRICS_HOST: host } = config;
  return listenBeside(server, port, host).catch((error: unknown) => {
    throw listenFault(error, 'HEALTH_PORT', host, port);
  });
}
