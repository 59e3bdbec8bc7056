import { HARD_SURGE, REFUSAL_SURGE, WORDS_MAX, type ProviderReport } from '../../shared/pure/emails/provider-health.ts';
import type { RefusalSigns } from '../../shared/pure/emails/refusal-signs.ts';

/** The results of providers that this process has seen since its last report. */
export interface ProviderLedger {
  /** Called when so much was refused that it is worth reporting at once. */
  onSurge: () => void;
  accepted: (provider: string, recipient: string) => void;
  /** @returns whether the refusal calls the address dead, but in words that too many addresses get to be believed */
  refused: (provider: string, recipient: string, signs: RefusalSigns, suspects: readonly string[]) => boolean;
  /** Whether something was seen of the provider lately. */
  has: (provider: string) => boolean;
  probed: (provider: string, probe: ProviderReport['probe']) => void;
  /** Requests a report, even when there is nothing new. */
  want: (provider: string) => void;
  /** Takes what is worth reporting: all of the known providers, and of others once they refuse a number of emails. */
  takeReports: (
    isKnown: (provider: string) => boolean,
    probesWanted?: ReadonlySet<string>,
  ) => Map<string, ProviderReport>;
  /** Puts back what could not be reported. */
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
  /** The latest results, to find a surge at once. */
  recent: Recent[];
}

/** A surge is a share of this many results in a row. */
const RECENT_MAX = Math.floor(HARD_SURGE.recipients / HARD_SURGE.share);
/** Results that are not worth reporting by then are forgotten. */
const ENTRY_MS = 10_000;
const WORTH_REPORTING = 3;

function emptyReport(workerId: string): ProviderReport {
  return {
    ...{ workerId, total: 0, accepted: 0, refused: 0, slowed: 0, hard: [], suspects: [] },
    ...{ reason: null, probe: null, wantsProbe: false },
  };
}

function isWorthReporting({ report }: Entry): boolean {
  const hard = report.hard.reduce((sum, each) => sum + each.recipients, 0);
  return report.probe !== null || report.slowed > 0 || report.refused + hard >= WORTH_REPORTING;
}

/** Creates the ledger of a worker process. */
export function createProviderLedger(workerId: string, now: () => number = Date.now): ProviderLedger {
  const entries = new Map<string, Entry>();

  function entryOf(provider: string): Entry {
    const known = entries.get(provider);
    if (known) return known;
    const entry: Entry = { sinceMs: now(), report: emptyReport(workerId), recent: [] };
    entries.set(provider, entry);
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

    accepted(provider, recipient) {
      const entry = entryOf(provider);
      note(entry, recipient, null);
      entry.report.accepted += 1;
    },

    refused(provider, recipient, { kind, words, reason }, suspects) {
      const entry = entryOf(provider);
      const { report } = entry;
      const isHard = kind === 'dead address';
      if (isHard) addHard(entry, recipient, words);
      note(entry, recipient, isHard ? words : null);
      if (kind === 'too fast') report.slowed += 1;
      const isNew = isHard && isSurge(entry, words);
      if (isNew && !report.suspects.includes(words)) report.suspects.push(words);
      const isDoubted = isHard && (isNew || suspects.includes(words) || report.suspects.includes(words));
      if (kind !== 'about us' && !isDoubted) return false;
      report.refused += 1;
      if (report.refused === REFUSAL_SURGE.count) ledger.onSurge();
      report.reason = reason;
      return isDoubted;
    },

    has: (provider) => entries.has(provider),

    probed(provider, probe) {
      entryOf(provider).report.probe = probe;
    },

    want(provider) {
      entryOf(provider);
    },

    takeReports(isKnown, probesWanted) {
      const reports = new Map<string, ProviderReport>();
      for (const [provider, entry] of entries) {
        const { report } = entry;
        if (isKnown(provider) || isWorthReporting(entry)) {
          reports.set(provider, { ...report, wantsProbe: probesWanted?.has(provider) ?? false });
          entry.report = emptyReport(workerId);
          entry.sinceMs = now();
        } else if (now() - entry.sinceMs > ENTRY_MS) {
          if (report.total === 0 && (entry.recent.at(-1)?.atMs ?? 0) < now() - HARD_SURGE.ms) entries.delete(provider);
          entry.report = emptyReport(workerId);
          entry.sinceMs = now();
        }
      }
      return reports;
    },

    putBack(reports) {
      for (const [provider, { probe }] of reports) entryOf(provider).report.probe ??= probe;
    },
  };
  return ledger;
}
