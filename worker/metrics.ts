import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createDatabaseGauges } from '../shared/domain/lifecycle/database-gauges.ts';
import { readFigures } from '../shared/domain/lifecycle/figures.ts';
import { poolUsageOf, type Orm } from '../shared/domain/schema/orm.ts';
import type { Config } from '../shared/platform/config.ts';
import type { Logger } from '../shared/platform/logger.ts';
import { createDeliveryMetrics, createSmtpGauges, type DeliveryMetrics } from '../shared/sending/delivery-metrics.ts';
import { startMetricsServer } from '../shared/platform/metrics/metrics-server.ts';
import type { SideServer } from '../shared/platform/side-server.ts';
import { createProcessMetrics } from '../shared/platform/metrics/process-metrics.ts';
import type { SmtpPool } from '../shared/sending/transport/smtp-pool.ts';

const SDK_ANSWER_MS = 2_000;
const LOOPBACK = '127.0.0.1';

export interface WorkerMetrics {
  delivery: DeliveryMetrics;
  /** The address at which the Temporal SDK exposes its own metrics; undefined without METRICS_PORT. */
  sdkAddress: string | undefined;
  /** Serves all metrics on METRICS_PORT. */
  serve: (orm: Orm, smtp: SmtpPool) => Promise<SideServer | undefined>;
}

async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `${LOOPBACK}:${port}`;
}

/** The metrics of the SDK; empty while it does not answer. */
async function sdkText(address: string): Promise<string> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(SDK_ANSWER_MS) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}

/** Creates the metrics of a worker: those of Everpost, of Node.js and of the Temporal SDK, served together. */
export async function createWorkerMetrics(config: Config, logger: Logger): Promise<WorkerMetrics> {
  const isAsked = config.METRICS_PORT !== undefined;
  const metrics = createProcessMetrics({ withNode: isAsked });
  const sdkAddress = isAsked ? await freeAddress() : undefined;
  return {
    delivery: createDeliveryMetrics(metrics.registry),
    sdkAddress,
    async serve(orm, smtp) {
      if (sdkAddress === undefined) return undefined;
      const read = () => readFigures(orm.em.fork());
      const poolUsage = () => poolUsageOf(orm);
      metrics.beforeAnswer(createDatabaseGauges(metrics.registry, { read, poolUsage }));
      metrics.beforeAnswer(createSmtpGauges(metrics.registry, smtp));
      return startMetricsServer(config, logger, async () => {
        const texts = await Promise.all([metrics.text(), sdkText(sdkAddress)]);
        return texts.join('');
      });
    },
  };
}
