import type { SmtpUrgency } from './message-queue.ts';
import { QueueTrial } from './queue-trial.ts';
import type { PoolServer, ServerHealth } from './server-health.ts';

/** The part of the connections that the less urgent kinds leave to the more urgent ones. */
const SHARE = 1 / 4;

/** Connections that a kind may have of `capacity`; at least one, and all but one of several at most. */
function limitOf(urgency: SmtpUrgency, capacity: number): number {
  if (urgency === 'transactional' || capacity < 2) return capacity;
  const share = Math.max(1, Math.floor(capacity * SHARE));
  return capacity - (urgency === 'campaign' ? share : Math.ceil(share / 2));
}

interface Carried {
  /** Connections with messages on them. */
  all: number;
  /** Connections with messages of campaigns on them. */
  campaign: number;
  /** Connections with messages of campaigns or automations on them. */
  lesser: number;
}

/**
 * Shares the connections out, so that a message finds one at once however many less urgent ones wait: campaigns leave a
 * quarter free, automations half of that. It holds over all servers and for each: where a server grants fewer connections
 * than we would have, the quarter is one of those. Campaigns get fewer where more does not make a server faster, see
 * {@link QueueTrial}.
 */
export class ConnectionShare {
  readonly #connectionsMax: number;
  readonly #health: ServerHealth;
  readonly #carried = new Map<PoolServer, Carried>();
  readonly #total: Carried = { all: 0, campaign: 0, lesser: 0 };
  readonly #trials = new Map<PoolServer, QueueTrial>();

  constructor(connectionsMax: number, health: ServerHealth) {
    this.#connectionsMax = connectionsMax;
    this.#health = health;
    for (const server of health.servers) {
      this.#carried.set(server, { all: 0, campaign: 0, lesser: 0 });
      this.#trials.set(server, new QueueTrial());
    }
  }

  /** Notes what a connection carries from now on instead of what it carried before. */
  changed(server: PoolServer, before: SmtpUrgency | undefined, after: SmtpUrgency | undefined): void {
    if (before === after) return;
    for (const carried of [this.#total, this.#carriedBy(server)]) {
      count(carried, before, -1);
      count(carried, after, 1);
    }
  }

  /** A server has decided a message of a campaign, so long after the one before on that connection. */
  decided(server: PoolServer, tookMs: number, nowMs: number): void {
    this.#trials.get(server)?.decided(tookMs, this.#carriedBy(server).campaign, nowMs);
  }

  /** Whether more connections to a server carry messages of campaigns than should. */
  isCrowded(server: PoolServer): boolean {
    return this.#carriedBy(server).campaign > this.#campaignLimit(server);
  }

  /** Whether a connection that carries `own` just now may carry a message of a kind next. */
  mayCarry(server: PoolServer, urgency: SmtpUrgency, own: SmtpUrgency | undefined): boolean {
    if (urgency === 'transactional') return true;
    const others = this.#carriedBy(server).campaign - (own === 'campaign' ? 1 : 0);
    if (urgency === 'campaign' && others >= this.#campaignLimit(server)) return false;
    const room = this.#health.isUp(server) ? this.#connectionsMax - this.#health.connections : 0;
    return (
      isWithin(this.#carriedBy(server), urgency, own, server.connections + room) &&
      isWithin(this.#total, urgency, own, this.#connectionsMax)
    );
  }

  /** How many connections more than it has now a kind may have. */
  room(urgency: SmtpUrgency): number {
    const max = this.#connectionsMax;
    const { all, campaign, lesser } = this.#total;
    if (urgency === 'transactional') return max - all;
    const roomOfLesser = limitOf('automation', max) - lesser;
    if (urgency === 'automation') return roomOfLesser;
    const roomAtServers = this.#health.servers.reduce(
      (sum, server) => sum + Math.max(0, this.#campaignLimit(server) - this.#carriedBy(server).campaign),
      0,
    );
    return Math.min(roomOfLesser, limitOf('campaign', max) - campaign, roomAtServers);
  }

  #campaignLimit(server: PoolServer): number {
    return this.#trials.get(server)?.limit ?? Infinity;
  }

  #carriedBy(server: PoolServer): Carried {
    return this.#carried.get(server) ?? this.#total;
  }
}

function count(carried: Carried, urgency: SmtpUrgency | undefined, by: number): void {
  if (urgency !== undefined) carried.all += by;
  if (urgency === 'campaign') carried.campaign += by;
  if (urgency === 'campaign' || urgency === 'automation') carried.lesser += by;
}

function isWithin(carried: Carried, urgency: SmtpUrgency, own: SmtpUrgency | undefined, capacity: number): boolean {
  const isLesser = own === 'campaign' || own === 'automation';
  if (carried.lesser - (isLesser ? 1 : 0) >= limitOf('automation', capacity)) return false;
  return urgency !== 'campaign' || carried.campaign - (own === 'campaign' ? 1 : 0) < limitOf('campaign', capacity);
}
