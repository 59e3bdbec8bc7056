import { RATES, type LimitName, type Limits, type Rate } from '../../pure/traffic-rules.ts';
import type { ConnectionBudget } from '../transport/connection-budget.ts';
import { OwnerTurns } from './owner-turns.ts';
import { PerSecond } from './per-second.ts';

/** Units of one loan. */
export interface Lent {
  atMs: number;
  left: number;
  /** By the clock of this process. */
  untilMs: number;
}

/** The first rate of a rule that is lent as units. */
export const unitRateOf = (limits: Limits): Rate | undefined =>
  RATES.find((rate) => rate !== 'perSecond' && limits[rate] !== undefined);

/** What a worker knows of one rule. */
export class Entry {
  readonly key: string;
  limits: Limits;
  /** The first rate that is lent as units. */
  unitRate: Rate | undefined;
  lent: Lent[] = [];
  /** The times of the loans whose units were used after their end, because messages waited for a connection. */
  late: number[] = [];
  perSecond = 0;
  connections = 0;
  /** When the lease of both began, by the clock of the database. */
  leaseMs: number | undefined;
  /** When it ends. */
  sharesUntilMs = -Infinity;
  /** What is used of the rate per second. */
  readonly used = new PerSecond();
  /** The connections of pools, where a rule limits them. */
  open: ConnectionBudget | undefined;
  /** Messages that may be in flight for each connection. */
  readonly perConnection: number;
  inFlight = 0;
  /** Emails that were announced and have not gone, and until when they are expected. */
  expected = 0;
  expectedUntilMs = -Infinity;
  /** Other emails that asked since the last request, and when that was. */
  asked = 0;
  /** Messages that ended since then, and how many did in a second before. */
  ended = 0;
  endedPerSecond = 0;
  requestedMs: number;
  /** Whose mail goes next when there is room. */
  readonly turns = new OwnerTurns();
  /** What the store said is used up. */
  short: { limit: LimitName; untilMs: number; because?: string | undefined } | undefined;
  isAnswered = false;
  /** When an exchange looks at it again that does not have to. */
  lookMs = 0;
  /** Whether another one takes its place when its rule is used again. */
  isForgotten = false;

  constructor(key: string, limits: Limits, perConnection: number, nowMs: number) {
    this.key = key;
    this.limits = limits;
    this.unitRate = unitRateOf(limits);
    this.perConnection = perConnection;
    this.requestedMs = nowMs;
  }

  /** Wants nothing more, and gives back what is not used. */
  end(): void {
    Object.assign(this, { asked: 0, expected: 0, isAnswered: true });
    for (const lent of this.lent) lent.untilMs = -Infinity;
  }
}
