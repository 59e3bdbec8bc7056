import { RATE_MS, RATES, type LimitName, type Limits } from '../../pure/traffic-rules.ts';
import { LEASE_MS, type AllowanceRequest, type Lease } from './allowance.ts';

/** Why an email may not go now, and when to ask again. */
export interface Shortage {
  key: string;
  limit: LimitName;
  waitMs: number;
}

interface Lent {
  atMs: number;
  left: number;
  /** By the clock of this process. */
  untilMs: number;
}

/** What this worker knows of one rule. */
interface Entry {
  limits: Limits;
  lent: Lent[];
  perSecond: number;
  connections: number;
  /** When the lease of both ends. */
  sharesUntilMs: number;
  /** When the latest emails went, at most one second's worth. */
  sentMs: number[];
  inFlight: number;
  /** Emails that asked since the last request, and when that was. */
  asked: number;
  denied: number;
  /** Messages that ended since then, and how many did in a second before. */
  ended: number;
  endedPerSecond: number;
  /** Called when a message ends. */
  waiters: (() => void)[];
  requestedMs: number;
  /** What the store said is used up. */
  short: { limit: LimitName; untilMs: number } | undefined;
  isAnswered: boolean;
  /** The next exchange must ask for it. */
  isWanted: boolean;
}

/** A second of a rate is this much longer, because messages reach the provider a little after their permit. */
const SECOND_MS = RATE_MS.perSecond + 50;
/** How soon what is used up is asked for again before the next exchange of all. */
const HUNGRY_MS = 200;
/** The longest wait for a connection to be free, which it is when a message has been sent. */
const BUSY_MS = 300;
/** Units that are asked for beyond what was used lately. */
const SPARE_UNITS = 5;
/** What was lent is renewed after this time. Exchanges for other keys may come sooner. */
const RENEWED_MS = 900;
/** Units last for this time of the latest speed. */
const UNITS_SECONDS = 1.5;

