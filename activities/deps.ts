import type { Client } from '@temporalio/client';
import type { OpenDeliveries } from '../shared/dispatch/open-deliveries.ts';
import type { Orm } from '../shared/domain/schema/orm.ts';
import type { Config } from '../shared/platform/config.ts';
import type { LinkSigner } from '../shared/platform/links.ts';
import type { DeliveryMetrics } from '../shared/platform/metrics/delivery-metrics.ts';
import type { Logger } from '../shared/platform/logger.ts';
import type { SmtpPool } from '../shared/platform/smtp/smtp-pool.ts';

/** The dependencies of activities. */
export interface ActivityDeps {
  config: Config;
  orm: Orm;
  logger: Logger;
  smtp: SmtpPool;
  links: LinkSigner;
  temporal: Client;
  /** For figures that operators watch. */
  metrics: DeliveryMetrics;
  /** How often a long activity sends a heartbeat, in milliseconds; well below its heartbeat timeout. */
  heartbeatMs: number;
  /** Tells the dispatcher of this process that commits may have left something in the outbox. Others find it later. */
  wakeDispatcher: (withinMs?: number) => void;
  /** Where the dispatcher of this process finds the deliveries that its emails may join. */
  openDeliveries: OpenDeliveries;
}
