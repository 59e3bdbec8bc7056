import { dayOf } from '../../pure/days.ts';
import type { Limits } from '../../pure/traffic-rules.ts';
import { allowedAt, dayEndOf, type WarmUpPosition } from '../../pure/warm-up.ts';
import { fairShare, LEASE_MS, type AllowanceRequest, type Lease } from './allowance.ts';

/** What all workers know of the use of the allowance of a day, by project. */
export interface DayUse {
  used: Record<string, number>;
  /** Units that a project asked for and did not get, and when. */
  waits: Record<string, readonly [count: number, atMs: number]>;
  /** When units were lent last. */
  lentMs: number;
}

export const NO_USE: DayUse = { used: {}, waits: {}, lentMs: 0 };

/** A source at a provider, and how far it is. */
export interface WarmingSource {
  source: string;
  provider: string;
  position: WarmUpPosition;
  steps: readonly number[];
}

/** The limits of the key of a warm-up. Only the store knows the amount; each unit of it is worth returning. */
export const WARM_UP_LIMITS: Limits = { perDay: 1 };

/** The project, source and provider of a key of a warm-up; undefined for another allowance. */
export function partsOfWarmUp(key: string): { projectId: string; source: string; provider: string } | undefined {
  const [, projectId = '', source = '', provider = ''] = /^warm-up ([\da-f-]{36}) (.+) (\S+)$/.exec(key) ?? [];
  return source === '' ? undefined : { projectId, source, provider };
}

/** The key by which a project asks for its part of what a source that warms up may send to a provider. */
export function warmUpKey(projectId: string, source: string, provider: string): string {
  return `warm-up ${projectId} ${source} ${provider}`;
}

/** For so long after its request a project is expected to want its part. Lent units that were not used are back by then. */
const WANTED_MS = LEASE_MS + 2_000;
/** For so long after midnight the part of a project is kept that waits since the day before. */
const KEPT_MS = 60_000;

/** Whether the day has just begun. */
const isNewDay = (nowMs: number): boolean => dayOf(nowMs - KEPT_MS) !== dayOf(nowMs);

/** The projects that want a part now: those that asked a moment ago, and just after midnight those of the day before. */
function currentWaits({ waits }: DayUse, nowMs: number): DayUse['waits'] {
  return Object.fromEntries(
    Object.entries(waits).filter(([, [, atMs]]) => isNewDay(nowMs) || atMs > nowMs - WANTED_MS),
  );
}

/** Why the mail of a project waits, in a sentence. */
function wordsOf(
  { source, provider, position: { step }, steps }: WarmingSource,
  isAll: boolean,
  nowMs: number,
): string {
  const goesOn = new Date(dayEndOf(nowMs))
    .toISOString()
    .replace(/:00\.000Z$/, ' UTC')
    .replace('T', ' ');
  const what = isAll ? 'which are used up' : 'of which the project has its part';
  return (
    `Source ${source} warms up: on day ${step + 1} of ${steps.length} it sends ${allowedAt(steps, step)} emails to ` +
    `${provider}, ${what}. It goes on at ${goesOn}`
  );
}

/**
 * Lends a project units of the allowance of a day. No more than the allowance is lent within a UTC day, and no lease
 * goes beyond it. Projects that want units at the same time get equal parts of the day, or what they want if that is
 * less.
 * @param use of the day of the position
 */
export function lendDay(
  use: DayUse,
  warming: WarmingSource,
  projectId: string,
  { wants, unused, late }: Pick<AllowanceRequest, 'wants' | 'unused' | 'late'>,
  nowMs: number,
): { use: DayUse; lease: Lease } {
  const { position, steps } = warming;
  const allowed = allowedAt(steps, position.step);
  const back = unused.reduce((sum, { atMs, count }) => sum + (dayOf(atMs) === position.day ? count : 0), 0);
  // What waited for a connection beyond midnight is mail of the new day.
  const moved = late.filter((atMs) => dayOf(atMs) !== position.day).length;
  const mine = Math.max(0, (use.used[projectId] ?? 0) - back) + moved;
  const used = { ...use.used, [projectId]: mine };
  const waits = { ...currentWaits(use, nowMs), [projectId]: [wants, nowMs] as const };
  // How much mail waits since the day before is not known.
  const demandOf = (id: string, count: number): number => (isNewDay(nowMs) ? Infinity : (used[id] ?? 0) + count);
  const demand = new Map(Object.entries(waits).map(([id, [count]]) => [id, demandOf(id, count)]));
  // Who wants nothing more keeps what it had.
  const ended = Object.keys(used).filter((id) => !waits[id]);
  const shared = allowed - ended.reduce((sum, id) => sum + (used[id] ?? 0), 0);
  const left = allowed - Object.values(used).reduce((sum, count) => sum + count, 0);
  const units = Math.max(0, Math.min(wants, fairShare(shared, demand, projectId) - mine, left));
  const endMs = dayEndOf(nowMs);
  const lease: Lease = {
    atMs: nowMs,
    ms: Math.min(LEASE_MS, endMs - nowMs),
    units,
    perSecond: Infinity,
    connections: Infinity,
  };
  if (units < wants) {
    // What others were lent may come back, and what is kept for them may be free again.
    const mayChange = left > units || use.lentMs > nowMs - WANTED_MS;
    const nextMs = mayChange ? Math.min(endMs, nowMs + LEASE_MS) : endMs;
    lease.short = { limit: 'perDay', nextMs, because: wordsOf(warming, left <= units, nowMs) };
  }
  const { [projectId]: before, ...others } = use.waits;
  const still = units < wants ? ([wants - units, nowMs] as const) : isNewDay(nowMs) ? before : undefined;
  return {
    lease,
    use: {
      used: { ...used, [projectId]: mine + units },
      waits: { ...others, ...(still && { [projectId]: still }) },
      lentMs: units > 0 ? nowMs : use.lentMs,
    },
  };
}

/** The use at the beginning of a day: those who wait since the day before. */
export function nextDayUse({ waits }: DayUse, today: string): DayUse {
  const yesterday = dayOf(Date.parse(today) - 1);
  return {
    ...NO_USE,
    waits: Object.fromEntries(Object.entries(waits).filter(([, [, atMs]]) => dayOf(atMs) === yesterday)),
  };
}
