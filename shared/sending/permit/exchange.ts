import type { Logger } from '../../platform/logger.ts';
import type { DeliveryMetrics } from '../delivery-metrics.ts';
import type { PermitStore, ProviderStates, WarmUpDecision } from '../ports.ts';
import type { SmtpPool } from '../transport/smtp-pool.ts';
import type { ProviderHealth } from './health.ts';
import { ALL, isWholeRelay, partsOfKey } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { Shaping } from './shaping.ts';

export interface ExchangeOptions {
  store: Pick<PermitStore, 'exchange' | 'lend'>;
  /** The pool with the relays of this worker. The exchange ends once it is closed. */
  smtp: Pick<SmtpPool, 'isClosed' | 'relays'> & Partial<Pick<SmtpPool, 'beforeClose'>>;
  logger: Logger;
  metrics: Pick<DeliveryMetrics, 'providerPaused' | 'providerRecovered' | 'warmUpDecided'>;
}

const EVERY_MS = 1_000;
/** How long known states are used without asking again. */
const FRESH_MS = 2_000;
/** What keeps mail waiting for long is asked again unless it is younger than this. */
const NEWS_MS = 500;
/** The exchange stops when nothing has been sent for this long. Then it only says that this worker has its sources. */
const IDLE_MS = 15_000;
const IDLE_EVERY_MS = 20_000;
/** For so long others believe that this worker has its rules, after an exchange: two may be late or fail. */
const KNOWN_SECONDS = { sending: 5, idle: 45 };

type Change = ProviderStates['changes'][number];

/**
 * The health of providers by the results of all workers, at most about a second old while this process sends. While the
 * database cannot be reached, the last known states apply.
 */
export class Exchange {
  /** The relays of this worker, as `host:port`. */
  readonly relays: readonly string[];
  readonly #options: ExchangeOptions;
  readonly #ledger: Ledger;
  readonly #shaping: Shaping;
  #states: ReadonlyMap<string, ProviderHealth> = new Map();
  /** A time of the database, and what `performance.now()` was then. */
  #known = { databaseMs: Date.now(), atMs: performance.now() };
  #exchangedAt = -Infinity;
  #usedAt = -Infinity;
  #isScheduled = false;
  #running: Promise<unknown> | undefined;
  #lending: Promise<void> | undefined;
  /** Whether the next request looks at all rules, not only at those that emails wait for. */
  #looksAtAll = false;
  /** The keys whose probes the next exchange requests, when they were asked for, and the probes that it was granted. */
  readonly #wanted = new Set<string>();
  readonly #askedAt = new Map<string, number>();
  readonly #granted = new Set<string>();

