import type { Client } from '@temporalio/client';
import type { OpenDeliveries } from './emails/open-deliveries.ts';
import type { Orm } from '../shared/domain/schema/orm.ts';
import type { Config } from '../shared/platform/config.ts';
import type { LinkSigner } from '../shared/sending/compose/links.ts';
import type { DeliveryMetrics } from '../shared/sending/delivery-metrics.ts';
import type { Logger } from '../shared/platform/logger.ts';
import type { SlotsByUrgency } from '../shared/sending/sending-slots.ts';
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
  /** The deliveries under way in this process that more emails may join. */
  openDeliveries: OpenDeliveries;
  /** The slots of this process for activities that send. */
  slots: SlotsByUrgency;
}
