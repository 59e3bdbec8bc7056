import {
  HARD_SURGE,
  REFUSAL_SURGE,
  WORDS_MAX,
  type ProviderReport,
  type Spread,
} from '../../shared/pure/emails/provider-health.ts';
import { isWholeRelay } from '../../shared/pure/emails/health-key.ts';
import { recipientProviderOf } from '../../shared/pure/emails/recipient-provider.ts';
import type { RefusalSigns } from '../../shared/pure/emails/refusal-signs.ts';

/** The results of this process since its last report, by keys of providers and relays. */
export interface ProviderLedger {
  /** Called when so many emails were refused that a report should not wait. */
  onSurge: () => void;
  accepted: (key: string, recipient: string) => void;
  /**
   * Notes a refusal.
   * @returns whether it calls the address dead, but with a text that too many addresses get to be credible
   */
  refused: (key: string, recipient: string, signs: RefusalSigns, suspects: readonly string[]) => boolean;
  /** Whether there were results of a key lately. */
  has: (key: string) => boolean;
  probed: (key: string, probe: ProviderReport['probe']) => void;
  /** Makes the next report contain a key, even without results. */
  want: (key: string) => void;
  /** Takes the results to report: all of known providers, and those of others after a few refusals. */
  takeReports: (isKnown: (key: string) => boolean, probesWanted?: ReadonlySet<string>) => Map<string, ProviderReport>;
  /** Puts back the probes of reports that could not be sent. */
  putBack: (reports: ReadonlyMap<string, ProviderReport>) => void;
}

interface Recent {
  atMs: number;
  recipient: string;
  words: string | null;
}

interface Entry {
  sinceMs: number;
  report: ProviderReport;
  /** The latest results, to detect a surge at once. */
  recent: Recent[];
}

/** A surge is a share of this number of results in a row. */
const RECENT_MAX = Math.floor(HARD_SURGE.recipients / HARD_SURGE.share);
/** Results that are not reported within this time are dropped. */
const ENTRY_MS = 10_000;
const WORTH_REPORTING = 3;

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

/** Counts a refusal for a provider, for a limited number of providers. */
function spreadWith(spread: Spread, provider: string): Spread {
  if (!(provider in spread) && Object.keys(spread).length >= WORDS_MAX) return spread;
  return { ...spread, [provider]: (spread[provider] ?? 0) + 1 };
}

function isWorthReporting({ report }: Entry): boolean {
  const hard = report.hard.reduce((sum, each) => sum + each.recipients, 0);
  return report.probe !== null || report.slowed > 0 || report.refused + hard >= WORTH_REPORTING;
}

/** Creates the ledger of a worker process. */
export function createProviderLedger(workerId: string, now: () => number = Date.now): ProviderLedger {
  const entries = new Map<string, Entry>();

  function entryOf(key: string): Entry {
    const known = entries.get(key);
    if (known) return known;
    const entry: Entry = { sinceMs: now(), report: emptyReport(workerId, key), recent: [] };
    entries.set(key, entry);
    return entry;
  }

  function note(entry: Entry, recipient: string, words: string | null): void {
    entry.report.total += 1;
    entry.recent.push({ atMs: now(), recipient, words });
    if (entry.recent.length > RECENT_MAX) entry.recent.shift();
  }

  function isSurge({ recent }: Entry, words: string): boolean {
    const same = recent.filter((each) => each.words === words && each.atMs > now() - HARD_SURGE.ms);
    return new Set(same.map((each) => each.recipient)).size >= HARD_SURGE.recipients;
  }

  function addHard({ report, recent }: Entry, recipient: string, words: string): void {
    if (recent.some((each) => each.words === words && each.recipient === recipient)) return;
    const known = report.hard.find((each) => each.words === words);
    if (known) known.recipients += 1;
    else if (report.hard.length < WORDS_MAX) report.hard.push({ words, recipients: 1 });
  }

  const ledger: ProviderLedger = {
    onSurge: () => undefined,

    accepted(key, recipient) {
      const entry = entryOf(key);
      note(entry, recipient, null);
      entry.report.accepted += 1;
    },

    refused(key, recipient, { kind, words, reason }, suspects) {
      const entry = entryOf(key);
      const { report } = entry;
      const isHard = kind === 'dead address';
      if (isHard) addHard(entry, recipient, words);
      note(entry, recipient, isHard ? words : null);
      if (kind === 'too fast') report.slowed += 1;
      const isNew = isHard && isSurge(entry, words);
      if (isNew && !report.suspects.includes(words)) report.suspects.push(words);
      const isDoubted = isHard && (isNew || suspects.includes(words) || report.suspects.includes(words));
      // Dead addresses at many providers are no reason to stop all email.
      if (kind !== 'about us' && !(isDoubted && !report.spread)) return isDoubted;
      report.refused += 1;
      if (report.spread) report.spread = spreadWith(report.spread, recipientProviderOf(recipient));
      if (report.refused === REFUSAL_SURGE.count) ledger.onSurge();
      report.reason = reason;
      return isDoubted;
    },

    has: (key) => entries.has(key),

    probed(key, probe) {
      entryOf(key).report.probe = probe;
    },

    want(key) {
      entryOf(key);
    },

    takeReports(isKnown, probesWanted) {
      const reports = new Map<string, ProviderReport>();
      for (const [key, entry] of entries) {
        const { report } = entry;
        if (isKnown(key) || isWorthReporting(entry)) {
          reports.set(key, { ...report, wantsProbe: probesWanted?.has(key) ?? false });
          entry.report = emptyReport(workerId, key);
          entry.sinceMs = now();
        } else if (now() - entry.sinceMs > ENTRY_MS) {
          if (report.total === 0 && (entry.recent.at(-1)?.atMs ?? 0) < now() - HARD_SURGE.ms) entries.delete(key);
          entry.report = emptyReport(workerId, key);
          entry.sinceMs = now();
        }
      }
      return reports;
    },

    putBack(reports) {
      for (const [key, { probe }] of reports) entryOf(key).report.probe ??= probe;
    },
  };
  return ledger;
}
