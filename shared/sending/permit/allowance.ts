import { RATE_MS, RATES, type LimitName, type Limits, type Rate } from '../../pure/traffic-rules.ts';

/** How long a worker may use what it was lent, in milliseconds. */
export const LEASE_MS = 3_000;
/** The same while all workers have little of what a rule allows, so that most emails change no row. */
const LONG_LEASE_MS = 20_000;
/** So long after the end of its lease a message may begin that waited for a connection, when its worker is cut off. */
export const ON_ITS_WAY_MS = 1_500;
/** How soon a worker without a part asks again while others are giving up theirs. */
const GIVEN_UP_MS = 200;
/** Little is so much of a limit, for one worker and for all together. */
export const LITTLE = { ofRate: 1 / 50, ofConnections: 1 / 5, ofAll: 1 / 2 };
/** Units that are lent beyond what was asked for, where that is little. */
const SPARE_UNITS = 20;
/** The rates that are lent as units. A rate per second is shared as a rate, because it is over before a lease ends. */
const LONG_RATES = RATES.filter((rate) => rate !== 'perSecond');
/** Loans are added up when they lie closer together than this part of their age. */
const RESOLUTION = 1 / 30;

/** The part of a worker in what is shared, until its lease ends. */
interface Share {
  perSecond: number;
  connections: number;
  wantsPerSecond: number;
  wantsConnections: number;
  untilMs: number;
}

/** Units that were lent: the times of the first and the last loan, and their number. */
type Loan = readonly [firstMs: number, lastMs: number, count: number];

/** What all workers know of the use of one rule. Times are of the clock of the database, in milliseconds since 1970. */
export interface AllowanceState {
  shares: Record<string, Share>;
  /** Parts of the rate per second that were given up, until when they count, by which worker, and since when. */
  past: (readonly [perSecond: number, untilMs: number, workerId?: string, sinceMs?: number])[];
  loans: Loan[];
}

export const UNUSED: AllowanceState = { shares: {}, past: [], loans: [] };

/** What a worker asks for. */
export interface AllowanceRequest {
  workerId: string;
  limits: Limits;
  wants: number;
  wantsPerSecond: number;
  wantsConnections: number;
  /** Messages that are being sent. */
  inFlight: number;
  /** Units that were not used, by the time of their loan. */
  unused: { atMs: number; count: number }[];
  /** The times of the loans whose units were used only after their end. */
  late: number[];
  /** When the latest lease began that the worker knows, if all that it sent in a second is within that part. */
  keepsToMs?: number | undefined;
}

/** What a worker may use until `ms` after `atMs`. */
export interface Lease {
  atMs: number;
  ms: number;
  units: number;
  perSecond: number;
  connections: number;
  /** The limit that is used up, when some of it may be free again, and the words about it, if it has its own. */
  short?: { limit: LimitName; nextMs: number; because?: string };
}

/** Units that count at a rate now: each may have been used until the end of its lease. */
export function usedUnits({ loans }: AllowanceState, rate: Rate, nowMs: number): number {
  return loans.reduce((sum, [, lastMs, count]) => sum + (lastMs > nowMs - RATE_MS[rate] - LEASE_MS ? count : 0), 0);
}

function withUnused(loans: readonly Loan[], unused: AllowanceRequest['unused']): Loan[] {
  const next = [...loans];
  for (const { atMs, count } of unused) {
    const at = next.findIndex(([firstMs, lastMs]) => firstMs <= atMs && atMs <= lastMs);
    const loan = next[at];
    if (loan) next[at] = [loan[0], loan[1], Math.max(0, loan[2] - count)];
  }
  return next.filter(([, , count]) => count > 0);
}

/** The loans without what was not used. A unit that was used late counts as lent now, though there may be no room for it. */
function withUsed(loans: readonly Loan[], { unused, late }: AllowanceRequest, nowMs: number): readonly Loan[] {
  if (unused.length + late.length === 0) return loans;
  const left = withUnused(loans, [...unused, ...late.map((atMs) => ({ atMs, count: 1 }))]);
  return late.length > 0 ? [...left, [nowMs, nowMs, late.length]] : left;
}

/** Drops loans that count no more, and adds up old ones, so that their number stays small. */
function compact(loans: readonly Loan[], keptMs: number, nowMs: number): Loan[] {
  const kept: Loan[] = [];
  for (const loan of loans) {
    if (loan[1] <= nowMs - keptMs - LEASE_MS) continue;
    const last = kept.at(-1);
    const isClose = last && loan[1] - last[0] <= (nowMs - loan[1]) * RESOLUTION;
    if (isClose) kept[kept.length - 1] = [last[0], loan[1], last[2] + loan[2]];
    else kept.push(loan);
  }
  return kept;
}

