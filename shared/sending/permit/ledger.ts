import { recipientProviderOf } from '../verdict/recipient-provider.ts';
import type { RefusalSigns } from '../verdict/refusal-signs.ts';
import type { Answers } from './answers.ts';
import { EmailCounts } from './email-counts.ts';
import {
  addNumbers,
  addProjects,
  HARD_SURGE,
  isSpreadOut,
  NAMES_MAX,
  REFUSAL_SURGE,
  type ProviderReport,
} from './health.ts';
import { contentKey, healthKey, ALL, isWholeRelay, partsOfKey } from './keys.ts';

/** An email that has an outcome. */
export interface DecidedEmail {
  recipient: string;
  provider: string;
  projectId: string;
  /** The relay that decided, as `host:port`. */
  relay: string;
}

type Kind = RefusalSigns['kind'] | 'accepted';

interface Recent {
  atMs: number;
  recipient: string;
  kind: Kind;
  words: string | null;
}

/** The results of one key since its last report. */
interface Entry {
  sinceMs: number;
  report: ProviderReport;
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

function isWorthReporting({ report }: Entry): boolean {
  const hard = Object.values(report.hard).reduce((sum, recipients) => sum + recipients, 0);
  return report.probe !== null || report.slowed >= SLOWED_WORTH_REPORTING || report.refused + hard >= WORTH_REPORTING;
}

function isSurge({ recent }: Entry, words: string, sinceMs: number): boolean {
  const same = recent.filter((each) => each.words === words && each.atMs > sinceMs);
  return new Set(same.map((each) => each.recipient)).size >= HARD_SURGE.recipients;
}

/** The results of this process since its last reports, by keys. Keys without refusals have no entry. */
export class Ledger {
  readonly workerId: string;
  /** Called when so many emails were refused that a report should not wait. */
  onSurge: () => void = () => undefined;
  #counts: EmailCounts;
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(workerId: string, now: () => number) {
    this.workerId = workerId;
    this.#now = now;
    this.#counts = new EmailCounts(now());
  }

  accepted(email: DecidedEmail): void {
    const { relay, provider, projectId } = email;
    if (this.#entries.size > 0) {
      for (const key of [healthKey(relay, provider), healthKey(relay, ALL), contentKey(provider, projectId)]) {
        const entry = this.#entries.get(key);
        if (!entry) continue;
        this.#note(key, entry, email, { kind: 'accepted', words: null });
        entry.report.accepted += 1;
        entry.acceptedMs = this.#now();
      }
    }
    this.#counts.add(relay, projectId, provider);
  }

  /** Counts what a provider made of an email of a source. */
  answered(source: string, provider: string, answers: Answers): void {
    this.#counts.addAnswers(source, provider, answers);
  }

  /**
   * Notes a refusal at one key.
   * @param suspects words that no worker believes
   * @returns whether it calls the address dead, but with a text that too many addresses get to be credible
   */
  refused(
    key: string,
    email: DecidedEmail,
    { kind, words, reason }: RefusalSigns,
    suspects: readonly string[],
  ): boolean {
    const { recipient } = email;
    const sinceMs = this.#now() - HARD_SURGE.ms;
    const entry = this.#entry(key);
    const { report, recent } = entry;
    const isHard = kind === 'dead address';
    const isKnown = recent.some(
      (each) =>
        each.recipient === recipient && (isHard ? each.words === words : each.kind === kind && each.atMs > sinceMs),
    );
    if (isKnown && !isHard && AGAINST.has(kind)) return false;
    if (isHard && !isKnown) report.hard = addNumbers(report.hard, { [words]: 1 }, NAMES_MAX);
    this.#note(key, entry, email, { kind, words: isHard ? words : null });
    if (kind === 'too fast') {
      report.slowed += 1;
      report.reason ??= reason;
    }
    const isNew = isHard && isSurge(entry, words, sinceMs);
    if (isNew && !report.suspects.includes(words)) report.suspects.push(words);
    const isDoubted = isHard && (isNew || suspects.includes(words) || report.suspects.includes(words));
    // Dead addresses at many providers are no reason to stop all email.
    if (kind !== 'about us' && (!isDoubted || report.spread)) return isDoubted;
    report.refused += 1;
    if (report.spread) report.spread = addNumbers(report.spread, { [email.provider]: 1 }, NAMES_MAX);
    report.reason = reason;
    if (report.refused === REFUSAL_SURGE.count) this.onSurge();
    return isDoubted;
  }

