import type { Client } from '@temporalio/client';
import type { OpenDeliveries } from '../shared/dispatch/open-deliveries.ts';
import type { Orm } from '../shared/domain/schema/orm.ts';
import type { Config } from '../shared/platform/config.ts';
import type { LinkSigner } from '../shared/sending/compose/links.ts';
import type { DeliveryMetrics } from '../shared/sending/delivery-metrics.ts';
import type { Logger } from '../shared/platform/logger.ts';
import type { SmtpPool } from '../shared/sending/transport/smtp-pool.ts';

/** The dependencies of activities. */
export interface ActivityDeps {
  config: Config;
  orm: Orm;
  logger: Logger;
  smtp: SmtpPool;
  links: LinkSigner;
  temporal: Client;
  /** Counts the outcomes of emails. */
  metrics: DeliveryMetrics;
  /** How often a long activity sends a heartbeat, in milliseconds; well below its heartbeat timeout. */
  heartbeatMs: number;
  /**
   * Tells the dispatcher of this process that a commit may have added outbox rows. Other dispatchers find them later.
   */
  wakeDispatcher: (withinMs?: number) => void;
  /** The deliveries in which the dispatcher of this process can place more emails. */
  openDeliveries: OpenDeliveries;
}
