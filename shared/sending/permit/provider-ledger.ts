import {
  addProjects,
  HARD_SURGE,
  isSpreadOut,
  REFUSAL_SURGE,
  WORDS_MAX,
  type ProjectCounts,
  type ProviderReport,
  type Spread,
} from './provider-health.ts';
import { isWholeRelay } from './health-key.ts';
import { recipientProviderOf } from '../verdict/recipient-provider.ts';
import type { RefusalSigns } from '../verdict/refusal-signs.ts';

/** The results of this process since its last report, by keys of providers and relays. */
export interface ProviderLedger {
  /** Called when so many emails were refused that a report should not wait. */
  onSurge: () => void;
  accepted: (key: string, email: LedgerEmail) => void;
  /**
   * Notes a refusal.
   * @returns whether it calls the address dead, but with a text that too many addresses get to be credible
   */
  refused: (key: string, email: LedgerEmail, signs: RefusalSigns, suspects: readonly string[]) => boolean;
  /** Whether there were refusals of a key lately. */
  has: (key: string) => boolean;
  /**
   * Whether a key limits the speed: it accepts emails, and most of the latest emails to other recipients were refused for
   * their speed. At a relay these must be at several providers.
   */
  isSlowing: (key: string, recipient: string) => boolean;
  probed: (key: string, probe: ProviderReport['probe']) => void;
  /** Makes the next report contain a key, even without results. */
  want: (key: string) => void;
  /** Takes the results to report: all of the known keys, and those of others after a few refusals. */
  takeReports: (known: ReadonlySet<string>, probesWanted?: ReadonlySet<string>) => Map<string, ProviderReport>;
  /** Puts back the probes of reports that could not be sent. */
  putBack: (reports: ReadonlyMap<string, ProviderReport>) => void;
}

/** The email that a result is about. */
export interface LedgerEmail {
  recipient: string;
  /** Missing when the key is about the messages of one project. */
  projectId?: string;
}

type Kind = RefusalSigns['kind'] | 'accepted';

interface Recent {
  atMs: number;
  recipient: string;
  kind: Kind;
  words: string | null;
}

interface Entry {
  sinceMs: number;
  report: ProviderReport;
  /** The results since the last report by project. */
  projects: Map<string, ProjectCounts>;
  /** When an email was last accepted. */
  acceptedMs: number;
  /** The latest results, to detect a surge at once. */
  recent: Recent[];
}

/** A surge is a share of this number of results in a row. */
const RECENT_MAX = Math.floor(HARD_SURGE.recipients / HARD_SURGE.share);
/** Results that are not reported within this time are dropped. */
const ENTRY_MS = 10_000;
const WORTH_REPORTING = 3;
/** One recipient alone says nothing about the speed that a provider takes. */
const SLOWED_WORTH_REPORTING = 2;
/** Refusals that say something beyond the one email. A recipient that is refused again and again is counted once. */
const AGAINST = new Set<Kind>(['about us', 'too fast', 'dead address']);

function emptyReport(workerId: string, key: string): ProviderReport {
  return {
    workerId,
    total: 0,
    accepted: 0,
    refused: 0,
    slowed: 0,
    hard: [],
    suspects: [],
    reason: null,
    probe: null,
    wantsProbe: false,
    ...(isWholeRelay(key) && { spread: {} }),
  };
}

/** Counts a refusal for the provider of a recipient, for a limited number of providers. */
function addProviderOf(spread: Spread, { recipient }: { recipient: string }): Spread {
  const provider = recipientProviderOf(recipient);
  if (!(provider in spread) && Object.keys(spread).length >= WORDS_MAX) return spread;
  return { ...spread, [provider]: (spread[provider] ?? 0) + 1 };
}

function isWorthReporting({ report }: Entry): boolean {
  const hard = report.hard.reduce((sum, each) => sum + each.recipients, 0);
  return report.probe !== null || report.slowed >= SLOWED_WORTH_REPORTING || report.refused + hard >= WORTH_REPORTING;
}

/** The keys that had refusals lately, and for the others the number of accepted emails, which is all they ever need. */
class Entries {
  readonly all = new Map<string, Entry>();
  readonly #workerId: string;
  readonly #now: () => number;
  /** Accepted emails of keys without an entry, since `#calmSinceMs`. */
  #calm = new Map<string, number>();
  #calmSinceMs: number;

  constructor(workerId: string, now: () => number) {
    this.#workerId = workerId;
    this.#now = now;
    this.#calmSinceMs = now();
  }