/** What this process may use of the rules that all workers share. The keys name a rule's subject and its provider. */
export class Allowances {
  readonly #workerId: string;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(workerId: string, now: () => number) {
    this.#workerId = workerId;
    this.#now = now;
  }

  /** Notes that an email wants to go. @returns what keeps it from going now; undefined when nothing does */
  ask(key: string, limits: Limits): Shortage | undefined {
    const entry = this.#entry(key, limits);
    entry.asked += 1;
    const shortage = this.#shortage(entry);
    if (!shortage) return undefined;
    entry.denied += 1;
    return { key, ...shortage };
  }

  /** Uses one unit, after `ask` has answered that nothing is in the way. */
  take(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    const lent = entry.lent.find(({ left, untilMs }) => left > 0 && untilMs > this.#now());
    if (lent) lent.left -= 1;
    if (entry.limits.perSecond !== undefined) {
      entry.sentMs.push(this.#now());
      if (entry.sentMs.length > entry.limits.perSecond) entry.sentMs.shift();
    }
    entry.inFlight += 1;
  }

  /** Notes that a message has been sent, or was not. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.inFlight -= 1;
    entry.ended += 1;
    for (const wake of entry.waiters.splice(0)) wake();
  }

  /** Resolves when a message of the key has ended. */
  ended(key: string): Promise<void> {
    return new Promise((resolve) => this.#entries.get(key)?.waiters.push(resolve));
  }

  /** How many messages of a key ended in a second lately. */
  endedPerSecond(key: string): number {
    return this.#entries.get(key)?.endedPerSecond ?? 0;
  }

  /** Whether an exchange now may help: the store may have more than was lent. */
  isHungry(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    const isExhausted = entry.short && entry.short.untilMs > this.#now();
    const isWanted = !entry.isAnswered || (!isExhausted && this.#now() - entry.requestedMs >= HUNGRY_MS);
    entry.isWanted ||= isWanted;
    return isWanted;
  }

  /** What to ask the store for. */
  takeRequests(): Map<string, AllowanceRequest> {
    const nowMs = this.#now();
    const requests = new Map<string, AllowanceRequest>();
    for (const [key, entry] of this.#entries) {
      if (entry.isAnswered && !entry.isWanted && nowMs - entry.requestedMs < RENEWED_MS) continue;
      const ended = entry.lent.filter(({ untilMs }) => untilMs <= nowMs);
      entry.lent = entry.lent.filter(({ untilMs }) => untilMs > nowMs);
      const isIdle = entry.asked === 0 && entry.inFlight === 0;
      const hasShare = entry.sharesUntilMs > nowMs && (entry.perSecond > 0 || entry.connections > 0);
      if (isIdle && ended.length === 0 && !hasShare) {
        if (entry.lent.length === 0) this.#entries.delete(key);
        continue;
      }
      // Who has no mail gives up its share at once.
      if (isIdle) entry.sharesUntilMs = -Infinity;
      const seconds = Math.max(HUNGRY_MS, nowMs - entry.requestedMs) / 1_000;
      const perSecond = Math.ceil(entry.asked / seconds);
      const left = entry.lent.reduce((sum, lent) => sum + lent.left, 0);
      const wants = entry.asked === 0 ? 0 : Math.ceil(perSecond * UNITS_SECONDS) + SPARE_UNITS;
      requests.set(key, {
        ...{ workerId: this.#workerId, limits: entry.limits, inFlight: entry.inFlight },
        wants: Math.max(0, wants - left),
        wantsPerSecond: entry.denied > 0 ? (entry.limits.perSecond ?? 0) : entry.asked === 0 ? 0 : 2 * perSecond + 1,
        wantsConnections: entry.denied > 0 ? (entry.limits.connections ?? 0) : entry.inFlight + entry.asked,
        unused: ended.filter(({ left: count }) => count > 0).map(({ atMs, left: count }) => ({ atMs, count })),
      });
      const endedPerSecond = entry.ended / seconds;
      Object.assign(entry, { asked: 0, denied: 0, ended: 0, endedPerSecond, requestedMs: nowMs, isWanted: false });
    }
    return requests;
  }

  /**
   * Notes what the store lent.
   * @param askedMs when it was asked, by the clock of this process: the lease cannot have begun before
   */
  lent(leases: ReadonlyMap<string, Lease>, askedMs: number): void {
    for (const [key, lease] of leases) {
      const entry = this.#entries.get(key);
      if (!entry) continue;
      const { atMs, units, perSecond, connections, short } = lease;
      const untilMs = askedMs + LEASE_MS;
      if (units > 0) entry.lent.push({ atMs, left: units, untilMs });
      const shortMs = this.#now() + (short ? short.nextMs - atMs : 0);
      Object.assign(entry, { perSecond, connections, sharesUntilMs: untilMs, isAnswered: true });
      entry.short = short && { limit: short.limit, untilMs: shortMs };
    }
  }

  /** Notes that requests did not reach the store: what was not used is given back by the next ones. */
  unsent(requests: ReadonlyMap<string, AllowanceRequest>): void {
    for (const [key, { unused }] of requests) {
      const ended = unused.map(({ atMs, count }) => ({ atMs, left: count, untilMs: -Infinity }));
      this.#entries.get(key)?.lent.push(...ended);
    }
  }

  #entry(key: string, limits: Limits): Entry {
    const known = this.#entries.get(key);
    if (known) {
      known.limits = limits;
      return known;
    }
    const entry: Entry = {
      ...{ limits, lent: [], perSecond: 0, connections: 0, sharesUntilMs: -Infinity, sentMs: [], inFlight: 0 },
      ...{
        asked: 0,
        denied: 0,
        ended: 0,
        endedPerSecond: 0,
        waiters: [],
        requestedMs: this.#now(),
        short: undefined,
        isAnswered: false,
        isWanted: false,
      },
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #shortage(entry: Entry): Omit<Shortage, 'key'> | undefined {
    const nowMs = this.#now();
    const { limits, lent, perSecond, connections, sharesUntilMs, sentMs, inFlight, short } = entry;
    const untilNext = (limit: LimitName): number =>
      short?.limit === limit && short.untilMs > nowMs ? short.untilMs - nowMs : HUNGRY_MS;
    const isShared = sharesUntilMs > nowMs;
    const long = RATES.find((rate) => rate !== 'perSecond' && limits[rate] !== undefined);
    if (long && !lent.some(({ left, untilMs }) => left > 0 && untilMs > nowMs)) {
      const limit = short && short.untilMs > nowMs && short.limit !== 'connections' ? short.limit : long;
      return { limit, waitMs: untilNext(limit) };
    }
    if (limits.perSecond !== undefined) {
      if (!isShared || perSecond < 1) return { limit: 'perSecond', waitMs: untilNext('perSecond') };
      const before = sentMs.at(-perSecond);
      if (sentMs.length >= perSecond && before !== undefined && before > nowMs - SECOND_MS) {
        return { limit: 'perSecond', waitMs: before + SECOND_MS - nowMs };
      }
    }
    if (limits.connections !== undefined && (!isShared || inFlight >= connections)) {
      return { limit: 'connections', waitMs: isShared && connections > 0 ? BUSY_MS : untilNext('connections') };
    }
    return undefined;
  }
}
