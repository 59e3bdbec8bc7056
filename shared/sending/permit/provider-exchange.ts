import { randomUUID } from 'node:crypto';
import type { PermitStore, ProviderStates } from '../ports.ts';
import { ALL, isWholeRelay, partsOfKey } from './health-key.ts';
import type { ProviderHealth } from './provider-health.ts';
import type { DeliveryMetrics } from '../delivery-metrics.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SmtpPool } from '../transport/smtp-pool.ts';
import type { ProviderLedger } from './provider-ledger.ts';

/** The health of providers by the results of all workers, at most about a second old while this process sends. */
export interface ProviderExchange {
  readonly workerId: string;
  /** The relays of this worker, as `host:port`. */
  readonly relays: readonly string[];
  start: (ledger: ProviderLedger) => void;
  stateOf: (key: string) => ProviderHealth | undefined;
  /** Whether no relay and no provider has a problem. */
  isQuiet: () => boolean;
  /** The time of the database, in milliseconds since 1970. */
  nowMs: () => number;
  /** Resolves when the known states are fresh. */
  ready: () => Promise<void>;
  /** Reports at once instead of at the next second. */
  soon: () => void;
  /**
   * Asks for the probe of a key: the one email that finds out whether the provider or the relay accepts email again.
   * @returns whether this process may send it
   */
  takeProbe: (key: string) => Promise<boolean>;
}

export interface ProviderExchangeOptions {
  store: Pick<PermitStore, 'exchange'>;
  /** The pool with the relays of this worker. The exchange ends once it is closed. */
  smtp: Pick<SmtpPool, 'isClosed' | 'relays'>;
  logger: Logger;
  metrics: DeliveryMetrics;
}

const EVERY_MS = 1_000;
/** How long known states are used without asking again. */
const FRESH_MS = 2_000;
/** The exchange stops when nothing has been sent for this long. */
const IDLE_MS = 15_000;

/** Creates the function that logs and counts pauses and recoveries. */
function createChangeReporter({ logger, metrics }: ProviderExchangeOptions) {
  return ({ key, before, after }: ProviderStates['changes'][number], nowMs: number): void => {
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
  };
}

/** Whether a change has granted the probe to a worker. */
function isNewProbeOf(workerId: string, { before, after }: ProviderStates['changes'][number]): boolean {
  const probe = after.pause?.probe;
  return probe?.workerId === workerId && probe.untilMs !== before.pause?.probe?.untilMs;
}

/** The probes that this process wants, and those that it was granted. */
interface Probes {
  /** The keys whose probes the next exchange requests. */
  wanted: Set<string>;
  /** Notes that this process may send the probe of a key. */
  grant: (key: string) => void;
  /** Uses the probe of a key, if this process has it. */
  use: (key: string) => boolean;
  /** Whether the probe of a key may be requested again. */
  mayAsk: (key: string) => boolean;
}

function createProbes(): Probes {
  const granted = new Set<string>();
  const askedAt = new Map<string, number>();
  return {
    wanted: new Set(),
    grant: (key) => void granted.add(key),
    use: (key) => granted.delete(key),
    mayAsk(key) {
      const now = performance.now();
      if (now - (askedAt.get(key) ?? -Infinity) < EVERY_MS) return false;
      askedAt.set(key, now);
      return true;
    },
  };
}

/**
 * Calls `work` every second, while `use` or `note` was called within the last 15 seconds and `isEnded` is false. `use`
 * also starts the timer.
 */
function whileUsed(work: () => void, isEnded: () => boolean): { use: () => void; note: () => void } {
  let usedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const note = (): void => {
    usedAt = performance.now();
  };
  return {
    note,
    use() {
      note();
      timer ??= setInterval(() => {
        if (performance.now() - usedAt < IDLE_MS && !isEnded()) {
          work();
          return;
        }
        clearInterval(timer);
        timer = undefined;
      }, EVERY_MS).unref();
    },
  };
}

/** Creates the exchange of a worker process. While the database cannot be reached, the last known states apply. */
export function createProviderExchange(options: ProviderExchangeOptions): ProviderExchange {
  const { store, logger, smtp } = options;
  const relays = [...new Set(smtp.relays().map(({ label }) => label))];
  const workerId = randomUUID();
  const reportChange = createChangeReporter(options);
  let ledger: ProviderLedger | undefined;
  let states: ReadonlyMap<string, ProviderHealth> = new Map();
  let aheadMs = 0;
  let exchangedAt = -Infinity;
  let running: Promise<void> | undefined;
  const probes = createProbes();
  const exchanging = whileUsed(
    () => void run(),
    () => smtp.isClosed(),
  );

  const nowMs = () => Date.now() + aheadMs;

  async function exchange(): Promise<void> {
    // Probes that are wanted from now on are left for the next exchange.
    const wanted = new Set(probes.wanted);
    probes.wanted.clear();
    if (!ledger || smtp.isClosed()) return;
    const reports = ledger.takeReports(new Set(states.keys()), wanted);
    try {
      const answer = await store.exchange([...relays, ALL], reports);
      exchangedAt = performance.now();
      aheadMs = answer.nowMs - Date.now();
      states = answer.states;
      for (const change of answer.changes) {
        reportChange(change, answer.nowMs);
        if (wanted.has(change.key) && isNewProbeOf(workerId, change)) probes.grant(change.key);
      }
    } catch (error) {
      ledger.putBack(reports);
      logger.debug({ err: error }, 'the states of providers could not be exchanged');
    }
  }

  /** Runs one exchange at a time; a further call shares the one under way. */
  function run(): Promise<void> {
    running ??= exchange().finally(() => (running = undefined));
    return running;
  }

  return {
    workerId,
    relays,
    start(known) {
      ledger = known;
      known.onSurge = () => void run();
    },
    stateOf: (key) => states.get(key),
    isQuiet: () => {
      exchanging.note();
      return states.size === 0;
    },
    nowMs,
    async ready() {
      exchanging.use();
      if (performance.now() - exchangedAt > FRESH_MS) await run();
    },
    soon: () => void run(),
    async takeProbe(key) {
      if (probes.use(key)) return true;
      if (!probes.mayAsk(key)) return false;
      ledger?.want(key);
      probes.wanted.add(key);
      // An exchange that was under way before asks for no probe of this key.
      while (probes.wanted.has(key)) await run();
      await running;
      return probes.use(key);
    },
  };
}
