/** Numbers by name: of recipients by the words of a hard verdict, or of refusals by provider. */
export type Numbers = Readonly<Record<string, number>>;

/** The results of a project's emails; `against` are those refused for any reason that is not the one email's. */
export interface ProjectCounts {
  total: number;
  against: number;
}

/** Results by project, for the `NAMES_MAX` projects with the most refusals; all others are added up as `''`. */
export type ByProject = Readonly<Record<string, ProjectCounts>>;

/** The results of emails to a provider, or through a relay. */
export interface Results {
  total: number;
  accepted: number;
  /** Refused for reasons that are about us. */
  refused: number;
  /** Refused for their speed. A recipient counts once, however often it is refused. */
  slowed: number;
  /** Recipients of hard verdicts, by the words of these. */
  hard: Numbers;
  /** Refusals about us by the recipient's provider. Set when the results are those of a whole relay. */
  spread?: Numbers;
  /** Missing or empty when the results are those of the messages of one project. */
  projects?: ByProject;
}

/** What one worker has seen of a provider since its last report. */
export interface ProviderReport extends Results {
  workerId: string;
  /** Words of hard verdicts that this worker already takes for a surge. */
  suspects: string[];
  /** Code and rule of the latest refusal. */
  reason: string | null;
  probe: 'accepted' | 'refused' | 'unclear' | null;
  /** The worker has an email for the provider, should a probe be due. */
  wantsProbe: boolean;
}

interface Bucket extends Results {
  atMs: number;
}

export interface ProviderPause {
  sinceMs: number;
  /** When a probe is due: a single email that shows whether the provider accepts email again. */
  untilMs: number;
  /** Earlier pauses that ended with a refused probe. Each doubles the next pause. */
  step: number;
  reason: string;
  /** The project whose emails alone wait, because no others were refused. */
  projectId?: string;
  probe?: { workerId: string; untilMs: number };
}

/** The speed at which email is sent to a provider, in emails a second over all workers. */
export interface ProviderPace {
  rate: number;
  /** The rate that the provider accepted before it first complained. */
  before: number;
  changedMs: number;
  slowedMs: number;
}

/**
 * The state of a provider behind a relay, or of a relay, shared by all workers. Times are milliseconds since 1970, by
 * the clock of the database.
 */
export interface ProviderHealth {
  window: Bucket[];
  pause?: ProviderPause;
  /** The last pause that ended. If the provider soon refuses again, the next pause has the same step. */
  recovered?: { atMs: number; step: number };
  /** Words of hard verdicts that are not believed for now. */
  suspects?: { words: string[]; untilMs: number };
  pace?: ProviderPace;
  /** When each worker last sent to the provider. */
  workers: Record<string, number>;
}

export const UNTROUBLED: ProviderHealth = { window: [], workers: {} };

/**
 * A surge of hard verdicts: at least so many recipients with the same words, and this share of all results, within
 * `ms`.
 */
export const HARD_SURGE = { recipients: 20, share: 0.8, ms: 60_000 } as const;
/**
 * A surge of refusals about us: at least so many, and this share of all results, within `ms`. Refusals for speed count,
 * too, when the provider accepted nothing in that time, because there is no speed that it would accept.
 */
export const REFUSAL_SURGE = { count: 10, share: 0.5, ms: 10_000 } as const;
/**
 * A surge of refusals by a relay itself: this share of all results, for recipients at several providers, none of which
 * has more than half of the refusals. If only one provider refuses, the relay is not paused.
 */
const RELAY_SURGE = { share: 0.8, providers: 3, largest: 0.5 } as const;
/** Refusals for speed slow down a provider when at least so many recipients got one within `RATE_WINDOW_MS`. */
const SLOWED_MIN = 2;
/** A paused relay stops all email, so it is probed more often. */
const PAUSE_MS = { first: 5_000, max: 300_000, maxOfRelay: 60_000 } as const;
/** If a probe has no result after this time, its worker has died, and another worker may probe. */
const PROBE_MS = 60_000;
const RELAPSE_MS = 60_000;
const BUCKET_MS = 1_000;
const RATE_WINDOW_MS = 10_000;
/** Replies about rates often come together, so the rate is cut at most once in this time. */
const CUT_EVERY_MS = 5_000;
const RATE_MIN = 0.2;
/** The time in which the rate grows by the rate before the first complaint, if there is no further complaint. */
const RECOVERY_SECONDS = 60;
/** The pace is dropped when the rate reaches this multiple of the rate before the first complaint. */
const LIFTED_AT = 2;
/** A worker that has not reported for this long no longer counts as a sender. */
const WORKER_MS = 5_000;
/** The most names that are counted. */
export const NAMES_MAX = 8;