/**
 * The part of one worker when a limit is divided so that nobody gets more than it wants (max-min fairness).
 * @param turn moves what cannot be divided equally on to others
 */
export function fairShare(limit: number, wants: ReadonlyMap<string, number>, id: string, turn = 0): number {
  if (wants.size < 2) return Math.min(limit, wants.get(id) ?? 0);
  let left = limit;
  const ids = [...wants.keys()].sort();
  const rank = new Map(ids.map((each, index) => [each, (index + turn) % ids.length]));
  const sorted = [...wants].sort(([a, m], [b, n]) => m - n || (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
  for (const [index, [each, wanted]] of sorted.entries()) {
    const share = Math.min(wanted, Math.ceil(left / (sorted.length - index)));
    if (each === id) return share;
    left -= share;
  }
  return 0;
}

/** When units of a rate may be free again: when the first loan counts no more, or unused ones of a lease come back. */
function nextFreeMs({ loans }: AllowanceState, rate: Rate, nowMs: number): number {
  const counting = loans.filter(([, lastMs]) => lastMs > nowMs - RATE_MS[rate] - LEASE_MS);
  const oldest = Math.min(...counting.map(([, lastMs]) => lastMs), nowMs) + RATE_MS[rate] + LEASE_MS;
  const isLent = counting.some(([, lastMs]) => lastMs > nowMs - LEASE_MS);
  return isLent ? Math.min(oldest, nowMs + LEASE_MS) : oldest;
}

/**
 * Moves the shares of workers that are gone to the past, where they count until their last second is over. What a worker
 * was told to give up counts no more once it says that it has.
 */
function withoutGone(
  state: AllowanceState,
  { workerId, keepsToMs = -Infinity }: AllowanceRequest,
  nowMs: number,
): AllowanceState {
  const gone = Object.values(state.shares).filter(({ untilMs }) => untilMs <= nowMs);
  if (gone.length + state.past.length === 0) return { ...state };
  const ended = gone.map((share) => [share.perSecond, share.untilMs + ON_ITS_WAY_MS + RATE_MS.perSecond] as const);
  const left = state.past.filter(([, , by, sinceMs = Infinity]) => by !== workerId || sinceMs > keepsToMs);
  return {
    shares: Object.fromEntries(Object.entries(state.shares).filter(([, { untilMs }]) => untilMs > nowMs)),
    past: [...left, ...ended].filter(([perSecond, untilMs]) => perSecond > 0 && untilMs > nowMs),
    loans: state.loans,
  };
}

/** The new part of a worker in a limit: its fair share, of what the others have left. */
function partOf(
  { shares }: AllowanceState,
  { limit, given = 0, nowMs }: { limit: number | undefined; given?: number; nowMs: number },
  id: string,
  [part, wants]: ['perSecond', 'wantsPerSecond'] | ['connections', 'wantsConnections'],
): number {
  if (limit === undefined) return Infinity;
  let held = 0;
  const demand = new Map<string, number>();
  for (const [each, share] of Object.entries(shares)) {
    // More than all is all: the parts of busy workers do not change with what each wants, because each change costs.
    demand.set(each, Math.min(share[wants], limit));
    if (each !== id) held += share[part];
  }
  const turn = Math.floor(nowMs / RATE_MS.perMinute);
  return Math.max(0, Math.min(fairShare(limit, demand, id, turn), limit - held - given));
}

/** What a worker gives up of the rate per second, and counts until it surely does not use it. */
function givenUp(
  old: Share,
  perSecond: number,
  { workerId, wantsPerSecond, keepsToMs }: AllowanceRequest,
  nowMs: number,
): AllowanceState['past'] {
  // A worker without mail has given up its share before it asked.
  const isOver = wantsPerSecond === 0;
  if (old.perSecond <= perSecond || (isOver && keepsToMs !== undefined)) return [];
  const usedUntilMs = isOver ? nowMs : Math.max(old.untilMs, nowMs + ON_ITS_WAY_MS);
  return [[old.perSecond - perSecond, usedUntilMs + RATE_MS.perSecond, workerId, nowMs]];
}

/** What is stored of a part; one without a limit is none. */
const finite = (part: number): number => (Number.isFinite(part) ? part : 0);

interface Parts {
  perSecond: number;
  connections: number;
  units: number;
}

/**
 * What a worker may have for longer, because it is little of what a rule allows and all workers together have no more than
 * half of that; undefined where it is not. `past` is what counts of the rate per second beside the shares.
 */
function littleOf(
  { shares }: AllowanceState,
  { workerId, limits, wants, wantsPerSecond, wantsConnections }: AllowanceRequest,
  { perSecond, connections, units }: Parts,
  free: readonly number[],
  past: number,
): Parts | undefined {
  const others = Object.entries(shares).filter(([id]) => id !== workerId);
  const partOfLimit = (part: 'perSecond' | 'connections', own: number, share: number): number | undefined => {
    const limit = limits[part];
    if (limit === undefined) return own;
    const all = others.reduce((sum, [, each]) => sum + each[part], own + (part === 'perSecond' ? past : 0));
    const most = Math.floor(limit * share);
    // Who has nothing for long would keep its part from others, though it may be gone.
    return most > 0 && own <= most && all <= limit * LITTLE.ofAll ? most : undefined;
  };
  const rate = partOfLimit('perSecond', perSecond, LITTLE.ofRate);
  const some = partOfLimit('connections', connections, LITTLE.ofConnections);
  const most = Math.floor(Math.min(...free) * LITTLE.ofRate);
  const isUsed = wants + wantsPerSecond + wantsConnections > 0;
  if (!isUsed || wants > most || rate === undefined || some === undefined) return undefined;
  return {
    perSecond: rate,
    connections: some,
    units: wants > 0 ? Math.max(units, Math.min(SPARE_UNITS, most)) : units,
  };
}

/**
 * Lends a worker what a rule allows. However many workers ask, and however late within its lease each uses what it was
 * lent, no rate is exceeded over any window of its length.
 */
export function lend(
  before: AllowanceState,
  request: AllowanceRequest,
  nowMs: number,
): { state: AllowanceState; lease: Lease } {
  const { workerId: id, limits, inFlight } = request;
  const state = withoutGone(before, request, nowMs);
  const old = state.shares[id];
  const long = LONG_RATES.filter((rate) => limits[rate] !== undefined);
  const keptMs = Math.max(0, ...long.map((rate) => RATE_MS[rate]));
  state.loans = compact(withUsed(state.loans, request, nowMs), keptMs, nowMs);
  const free = long.map((rate) => (limits[rate] ?? 0) - usedUnits(state, rate, nowMs));
  const granted = long.length === 0 ? Infinity : Math.max(0, Math.min(request.wants, ...free));
  const isLess = granted < request.wants;
  const { wantsPerSecond, wantsConnections } = request;
  const share: Share = { perSecond: 0, connections: 0, wantsPerSecond, wantsConnections, untilMs: nowMs + LEASE_MS };
  state.shares = { ...state.shares, [id]: { ...share, perSecond: old?.perSecond ?? 0 } };
  const pastRate = state.past.reduce((sum, [perSecond]) => sum + perSecond, 0);
  const part: Parts = {
    perSecond: partOf(state, { limit: limits.perSecond, given: pastRate, nowMs }, id, ['perSecond', 'wantsPerSecond']),
    connections: partOf(state, { limit: limits.connections, nowMs }, id, ['connections', 'wantsConnections']),
    units: granted,
  };
  const little = littleOf(state, request, part, free, pastRate);
  const { perSecond, connections, units } = little ?? part;
  const ms = little ? LONG_LEASE_MS : LEASE_MS;
  if (old) state.past = [...state.past, ...givenUp(old, perSecond, request, nowMs)];
  state.shares[id] = {
    ...share,
    // An answer may be lost: then the worker still has the earlier lease.
    untilMs: Math.max(nowMs + ms, old?.untilMs ?? 0),
    perSecond: finite(perSecond),
    // What is being sent is not taken away.
    connections: limits.connections === undefined ? 0 : Math.max(connections, inFlight),
  };
  const lease: Lease = { atMs: nowMs, ms, units, perSecond, connections };
  const rate = isLess ? long[free.indexOf(Math.min(...free))] : undefined;
  if (rate) lease.short = { limit: rate, nextMs: nextFreeMs(state, rate, nowMs) };
  // Who wants nothing gets nothing, though there may be some.
  else if (perSecond === 0 && wantsPerSecond > 0)
    lease.short = { limit: 'perSecond', nextMs: nowMs + (pastRate > 0 ? GIVEN_UP_MS : RATE_MS.perSecond) };
  else if (connections === 0 && wantsConnections > 0)
    lease.short = { limit: 'connections', nextMs: nowMs + RATE_MS.perSecond };
  if (units > 0 && Number.isFinite(units)) {
    // It counts as if it were lent later, for as long as it may be used later.
    state.loans = [...state.loans, [nowMs, nowMs + ms - LEASE_MS, units]];
  }
  return { state, lease };
}

/** Whether there is nothing to store. */
export function isUnused({ shares, past, loans }: AllowanceState): boolean {
  const isHeld = Object.values(shares).some((share) => share.perSecond > 0 || share.connections > 0);
  return !isHeld && past.length === 0 && loans.length === 0;
}
