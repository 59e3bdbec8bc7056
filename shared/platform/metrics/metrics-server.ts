import { createServer } from 'node:http';
import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import { listenFault } from '../listen-fault.ts';
import { listenBeside, type SideServer } from '../side-server.ts';

/**
 * Answers `GET /metrics` on METRICS_PORT. Concurrent requests share one collection of the metrics.
 * @returns undefined without METRICS_PORT, or when another process of this machine has the port
 * @throws ConfigError when the port cannot be used for another reason
 */
export async function startMetricsServer(
  config: Pick<Config, 'METRICS_PORT' | 'METRICS_HOST'>,
  logger: Logger,
  textNow: () => Promise<string>,
): Promise<SideServer | undefined> {
  const { METRICS_PORT: port, METRICS_HOST: host } = config;
  if (port === undefined) return undefined;
  let collecting: Promise<string> | undefined;
  function collect(): Promise<string> {
    collecting ??= textNow().finally(() => {
      collecting = undefined;
    });
    return collecting;
  }
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    collect().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  try {
    return await listenBeside(server, port, host);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw listenFault(error, 'METRICS_PORT', host, port);
    logger.warn({ port }, 'another process answers for metrics on this port');
    return undefined;
  }
}