/** The health of a provider or a relay after a worker's report: begins and ends pauses, and adjusts the pace. */
export function afterReport(health: ProviderHealth, report: ProviderReport, nowMs: number): ProviderHealth {
  const window = withBucket(health.window, report, nowMs);
  const seen = Object.entries(health.workers).filter(([, atMs]) => atMs > nowMs - WORKER_MS);
  const next: ProviderHealth = {
    ...health,
    window,
    workers: { ...Object.fromEntries(seen), [report.workerId]: nowMs },
  };
  if (next.suspects && next.suspects.untilMs <= nowMs && !next.pause) delete next.suspects;
  if (next.recovered && next.recovered.atMs <= nowMs - RELAPSE_MS) delete next.recovered;
  const isHardSurge = addSuspects(next, report, nowMs);
  if (next.pause) continuePause(next, next.pause, report, nowMs);
  else if (report.spread ? isRelaySurge(window, nowMs) : isHardSurge || isRefusalSurge(window, nowMs)) {
    openPause(next, report, nowMs);
  }
  // Only providers have a pace, not the relay as a whole.
  if (!report.spread) adjustPace(next, report, nowMs);
  return next;
}

/** Whether there is nothing to store. */
export function isUntroubled({ window, pause, pace, suspects, recovered }: ProviderHealth): boolean {
  return !pause && !pace && !suspects && !recovered && window.length === 0;
}

function withBucket(window: Bucket[], report: ProviderReport, nowMs: number): Bucket[] {
  const kept = window.filter((bucket) => bucket.atMs > nowMs - HARD_SURGE.ms);
  if (report.total === 0) return kept;
  const last = kept.at(-1);
  const { total, accepted, refused, slowed, hard, spread, projects } = report;
  const results = { total, accepted, refused, slowed, hard, ...(spread && { spread }), ...(projects && { projects }) };
  if (!last || nowMs - last.atMs >= BUCKET_MS) return [...kept, { atMs: nowMs, ...results }];
  return [...kept.slice(0, -1), { atMs: last.atMs, ...addResults(last, results) }];
}

function addResults(left: Results, right: Results): Results {
  return {
    total: left.total + right.total,
    accepted: left.accepted + right.accepted,
    refused: left.refused + right.refused,
    slowed: left.slowed + right.slowed,
    hard: addNumbers(left.hard, right.hard, NAMES_MAX),
    ...(right.spread && { spread: addNumbers(left.spread, right.spread, NAMES_MAX) }),
    ...(right.projects && { projects: addProjects(left.projects, right.projects) }),
  };
}

