import type { CarriedMessages } from './carried-messages.ts';
import type { BudgetConnection } from './connection-budget.ts';
import type { Conversation } from './conversation.ts';
import type { QueuedMessage, SmtpUrgency } from './message-queue.ts';
import type { PoolServer } from './server-health.ts';

/** A connection of a pool. */
export interface Session extends BudgetConnection {
  readonly conversation: Conversation<QueuedMessage>;
  readonly server: PoolServer;
  /** The urgency of the messages on it; undefined while it is idle. */
  carries: SmtpUrgency | undefined;
  readonly carried: CarriedMessages;
}