  /**
   * Whether a key limits the speed: it accepts emails, and most of the latest emails to other recipients were refused for
   * their speed. At a relay these must be at several providers.
   */
  isSlowing(key: string, recipient: string): boolean {
    const entry = this.#entries.get(key);
    const sinceMs = this.#now() - ENTRY_MS;
    if (!entry || entry.acceptedMs < sinceMs) return false;
    const others = entry.recent.filter((each) => each.recipient !== recipient && each.atMs > sinceMs);
    const slowed = others.filter((each) => each.kind === 'too fast');
    if (slowed.length * 2 <= others.length) return false;
    const providers = slowed.map((each) => ({ [recipientProviderOf(each.recipient)]: 1 }));
    return !entry.report.spread || isSpreadOut(providers.reduce((sums, one) => addNumbers(sums, one, NAMES_MAX), {}));
  }

  probed(key: string, probe: ProviderReport['probe']): void {
    this.#entry(key).report.probe = probe;
  }

  /**
   * Takes the results to report: those of known keys, of keys with a probe that is wanted, and of others after a few
   * refusals; and the numbers of emails.
   * @param isLast whether the numbers are taken also before they are due
   */
  takeReports(known: ReadonlySet<string>, probesWanted: ReadonlySet<string> = new Set(), isLast = false) {
    for (const key of known) if (this.#counts.at(key) > 0) this.#entry(key);
    for (const key of probesWanted) this.#entry(key);
    const reports = new Map<string, ProviderReport>();
    for (const [key, entry] of this.#entries) {
      if (known.has(key) || probesWanted.has(key) || isWorthReporting(entry)) {
        const { projects, ...report } = entry.report;
        reports.set(key, { ...report, wantsProbe: probesWanted.has(key), projects: addProjects({}, projects) });
      } else if (this.#now() - entry.sinceMs <= ENTRY_MS) continue;
      else if (entry.report.total === 0 && (entry.recent.at(-1)?.atMs ?? 0) < this.#now() - HARD_SURGE.ms) {
        this.#entries.delete(key);
      }
      entry.report = this.#emptyReport(key);
      entry.sinceMs = this.#now();
    }
    const counts = this.#counts.isDue(isLast ? Infinity : this.#now()) ? this.#counts : new EmailCounts(this.#now());
    if (counts === this.#counts) this.#counts = new EmailCounts(this.#now());
    return { reports, counts };
  }

  /** Puts back what could not be reported: the probes, and the numbers of emails. */
  putBack({ reports, counts }: ReturnType<Ledger['takeReports']>): void {
    for (const [key, { probe }] of reports) this.#entry(key).report.probe ??= probe;
    this.#counts.addAll(counts);
  }

  #emptyReport(key: string): ProviderReport {
    return {
      workerId: this.workerId,
      total: 0,
      accepted: 0,
      refused: 0,
      slowed: 0,
      hard: {},
      suspects: [],
      reason: null,
      probe: null,
      wantsProbe: false,
      ...(isWholeRelay(key) && { spread: {} }),
    };
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const accepted = this.#counts.at(key);
    const report = { ...this.#emptyReport(key), total: accepted, accepted };
    const nowMs = this.#now();
    const entry = { sinceMs: nowMs, report, acceptedMs: accepted > 0 ? nowMs : -Infinity, recent: [] };
    this.#entries.set(key, entry);
    return entry;
  }

  #note(
    key: string,
    entry: Entry,
    { recipient, projectId }: DecidedEmail,
    result: Pick<Recent, 'kind' | 'words'>,
  ): void {
    const { report, recent } = entry;
    report.total += 1;
    recent.push({ recipient, atMs: this.#now(), ...result });
    if (recent.length > RECENT_MAX) recent.shift();
    if (partsOfKey(key).relay === ALL) return;
    const { total, against } = report.projects?.[projectId] ?? { total: 0, against: 0 };
    const counts = { total: total + 1, against: against + (AGAINST.has(result.kind) ? 1 : 0) };
    report.projects = { ...report.projects, [projectId]: counts };
  }
}