/** Adds up numbers by name, for the first `namesMax` names. */
export function addNumbers(left: Numbers = {}, right: Numbers = {}, namesMax = Infinity): Numbers {
  const sums = new Map(Object.entries(left));
  for (const [name, count] of Object.entries(right)) {
    if (sums.has(name) || sums.size < namesMax) sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return Object.fromEntries(sums);
}

/** Adds up results by project, for a limited number of projects. */
export function addProjects(left: ByProject = {}, right: ByProject = {}): ByProject {
  const sums = new Map(Object.entries(left));
  const add = (projectId: string, counts: ProjectCounts): void => {
    const known = sums.get(projectId) ?? { total: 0, against: 0 };
    sums.set(projectId, { total: known.total + counts.total, against: known.against + counts.against });
  };
  for (const [projectId, counts] of Object.entries(right)) add(projectId, counts);
  const named = [...sums].filter(([projectId]) => projectId !== '');
  for (const [projectId, counts] of named.sort(([, a], [, b]) => b.against - a.against).slice(NAMES_MAX)) {
    sums.delete(projectId);
    add('', counts);
  }
  return Object.fromEntries(sums);
}

/** Whether refusals are spread over so many providers that they are the relay's. */
export function isSpreadOut(spread: Numbers): boolean {
  const counts = Object.values(spread);
  const sum = counts.reduce((all, count) => all + count, 0);
  return counts.length >= RELAY_SURGE.providers && Math.max(...counts) <= sum * RELAY_SURGE.largest;
}

/** Whether the latest results of a relay are a surge, over any time up to `REFUSAL_SURGE.ms`. */
function isRelaySurge(window: readonly Bucket[], nowMs: number): boolean {
  let [total, refused] = [0, 0];
  let spread: Numbers = {};
  for (const bucket of window.toReversed()) {
    if (bucket.atMs <= nowMs - REFUSAL_SURGE.ms) return false;
    total += bucket.total;
    refused += bucket.refused;
    spread = addNumbers(spread, bucket.spread, NAMES_MAX);
    if (isSpreadOut(spread) && refused >= REFUSAL_SURGE.count && refused >= total * RELAY_SURGE.share) return true;
  }
  return false;
}

/** Whether the latest results of a provider are a surge of refusals, over any time up to `REFUSAL_SURGE.ms`. */
function isRefusalSurge(window: readonly Bucket[], nowMs: number): boolean {
  const recent = window.filter((bucket) => bucket.atMs > nowMs - REFUSAL_SURGE.ms);
  const takesNothing = recent.every((bucket) => bucket.accepted === 0);
  let total = 0;
  let refused = 0;
  for (const bucket of recent.toReversed()) {
    total += bucket.total;
    refused += bucket.refused + (takesNothing ? bucket.slowed : 0);
    if (refused >= REFUSAL_SURGE.count && refused >= total * REFUSAL_SURGE.share) return true;
  }
  return false;
}

/** The latest results by project. */
function recentByProject(window: readonly Bucket[], nowMs: number): ByProject {
  const recent = window.filter((bucket) => bucket.atMs > nowMs - REFUSAL_SURGE.ms);
  return recent.reduce<ByProject>((sums, { projects }) => addProjects(sums, projects), {});
}

/** Whether the emails of the other projects are refused as well: at least one, and the share of a surge. */
function areOthersRefused(projects: ByProject, projectId: string): boolean {
  const others = Object.entries(projects).filter(([id]) => id !== projectId);
  const total = others.reduce((sum, [, counts]) => sum + counts.total, 0);
  const against = others.reduce((sum, [, counts]) => sum + counts.against, 0);
  return against > 0 && against >= total * REFUSAL_SURGE.share;
}

/** The project that alone caused a surge; undefined when the others are refused as well, or when it is not known. */
function soleCause(projects: ByProject): string | undefined {
  const [most] = Object.entries(projects).sort(([, a], [, b]) => b.against - a.against);
  if (!most || most[0] === '' || most[1].against === 0) return undefined;
  return areOthersRefused(projects, most[0]) ? undefined : most[0];
}

/** The words of hard verdicts that are a surge, over any time up to `HARD_SURGE.ms`. */
function hardSurges(window: readonly Bucket[]): string[] {
  const found = new Set<string>();
  let total = 0;
  let sums: Numbers = {};
  for (const bucket of window.toReversed()) {
    total += bucket.total;
    sums = addNumbers(sums, bucket.hard);
    for (const [words, recipients] of Object.entries(sums)) {
      if (recipients >= HARD_SURGE.recipients && recipients >= total * HARD_SURGE.share) found.add(words);
    }
  }
  return [...found];
}

/** Adds the words of surges to the suspects of `next`, and says whether there are such words. */
function addSuspects(next: ProviderHealth, report: ProviderReport, nowMs: number): boolean {
  const found = [...report.suspects, ...hardSurges(next.window)];
  if (found.length === 0) return false;
  const words = [...new Set([...(next.suspects?.words ?? []), ...found])].slice(-NAMES_MAX);
  next.suspects = { words, untilMs: nowMs + HARD_SURGE.ms };
  return true;
}

function pauseMs(step: number, { spread }: ProviderReport): number {
  return Math.min(PAUSE_MS.first * 2 ** step, spread ? PAUSE_MS.maxOfRelay : PAUSE_MS.max);
}

function openPause(next: ProviderHealth, report: ProviderReport, nowMs: number): void {
  const step = next.recovered?.step ?? 0;
  const projectId = soleCause(recentByProject(next.window, nowMs));
  next.pause = {
    sinceMs: nowMs,
    untilMs: nowMs + pauseMs(step, report),
    step,
    reason: report.reason ?? 'many refusals at once',
    ...(projectId !== undefined && { projectId }),
  };
}

/** Whether the pause of one project becomes that of all. */
function concernsAll({ projectId }: ProviderPause, window: readonly Bucket[], nowMs: number): boolean {
  return projectId !== undefined && areOthersRefused(recentByProject(window, nowMs), projectId);
}

function continuePause(next: ProviderHealth, pause: ProviderPause, report: ProviderReport, nowMs: number): void {
  const { probe, projectId, ...rest } = pause;
  const isOfOne = projectId !== undefined && !concernsAll(pause, next.window, nowMs);
  const idle: ProviderPause = isOfOne ? { ...rest, projectId } : rest;
  next.pause = probe ? { ...idle, probe } : idle;
  if (report.probe === 'accepted') {
    delete next.pause;
    next.window = [];
    next.recovered = { atMs: nowMs, step: pause.step };
    // A rate that was measured while everything was refused is not used again.
    if (next.pace && next.pace.slowedMs > pause.sinceMs - REFUSAL_SURGE.ms) delete next.pace;
    if (next.suspects) next.suspects = { ...next.suspects, untilMs: nowMs + HARD_SURGE.ms };
    return;
  }
  if (report.probe === 'refused') {
    const step = pause.step + 1;
    next.pause = { ...idle, step, untilMs: nowMs + pauseMs(step, report), reason: report.reason ?? pause.reason };
    return;
  }
  if (report.probe === 'unclear') {
    next.pause = { ...idle, untilMs: nowMs + PAUSE_MS.first };
    return;
  }
  const isFree = !probe || probe.untilMs <= nowMs;
  if (!report.wantsProbe || !isFree || pause.untilMs > nowMs) return;
  next.pause = { ...idle, probe: { workerId: report.workerId, untilMs: nowMs + PROBE_MS } };
}

/** Emails a second that the provider accepted during the last `RATE_WINDOW_MS`. */
function acceptedRate(window: readonly Bucket[], nowMs: number): number {
  const recent = window.filter((bucket) => bucket.atMs > nowMs - RATE_WINDOW_MS);
  const accepted = recent.reduce((sum, bucket) => sum + bucket.accepted, 0);
  const seconds = Math.max(1, (nowMs - (recent[0]?.atMs ?? nowMs)) / 1_000);
  return accepted / seconds;
}

/** Adjusts the rate by additive increase and multiplicative decrease (AIMD). */
function adjustPace(next: ProviderHealth, report: ProviderReport, nowMs: number): void {
  const { pace } = next;
  const recent = next.window.filter((bucket) => bucket.atMs > nowMs - RATE_WINDOW_MS);
  const slowed = recent.reduce((sum, bucket) => sum + bucket.slowed, 0);
  if (report.slowed > 0 && slowed >= SLOWED_MIN) {
    if (next.pause) return;
    if (pace && nowMs - pace.slowedMs < CUT_EVERY_MS) return;
    const taken = Math.max(acceptedRate(next.window, nowMs), RATE_MIN);
    const rate = Math.max(RATE_MIN, Math.min(pace?.rate ?? taken, taken) / 2);
    next.pace = { rate, before: Math.max(pace?.before ?? taken, 1), changedMs: nowMs, slowedMs: nowMs };
    return;
  }
  if (!pace) return;
  const rate = pace.rate + (pace.before / RECOVERY_SECONDS) * ((nowMs - pace.changedMs) / 1_000);
  if (rate >= pace.before * LIFTED_AT) delete next.pace;
  else next.pace = { ...pace, rate, changedMs: nowMs };
}
