import { isSameLimits, RATE_MS, RATES, type LimitName, type Limits } from '../../pure/traffic-rules.ts';
import { ConnectionBudget } from '../transport/connection-budget.ts';
import { Entry, unitRateOf, type Lent } from './allowance-entry.ts';
import { TURN_MS } from './owner-turns.ts';
import { LEASE_MS, LITTLE, ON_ITS_WAY_MS, type AllowanceRequest, type Lease } from './allowance.ts';

/** Why an email may not go now, and when to ask again. */
export interface Shortage {
  key: string;
  limit: LimitName;
  /** How much the limit is. */
  value?: number | undefined;
  waitMs: number;
  /** The words of a limit that has its own. */
  because?: string | undefined;
}

/** How soon what is used up is asked for again before the next exchange of all. */
const HUNGRY_MS = 200;
/** The longest wait for a connection to be free. Whoever waits hears when one is. */
const BUSY_MS = 300;
/** Units that are asked for beyond what was used lately. */
const SPARE_UNITS = 5;
/** What was lent is renewed after this time. Exchanges for other keys may come sooner. */
const RENEWED_MS = 900;
/** What was not used and is little is forgotten when nothing was asked for so long. */
const FORGOTTEN_MS = 600_000;
/** A share up to this part of its limit is not given up before its lease ends, because each change is a row. */
const SMALL_SHARE = 1 / 10;
/** Units last for this time of the latest speed. */
const UNITS_SECONDS = 1.5;

function expectedOf({ expected, expectedUntilMs }: Entry, nowMs: number): number {
  return expectedUntilMs > nowMs ? expected : 0;
}

/** The units of loans that do not end before a moment. */
function leftOf(lent: readonly Lent[], ms: number): number {
  return lent.reduce((sum, { left, untilMs }) => sum + (untilMs > ms ? left : 0), 0);
}

function hasLargeShare({ limits, perSecond, connections, sharesUntilMs }: Entry, nowMs: number): boolean {
  const isLarge = (share: number, limit = Infinity): boolean => share > limit * SMALL_SHARE;
  return sharesUntilMs > nowMs && (isLarge(perSecond, limits.perSecond) || isLarge(connections, limits.connections));
}

/** Since when a message is on its way to the wire, or on it; neither with both. */
export interface Since {
  takenMs?: number | undefined;
  begunMs?: number | undefined;
}

interface Watcher {
  owner: string;
  onFree: (key: string) => void;
}

/** What this process may use of the rules that all workers share. The keys name a rule's subject and its provider. */
export class Allowances {
  readonly #workerId: string;
  readonly #now: () => number;
  readonly #perConnectionOf: (key: string) => number;
  readonly #entries = new Map<string, Entry>();
  /** Those that the next exchange must ask for. */
  readonly #wanted = new Map<string, Entry>();
  readonly #watching = new Set<Watcher>();

  /** @param perConnectionOf how many messages of a key may be in flight for each connection */
  constructor(workerId: string, now: () => number, perConnectionOf: (key: string) => number = () => 1) {
    this.#workerId = workerId;
    this.#now = now;
    this.#perConnectionOf = perConnectionOf;
  }