  constructor(options: ExchangeOptions, ledger: Ledger, shaping: Shaping) {
    this.#options = options;
    this.#ledger = ledger;
    this.#shaping = shaping;
    this.relays = [...new Set(options.smtp.relays().map(({ label }) => label))];
    ledger.onSurge = () => void this.run();
    options.smtp.beforeClose?.push(async () => {
      await Promise.all([this.#running, this.#lending]);
      await Promise.all([this.#lend('last'), this.#exchange(true)]);
    });
    const presence = setInterval(() => {
      if (options.smtp.isClosed()) clearInterval(presence);
      else if (performance.now() - this.#exchangedAt > IDLE_EVERY_MS) void this.run();
    }, IDLE_EVERY_MS).unref();
    // Its rules may have replaced others, which hold mail.
    setTimeout(() => void this.refresh(EVERY_MS), EVERY_MS).unref();
  }

  stateOf(key: string): ProviderHealth | undefined {
    return this.#states.get(key);
  }

  /** Whether no relay and no provider has a problem. */
  isQuiet(): boolean {
    this.#usedAt = performance.now();
    return this.#states.size === 0;
  }

  /** Learns a time of the database. */
  sees(databaseMs: number): void {
    this.#known = { databaseMs, atMs: performance.now() };
  }

  /** The time of the database, in milliseconds since 1970; that of this machine before one was seen. */
  nowMs(): number {
    return this.#known.databaseMs + performance.now() - this.#known.atMs;
  }

  /** Resolves when the known states are fresh. */
  async ready(): Promise<void> {
    this.#usedAt = performance.now();
    this.#schedule();
    await this.refresh(FRESH_MS);
  }

  /** Asks again unless what is known is younger than `ms`. */
  async refresh(ms = NEWS_MS): Promise<void> {
    if (performance.now() - this.#exchangedAt > ms) await this.run();
  }

  /** Reports now instead of at the next second. There is one exchange at a time; a further call shares it. */
  async run(): Promise<void> {
    this.#looksAtAll = true;
    this.#running ??= Promise.all([this.lend(), this.#exchange()]).finally(() => (this.#running = undefined));
    await this.#running;
  }

  /** Asks for what emails need now. There is one request at a time; a further call shares it. */
  lend(): Promise<void> {
    this.#lending ??= this.#lend().finally(() => (this.#lending = undefined));
    return this.#lending;
  }

  /** Resolves after a request that began after the call. */
  async lendNext(): Promise<void> {
    await this.#lending;
    await this.lend();
  }

  /**
   * Asks for the probe of a key: the one email that finds out whether the provider or the relay accepts email again.
   * @returns whether this process may send it
   */
  async takeProbe(key: string): Promise<boolean> {
    if (this.#granted.delete(key)) return true;
    const nowMs = performance.now();
    if (nowMs - (this.#askedAt.get(key) ?? -Infinity) < EVERY_MS) return false;
    this.#askedAt.set(key, nowMs);
    this.#wanted.add(key);
    // An exchange that was under way before asks for no probe of this key.
    while (this.#wanted.has(key)) await this.run();
    await this.#running;
    return this.#granted.delete(key);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (performance.now() - this.#usedAt > IDLE_MS || this.#options.smtp.isClosed()) return;
      void this.run();
      this.#schedule();
    }, EVERY_MS).unref();
  }

  /** @param isLast whether all counts are stored, however few or many they are */
  async #exchange(isLast = false): Promise<void> {
    // Probes that are wanted from now on are left for the next exchange.
    const wanted = new Set(this.#wanted);
    this.#wanted.clear();
    if (this.#options.smtp.isClosed()) return;
    const taken = this.#ledger.takeReports(new Set(this.#states.keys()), wanted, isLast);
    const { sources, digest } = this.#shaping;
    const askedMs = performance.now();
    try {
      const counts = { sent: taken.counts.sent(), answers: taken.counts.answers() };
      const isIdle = askedMs - this.#usedAt > IDLE_MS;
      const rules = { digest, seconds: isLast ? 0 : isIdle ? KNOWN_SECONDS.idle : KNOWN_SECONDS.sending };
      const use = { sources, rules };
      const answer = await this.#options.store.exchange([...this.relays, ALL], taken.reports, counts, use);
      this.#shaping.note(answer, answer.nowMs - (performance.now() - askedMs));
      this.#exchangedAt = performance.now();
      this.sees(answer.nowMs);
      this.#states = answer.states;
      for (const change of answer.changes) {
        this.#report(change, answer.nowMs);
        if (wanted.has(change.key) && this.#isGranted(change)) this.#granted.add(change.key);
      }
    } catch (error) {
      this.#ledger.putBack(taken);
      this.#options.logger.debug({ err: error }, 'the states of providers could not be exchanged');
    }
  }

  async #lend(which: 'wanted' | 'all' | 'last' = this.#looksAtAll ? 'all' : 'wanted'): Promise<void> {
    const { allowances } = this.#shaping;
    this.#looksAtAll = false;
    const requests = this.#options.smtp.isClosed() ? undefined : allowances.takeRequests(which);
    if (!requests?.size) return;
    const askedMs = performance.now();
    try {
      const { leases, decided } = await this.#options.store.lend(requests);
      allowances.lent(leases, askedMs);
      for (const decision of decided) this.#reportWarmUp(decision);
    } catch (error) {
      allowances.unsent(requests);
      this.#options.logger.debug({ err: error }, 'nothing could be asked of traffic rules');
    }
  }

  #isGranted({ before, after }: Change): boolean {
    const probe = after.pause?.probe;
    return probe?.workerId === this.#ledger.workerId && probe.untilMs !== before.pause?.probe?.untilMs;
  }

  #reportWarmUp(decision: WarmUpDecision): void {
    const { logger, metrics } = this.#options;
    const { outcome, source, provider = ALL } = decision;
    metrics.warmUpDecided(source, provider, outcome);
    const isBad = outcome === 'repeated' || outcome === 'stepped back';
    if (isBad) logger.warn(decision, 'A day of the warm-up was bad');
    else logger.info(decision, outcome === 'finished' ? 'The warm-up of a source is finished' : 'The warm-up goes on');
  }

  /** Logs and counts pauses and recoveries. */
  #report({ key, before, after }: Change, nowMs: number): void {
    const { logger, metrics } = this.#options;
    const who = isWholeRelay(key) ? 'The relay' : 'The provider';
    const { relay, provider } = partsOfKey(key);
    const about = { ...(relay !== ALL && { relay }), ...(provider !== ALL && { provider }) };
    if (!before.pause && after.pause) {
      metrics.providerPaused(relay, provider);
      const { reason, projectId } = after.pause;
      if (projectId === undefined) logger.warn({ ...about, reason }, `${who} refuses our emails; sending is paused`);
      else logger.warn({ ...about, reason, projectId }, `${who} refuses the emails of one project; they wait`);
    } else if (before.pause && !after.pause) {
      metrics.providerRecovered(relay, provider);
      const seconds = Math.round((nowMs - before.pause.sinceMs) / 1_000);
      logger.info({ ...about, seconds }, `${who} takes our emails again`);
    }
    if (!before.pace && after.pace) {
      const { rate: perSecond } = after.pace;
      logger.info({ ...about, perSecond }, `${who} asks for fewer emails; sending slows down`);
    }
  }
}
