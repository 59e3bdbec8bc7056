import { URGENCIES, type MessageQueue, type SmtpUrgency } from './message-queue.ts';
import type { PoolServer, ServerHealth } from './server-health.ts';
import type { Session } from './session.ts';

/** The share of the connections that campaigns leave to more urgent messages. */
const RESERVED_SHARE = 1 / 4;

/**
 * The number of `capacity` connections that messages of an urgency may use. At least one; for less urgent messages at
 * most all but one.
 */
function limitOf(urgency: SmtpUrgency, capacity: number): number {
  if (urgency === 'transactional' || capacity < 2) return capacity;
  const share = Math.max(1, Math.floor(capacity * RESERVED_SHARE));
  return capacity - (urgency === 'campaign' ? share : Math.ceil(share / 2));
}

interface Carried {
  /** Connections with messages on them. */
  all: number;
  /** Connections with messages of campaigns on them. */
  campaign: number;
  /** Connections with messages of campaigns or automations on them. */
  lessUrgent: number;
}

/**
 * Divides the connections, so that an urgent message finds one at once however many less urgent ones wait: campaigns
 * leave a quarter free, automations half of that. This holds over all servers together and for each server: where a
 * server grants fewer connections than configured, the quarter is taken from those.
 */
export class ConnectionShare {
  readonly #connectionsMax: number;
  readonly #health: ServerHealth;
  readonly #carried = new Map<PoolServer, Carried>();
  readonly #total: Carried = { all: 0, campaign: 0, lessUrgent: 0 };

  constructor(connectionsMax: number, health: ServerHealth) {
    this.#connectionsMax = connectionsMax;
    this.#health = health;
    for (const server of health.servers) this.#carried.set(server, { all: 0, campaign: 0, lessUrgent: 0 });
  }

  /** Notes that a connection carries messages of another urgency now. */
  changed(server: PoolServer, before: SmtpUrgency | undefined, after: SmtpUrgency | undefined): void {
    if (before === after) return;
    for (const carried of [this.#total, this.#carriedBy(server)]) {
      count(carried, before, -1);
      count(carried, after, 1);
    }
  }

  /** Whether a connection that carries messages of urgency `own` may carry one of `urgency` next. */
  mayCarry(server: PoolServer, urgency: SmtpUrgency, own: SmtpUrgency | undefined): boolean {
    if (urgency === 'transactional') return true;
    const free = this.#health.isUp(server) ? this.#connectionsMax - this.#health.connections : 0;
    return (
      isWithin(this.#carriedBy(server), urgency, own, server.connections + free) &&
      isWithin(this.#total, urgency, own, this.#connectionsMax)
    );
  }

  /** The highest urgency of the waiting messages that a connection may carry next. */
  nextUrgency(queue: MessageQueue, { server, carries }: Pick<Session, 'server' | 'carries'>): SmtpUrgency | undefined {
    const { label } = server.options;
    return URGENCIES.find((urgency) => queue.waiting(urgency, label) > 0 && this.mayCarry(server, urgency, carries));
  }

  /**
   * Whether a connection to a server is needed at another one: messages wait that avoid this server, and the other one
   * has no connection.
   */
  isNeededElsewhere(queue: MessageQueue, { options: { label } }: PoolServer, connectionsMax: number): boolean {
    if (this.#health.connections < connectionsMax || !queue.isAvoided(label)) return false;
    return this.#health.servers.some(
      (other) => other.connections === 0 && this.#health.isUp(other) && queue.isWaitingFor(other.options.label),
    );
  }

  /** How many more connections may carry messages of an urgency. */
  freeConnections(urgency: SmtpUrgency): number {
    const max = this.#connectionsMax;
    const { all, campaign, lessUrgent } = this.#total;
    if (urgency === 'transactional') return max - all;
    const freeOfLessUrgent = limitOf('automation', max) - lessUrgent;
    if (urgency === 'automation') return freeOfLessUrgent;
    return Math.min(freeOfLessUrgent, limitOf('campaign', max) - campaign);
  }

  /** The number of connections to open for the waiting messages, beyond those being opened. */
  wanted(queue: MessageQueue): number {
    const useful = (urgency: SmtpUrgency) => Math.min(queue.waiting(urgency), this.freeConnections(urgency));
    const lessUrgent = Math.min(useful('automation') + useful('campaign'), this.freeConnections('automation'));
    return queue.retries + queue.waiting('transactional') + lessUrgent - this.#health.openings;
  }

  #carriedBy(server: PoolServer): Carried {
    return this.#carried.get(server) ?? this.#total;
  }
}

function count(carried: Carried, urgency: SmtpUrgency | undefined, by: number): void {
  if (urgency !== undefined) carried.all += by;
  if (urgency === 'campaign') carried.campaign += by;
  if (urgency === 'campaign' || urgency === 'automation') carried.lessUrgent += by;
}

function isWithin(carried: Carried, urgency: SmtpUrgency, own: SmtpUrgency | undefined, capacity: number): boolean {
  const isLessUrgent = own === 'campaign' || own === 'automation';
  if (carried.lessUrgent - (isLessUrgent ? 1 : 0) >= limitOf('automation', capacity)) return false;
  return urgency !== 'campaign' || carried.campaign - (own === 'campaign' ? 1 : 0) < limitOf('campaign', capacity);
}