  of(key: string): Entry {
    const known = this.all.get(key);
    if (known) return known;
    const nowMs = this.#now();
    const accepted = this.#calm.get(key) ?? 0;
    this.#calm.delete(key);
    const report = { ...emptyReport(this.#workerId, key), total: accepted, accepted };
    const acceptedMs = accepted > 0 ? nowMs : -Infinity;
    const entry: Entry = { sinceMs: nowMs, report, projects: new Map(), acceptedMs, recent: [] };
    this.all.set(key, entry);
    return entry;
  }

  countCalm(key: string): void {
    this.#calm.set(key, (this.#calm.get(key) ?? 0) + 1);
  }

  /** Makes entries of known keys, whose accepted emails are reported, and forgets old counts of the others. */
  refresh(known: ReadonlySet<string>): void {
    for (const key of known) if (this.#calm.has(key)) this.of(key);
    if (this.#now() - this.#calmSinceMs <= ENTRY_MS) return;
    this.#calm = new Map();
    this.#calmSinceMs = this.#now();
  }

  beginReport(key: string, entry: Entry): void {
    entry.report = emptyReport(this.#workerId, key);
    entry.projects = new Map();
    entry.sinceMs = this.#now();
  }
}

function note(entry: Entry, { recipient, projectId }: LedgerEmail, result: Omit<Recent, 'recipient'>): void {
  const { report, recent, projects } = entry;
  report.total += 1;
  recent.push({ recipient, ...result });
  if (recent.length > RECENT_MAX) recent.shift();
  if (projectId === undefined) return;
  const { total, against } = projects.get(projectId) ?? { total: 0, against: 0 };
  projects.set(projectId, { total: total + 1, against: against + (AGAINST.has(result.kind) ? 1 : 0) });
}

function isSurge({ recent }: Entry, words: string, sinceMs: number): boolean {
  const same = recent.filter((each) => each.words === words && each.atMs > sinceMs);
  return new Set(same.map((each) => each.recipient)).size >= HARD_SURGE.recipients;
}

function addHard({ report, recent }: Entry, recipient: string, words: string): void {
  if (recent.some((each) => each.words === words && each.recipient === recipient)) return;
  const known = report.hard.find((each) => each.words === words);
  if (known) known.recipients += 1;
  else if (report.hard.length < WORDS_MAX) report.hard.push({ words, recipients: 1 });
}

/**
 * Counts a refusal about us, or one that is doubted.
 * @returns whether there are now so many that a report should not wait
 */
function addRefused({ report }: Entry, email: LedgerEmail, reason: string): boolean {
  report.refused += 1;
  if (report.spread) report.spread = addProviderOf(report.spread, email);
  report.reason = reason;
  return report.refused === REFUSAL_SURGE.count;
}

/** Whether most of the latest results of other recipients are refusals for speed. */
function areOthersSlowed(entry: Entry, recipient: string, sinceMs: number): boolean {
  const others = entry.recent.filter((each) => each.recipient !== recipient && each.atMs > sinceMs);
  const slowed = others.filter((each) => each.kind === 'too fast');
  if (slowed.length * 2 <= others.length) return false;
  return !entry.report.spread || isSpreadOut(slowed.reduce(addProviderOf, {}));
}

/** Creates the ledger of a worker process. */
export function createProviderLedger(workerId: string, now: () => number = Date.now): ProviderLedger {
  const entries = new Entries(workerId, now);

  const ledger: ProviderLedger = {
    onSurge: () => undefined,

    accepted(key, email) {
      const entry = entries.all.get(key);
      if (!entry) {
        entries.countCalm(key);
        return;
      }
      note(entry, email, { atMs: now(), kind: 'accepted', words: null });
      entry.report.accepted += 1;
      entry.acceptedMs = now();
    },

    refused(key, email, { kind, words, reason }, suspects) {
      const { recipient } = email;
      const sinceMs = now() - HARD_SURGE.ms;
      const entry = entries.of(key);
      const { report, recent } = entry;
      const isHard = kind === 'dead address';
      if (isHard) addHard(entry, recipient, words);
      else if (AGAINST.has(kind)) {
        const same = recent.filter((each) => each.recipient === recipient && each.kind === kind);
        if (same.some((each) => each.atMs > sinceMs)) return false;
      }
      note(entry, email, { atMs: now(), kind, words: isHard ? words : null });
      if (kind === 'too fast') {
        report.slowed += 1;
        report.reason ??= reason;
      }
      const isNew = isHard && isSurge(entry, words, sinceMs);
      if (isNew && !report.suspects.includes(words)) report.suspects.push(words);
      const isDoubted = isHard && (isNew || suspects.includes(words) || report.suspects.includes(words));
      // Dead addresses at many providers are no reason to stop all email.
      const counts = kind === 'about us' || (isDoubted && !report.spread);
      if (counts && addRefused(entry, email, reason)) ledger.onSurge();
      return isDoubted;
    },

    has: (key) => entries.all.has(key),

    isSlowing(key, recipient) {
      const entry = entries.all.get(key);
      const sinceMs = now() - ENTRY_MS;
      return entry !== undefined && entry.acceptedMs >= sinceMs && areOthersSlowed(entry, recipient, sinceMs);
    },

    probed(key, probe) {
      entries.of(key).report.probe = probe;
    },

    want(key) {
      entries.of(key);
    },

    takeReports(known, probesWanted) {
      entries.refresh(known);
      const reports = new Map<string, ProviderReport>();
      for (const [key, entry] of entries.all) {
        const { report } = entry;
        if (known.has(key) || isWorthReporting(entry)) {
          const projects = addProjects({}, Object.fromEntries(entry.projects));
          reports.set(key, { ...report, wantsProbe: probesWanted?.has(key) ?? false, projects });
          entries.beginReport(key, entry);
        } else if (now() - entry.sinceMs > ENTRY_MS) {
          const lastMs = entry.recent.at(-1)?.atMs ?? 0;
          if (report.total === 0 && lastMs < now() - HARD_SURGE.ms) entries.all.delete(key);
          entries.beginReport(key, entry);
        }
      }
      return reports;
    },

    putBack(reports) {
      for (const [key, { probe }] of reports) entries.of(key).report.probe ??= probe;
    },
  };
  return ledger;
}