  /** Calls a function with each key of which the mail of an owner may use more than before. @returns ends that */
  watch(owner: string, onFree: (key: string) => void): () => void {
    const watcher = { owner, onFree };
    this.#watching.add(watcher);
    return () => {
      this.#watching.delete(watcher);
      // Those that asked have gone, or are held.
      if (this.#watching.size === 0) for (const entry of this.#entries.values()) entry.asked = 0;
    };
  }

  /** What this process knows of a rule. */
  entry(key: string, limits: Limits): Entry {
    const known = this.#entries.get(key);
    if (known) {
      // What was used up may be free under another rule.
      if (known.limits !== limits && !isSameLimits(known.limits, limits))
        Object.assign(known, { limits, unitRate: unitRateOf(limits), short: undefined, isAnswered: false });
      return known;
    }
    const entry = new Entry(key, limits, this.#perConnectionOf(key), this.#now());
    this.#entries.set(key, entry);
    return entry;
  }

  /**
   * Notes that emails are about to ask, so that one exchange asks the store for all of them.
   * @param count may be a part of an email that has several ways to go
   * @returns whether the store must be asked, because what was lent does not suffice
   */
  expect(entry: Entry, count: number): boolean {
    const { key, limits } = entry;
    const nowMs = this.#now();
    const most = ((limits.perSecond ?? Infinity) * LEASE_MS) / RATE_MS.perSecond;
    entry.expected = Math.min(most, expectedOf(entry, nowMs) + count);
    entry.expectedUntilMs = nowMs + LEASE_MS;
    const isShort = entry.expected > this.#roomOf(entry, nowMs);
    if (isShort) this.#wanted.set(key, entry);
    return isShort;
  }

  /**
   * Notes that an email wants to go.
   * @param owner whose email it is: those whose mail waits have what is free in turns
   * @returns what keeps it from going now; undefined when nothing does
   */
  ask(entry: Entry, owner: string): Shortage | undefined {
    const { key, limits } = entry;
    const nowMs = this.#now();
    if (expectedOf(entry, nowMs) === 0) entry.asked += 1;
    const shortage = this.#shortage(entry, nowMs) ?? this.#othersTurn(entry, owner, nowMs);
    if (!shortage) return undefined;
    entry.turns.wait(owner);
    return { key, value: limits[shortage.limit], ...shortage };
  }

  #othersTurn({ key, limits, turns }: Entry, owner: string, nowMs: number): Omit<Shortage, 'key'> | undefined {
    if (turns.isTurnOf(owner, nowMs, (next) => this.#noteFree(key, next))) return undefined;
    const [limit = 'perSecond'] = Object.keys(limits) as LimitName[];
    return { limit, waitMs: TURN_MS };
  }

  /** Notes that an email that was announced does not go now after all. */
  held(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.expected = Math.max(0, entry.expected - 1);
  }

  /**
   * Uses one unit, after `ask` has answered that nothing is in the way.
   * @param nowMs tells this email from others
   * @returns the loan of the unit, for `begun`
   */
  take(entry: Entry, nowMs = this.#now()): Lent | undefined {
    entry.expected = Math.max(0, expectedOf(entry, nowMs) - 1);
    const lent = entry.lent.find(({ left, untilMs }) => left > 0 && untilMs > nowMs);
    if (lent) lent.left -= 1;
    if (entry.limits.perSecond !== undefined) entry.used.take(nowMs);
    entry.inFlight += 1;
    entry.turns.used();
    return lent;
  }

  /**
   * Notes that a message goes on the wire now.
   * @param lent the loans of its units; one that waited until its loan had ended counts from now on
   * @returns the time, for `done`
   */
  begun(entries: readonly Entry[], { takenMs, begunMs }: Since, lent: readonly (Lent | undefined)[]): number {
    const nowMs = this.#now();
    for (const [index, { limits, late, used }] of entries.entries()) {
      const loan = lent[index];
      if (loan && takenMs !== undefined && loan.untilMs <= nowMs) late.push(loan.atMs);
      if (limits.perSecond === undefined) continue;
      if (takenMs !== undefined) used.leave(takenMs);
      if (begunMs !== undefined) used.end(begunMs, nowMs);
      used.begin(nowMs, limits.perSecond);
    }
    return nowMs;
  }

  /** Notes that nothing more becomes of a message. One that has not begun uses nothing. */
  done(entry: Entry, { takenMs, begunMs }: Since): void {
    if (takenMs !== undefined) entry.used.leave(takenMs);
    if (begunMs !== undefined) entry.used.end(begunMs, this.#now());
    const lent = takenMs === undefined ? undefined : entry.lent.findLast(({ untilMs }) => untilMs > this.#now());
    if (lent) lent.left += 1;
    entry.inFlight -= 1;
    entry.ended += 1;
    if (entry.limits.connections !== undefined) this.#noteFree(entry.key);
  }

  /** What pools may open for the messages of a key; undefined where no rule limits it. */
  connectionsOf(entry: Entry): ConnectionBudget | undefined {
    if (entry.limits.connections === undefined) return undefined;
    entry.open ??= new ConnectionBudget(() => {
      return Math.max(this.#needed(entry), entry.sharesUntilMs > this.#now() ? entry.connections : 0);
    });
    return entry.open;
  }

  /** How many messages of a key ended in a second lately. */
  endedPerSecond(key: string): number {
    return this.#entries.get(key)?.endedPerSecond ?? 0;
  }

  /** Whether an exchange now may help: the store may have more than was lent. */
  isHungry(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    const { short } = entry;
    const askedMsAgo = this.#now() - entry.requestedMs;
    // A command may change what has words of its own.
    const isExhausted = short && short.untilMs > this.#now() && (!short.because || askedMsAgo < RENEWED_MS);
    const isWanted = !entry.isAnswered || (!isExhausted && askedMsAgo >= HUNGRY_MS);
    if (isWanted) this.#wanted.set(key, entry);
    return isWanted;
  }

  /**
   * What to ask the store for.
   * @param which `wanted` is what emails wait for, and `last` returns all that was lent and is not used
   */
  takeRequests(which: 'wanted' | 'all' | 'last' = 'all'): Map<string, AllowanceRequest> {
    const nowMs = this.#now();
    const requests = new Map<string, AllowanceRequest>();
    const isLast = which === 'last';
    for (const [key, entry] of which === 'wanted' ? this.#wanted : this.#entries) {
      entry.open?.adjust();
      const isWanted = !isLast && this.#wanted.has(key);
      if (isLast) entry.end();
      else if (entry.isAnswered && !isWanted && nowMs < entry.lookMs) continue;
      const request = this.#requestOf(key, entry, nowMs, isWanted, isLast);
      if (request) requests.set(key, request);
    }
    this.#wanted.clear();
    return requests;
  }

  #requestOf(
    key: string,
    entry: Entry,
    nowMs: number,
    isWanted: boolean,
    isLast: boolean,
  ): AllowanceRequest | undefined {
    entry.lookMs = nowMs + RENEWED_MS;
    const ended = entry.lent.filter(({ left, untilMs }) => left > 0 && untilMs <= nowMs);
    const { late } = entry;
    const isIdle = entry.asked + expectedOf(entry, nowMs) + entry.inFlight + late.length === 0 && !isWanted;
    const isOver = entry.sharesUntilMs <= nowMs && (ended.length === 0 || nowMs - entry.requestedMs > FORGOTTEN_MS);
    const isKept = isLast && (ended.length > 0 || entry.sharesUntilMs > nowMs);
    if (isIdle && !isKept && !this.#isWorthReturning(entry, ended) && !hasLargeShare(entry, nowMs)) {
      if (entry.lent.length === ended.length && isOver && this.#openOf(entry) === 0)
        entry.isForgotten = this.#entries.delete(key);
      return undefined;
    }
    entry.lent = entry.lent.filter(({ untilMs }) => untilMs > nowMs);
    // Who has no mail gives up its share at once.
    if (isIdle) entry.sharesUntilMs = -Infinity;
    const seconds = Math.max(HUNGRY_MS, nowMs - entry.requestedMs) / 1_000;
    const perSecond = Math.ceil(entry.asked / seconds);
    const request = {
      workerId: this.#workerId,
      limits: entry.limits,
      inFlight: this.#openOf(entry),
      ...this.#wantsOf(entry, perSecond, nowMs),
      unused: ended.map(({ atMs, left: count }) => ({ atMs, count })),
      late,
      ...(entry.used.lately(nowMs) <= entry.perSecond && { keepsToMs: entry.leaseMs }),
    };
    const endedPerSecond = entry.ended / seconds;
    Object.assign(entry, { asked: 0, ended: 0, late: [], endedPerSecond, requestedMs: nowMs });
    // Others wait for this answer, because a command may have changed what has words of its own.
    if (entry.short?.because !== undefined) entry.isAnswered = false;
    return request;
  }

  /**
   * Notes what the store lent.
   * @param askedMs when it was asked, by the clock of this process: the lease cannot have begun before
   */
  lent(leases: ReadonlyMap<string, Lease>, askedMs: number): void {
    for (const [key, lease] of leases) {
      const entry = this.#entries.get(key);
      if (!entry) continue;
      const { atMs, ms, units, perSecond, connections, short } = lease;
      const untilMs = askedMs + ms;
      if (units > 0) entry.lent.push({ atMs, left: units, untilMs });
      const renewedMs = Math.max(entry.lookMs, untilMs - LEASE_MS);
      entry.lookMs = this.#isWorthReturning(entry, entry.lent) ? Math.min(renewedMs, askedMs + LEASE_MS) : renewedMs;
      const shortMs = this.#now() + (short ? short.nextMs - atMs : 0);
      Object.assign(entry, { perSecond, connections, leaseMs: atMs, sharesUntilMs: untilMs, isAnswered: true });
      entry.open?.adjust();
      entry.short = short && { limit: short.limit, untilMs: shortMs, because: short.because };
      this.#noteFree(key);
    }
  }

  /** Notes that requests did not reach the store: what was not used is given back by the next ones. */
  unsent(requests: ReadonlyMap<string, AllowanceRequest>): void {
    for (const [key, { unused, late }] of requests) {
      // The store may have lent others what a long lease had.
      const entry = this.#entries.get(key);
      if (entry) {
        entry.sharesUntilMs = Math.min(entry.sharesUntilMs, this.#now() + LEASE_MS);
        entry.lookMs = 0;
        entry.late.push(...late);
      }
      entry?.lent.push(...unused.map(({ atMs, count }) => ({ atMs, left: count, untilMs: -Infinity })));
    }
  }

  /** Tells everybody, or only one owner, that more of a key may be used. */
  #noteFree(key: string, only?: string): void {
    for (const { owner, onFree } of this.#watching) if (only === undefined || owner === only) onFree(key);
  }

  /** How many emails may go on what was lent; Infinity while the store has said that there is no more. */
  #roomOf(entry: Entry, nowMs: number): number {
    const { limits, unitRate, lent, perSecond, connections, perConnection, sharesUntilMs, inFlight, short } = entry;
    if (short && short.untilMs > nowMs) return Infinity;
    // A lease that ends soon may end before they go.
    const soonMs = nowMs + RENEWED_MS;
    const isLent = sharesUntilMs > soonMs;
    let room = Infinity;
    if (unitRate) room = leftOf(lent, soonMs);
    if (limits.perSecond !== undefined && !(isLent && perSecond >= limits.perSecond)) {
      room = Math.min(room, isLent ? perSecond - entry.used.lately(nowMs) : 0);
    }
    if (limits.connections !== undefined && !(isLent && connections >= limits.connections)) {
      room = Math.min(room, isLent ? connections * perConnection - inFlight : 0);
    }
    return room;
  }

  /** Whether an email that was taken then, and has not begun, no more counts for the rate per second. */
  isStale({ limits }: Entry, takenMs: number): boolean {
    return limits.perSecond !== undefined && takenMs <= this.#now() - ON_ITS_WAY_MS;
  }

  /** How many connections a number of messages needs. */
  #needed({ inFlight, perConnection }: Entry, others = 0): number {
    return Math.ceil((inFlight + others) / perConnection);
  }

  /** How many connections messages use, or keep that are idle. */
  #openOf(entry: Entry): number {
    return Math.max(this.#needed(entry), entry.open?.used ?? 0);
  }

  /** Whether a request is worth it only to return what was not used. Little is returned with the next one. */
  #isWorthReturning({ limits }: Entry, unused: readonly Lent[]): boolean {
    const least = Math.min(...RATES.map((rate) => (rate === 'perSecond' ? Infinity : (limits[rate] ?? Infinity))));
    return unused.reduce((sum, { left }) => sum + left, 0) > least * LITTLE.ofRate;
  }

  /** What to ask for: what expected emails need, and others by their latest speed. */
  #wantsOf(entry: Entry, perSecond: number, nowMs: number) {
    const expected = Math.ceil(expectedOf(entry, nowMs));
    const { lent, asked } = entry;
    const left = leftOf(lent, nowMs + RENEWED_MS);
    const spare = asked === 0 ? 0 : Math.ceil(perSecond * UNITS_SECONDS) + SPARE_UNITS;
    // The store lends others what is given up: no email is on its way, and none goes while the request is under way.
    const isUsed = asked + expected + entry.used.unsent(nowMs) > 0;
    if (!isUsed) entry.perSecond = 0;
    return {
      wants: Math.max(0, expected + spare - left),
      wantsPerSecond: isUsed ? entry.used.lately(nowMs) + expected + 2 * perSecond + 1 : 0,
      wantsConnections: this.#needed(entry, asked + expected),
    };
  }

  #shortage(entry: Entry, nowMs: number): Omit<Shortage, 'key'> | undefined {
    const { limits, unitRate, lent, perSecond, connections, perConnection, sharesUntilMs, inFlight, short } = entry;
    const untilNext = (limit: LimitName): number =>
      short?.limit === limit && short.untilMs > nowMs ? short.untilMs - nowMs : HUNGRY_MS;
    const isShared = sharesUntilMs > nowMs;
    if (unitRate && !lent.some(({ left, untilMs }) => left > 0 && untilMs > nowMs)) {
      const limit = short && short.untilMs > nowMs && short.limit !== 'connections' ? short.limit : unitRate;
      return { limit, waitMs: untilNext(limit), because: short?.because };
    }
    if (limits.perSecond !== undefined) {
      if (!isShared || perSecond < 1) return { limit: 'perSecond', waitMs: untilNext('perSecond') };
      const waitMs = entry.used.waitMs(perSecond, limits.perSecond, nowMs);
      if (waitMs > 0) return { limit: 'perSecond', waitMs };
    }
    if (limits.connections !== undefined && (!isShared || inFlight >= connections * perConnection)) {
      return { limit: 'connections', waitMs: isShared && connections > 0 ? BUSY_MS : untilNext('connections') };
    }
    return undefined;
  }
}
