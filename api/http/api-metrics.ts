import type { RequestHandler } from 'express';
import { createDatabaseGauges } from '../../shared/domain/lifecycle/database-gauges.ts';
import { readFigures } from '../../shared/domain/lifecycle/figures.ts';
import { poolUsageOf, type Orm } from '../../shared/domain/schema/orm.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { countRequests } from '../../shared/platform/metrics/http-metrics.ts';
import { startMetricsServer } from '../../shared/platform/metrics/metrics-server.ts';
import type { SideServer } from '../../shared/platform/side-server.ts';
import { createProcessMetrics } from '../../shared/platform/metrics/process-metrics.ts';

export interface ApiMetrics {
  /** Counts requests; undefined without METRICS_PORT. */
  observe: RequestHandler | undefined;
  /** Answers on METRICS_PORT, even while the database is unavailable; undefined without METRICS_PORT. */
  server: SideServer | undefined;
  /** Adds the figures that are read from the database. */
  watch: (orm: Orm) => void;
}

/** Creates the metrics of an API process. */
export async function createApiMetrics(config: Config, logger: Logger): Promise<ApiMetrics> {
  const isOn = config.METRICS_PORT !== undefined;
  const metrics = createProcessMetrics({ withNode: isOn });
  return {
    observe: isOn ? countRequests(metrics.registry) : undefined,
    server: await startMetricsServer(config, logger, metrics.text),
    watch(orm) {
      const read = () => readFigures(orm.em.fork());
      const poolUsage = () => poolUsageOf(orm);
      metrics.beforeAnswer(createDatabaseGauges(metrics.registry, { read, poolUsage }));
    },
  };
}
