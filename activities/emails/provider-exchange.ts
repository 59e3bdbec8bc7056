import { randomUUID } from 'node:crypto';
import { exchangeProviderStates, type ProviderStates } from '../../shared/domain/emails/provider-states.ts';
import type { Em } from '../../shared/domain/database/em.ts';
import type { ProviderHealth } from '../../shared/pure/emails/provider-health.ts';
import type { DeliveryMetrics } from '../../shared/platform/metrics/delivery-metrics.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import type { SmtpPool } from '../../shared/platform/smtp/smtp-pool.ts';
import type { ProviderLedger } from './provider-ledger.ts';

/** The results of all workers as this process knows them, at most about a second old while it sends. */
export interface ProviderExchange {
  readonly workerId: string;
  start: (ledger: ProviderLedger) => void;
  stateOf: (provider: string) => ProviderHealth | undefined;
  /** The clock of the database. */
  nowMs: () => number;
  ready: () => Promise<void>;
  /** Reports without waiting for the next second. */
  soon: () => void;
  /** Whether this process may send the email that finds out if the provider takes email again. */
  takeProbe: (provider: string) => Promise<boolean>;
}

export interface ProviderExchangeOptions {
  em: () => Em;
  /** The servers of this worker; its pool decides which of them takes an email. */
  relay: string;
  /** The exchange ends once its pool is closed. */
  smtp: Pick<SmtpPool, 'isClosed'>;
  logger: Logger;
  metrics: DeliveryMetrics;
}

const EVERY_MS = 1_000;
/** How long known states are used without asking again. */
const FRESH_MS = 2_000;
/** The exchange stops when nothing has been sent for this long. */
const IDLE_MS = 15_000;

/** Creates the function that logs pauses and recoveries for operators. */
function createTeller({ relay, logger, metrics }: ProviderExchangeOptions) {
  return ({ provider, before, after }: ProviderStates['changes'][number], nowMs: number): void => {
    if (!before.pause && after.pause) {
      metrics.providerPaused(provider);
      const { reason } = after.pause;
      logger.warn({ provider, relay, reason }, 'The provider refuses our emails; sending to it is paused');
    } else if (before.pause && !after.pause) {
      metrics.providerRecovered(provider);
      const seconds = Math.round((nowMs - before.pause.sinceMs) / 1_000);
      logger.info({ provider, relay, seconds }, 'The provider takes our emails again');
    }
    if (!before.pace && after.pace) {
      const { rate: perSecond } = after.pace;
      logger.info({ provider, relay, perSecond }, 'The provider asks for fewer emails; sending slows down');
    }
  };
}

/** Creates the exchange of a worker process. While the database is away it uses the last known states. */
export function createProviderExchange(options: ProviderExchangeOptions): ProviderExchange {
  const { em, relay, logger, smtp } = options;
  const workerId = randomUUID();
  const tell = createTeller(options);
  let ledger: ProviderLedger | undefined;
  let states: ReadonlyMap<string, ProviderHealth> = new Map();
  let aheadMs = 0;
  let exchangedAt = -Infinity;
  let usedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  /** Providers that need a probe, and those that this process may probe. */
  const wanted = new Set<string>();
  const leases = new Set<string>();
  const askedAt = new Map<string, number>();

  const nowMs = () => Date.now() + aheadMs;

  async function exchange(): Promise<void> {
    if (!ledger || smtp.isClosed()) return;
    const reports = ledger.takeReports((provider) => states.has(provider), wanted);
    try {
      const answer = await exchangeProviderStates(em(), relay, reports);
      exchangedAt = performance.now();
      aheadMs = answer.nowMs - Date.now();
      states = answer.states;
      for (const change of answer.changes) {
        tell(change, answer.nowMs);
        const isOurs = wanted.has(change.provider) && change.after.pause?.probe?.workerId === workerId;
        if (isOurs && change.before.pause?.probe?.untilMs !== change.after.pause?.probe?.untilMs) {
          leases.add(change.provider);
        }
      }
    } catch (error) {
      ledger.putBack(reports);
      logger.debug({ err: error }, 'What is known of providers could not be exchanged');
    }
    wanted.clear();
  }

  /** One at a time; a call joins the one under way. */
  function run(): Promise<void> {
    running ??= exchange().finally(() => (running = undefined));
    return running;
  }

  function use(): void {
    usedAt = performance.now();
    timer ??= setInterval(() => {
      if (performance.now() - usedAt < IDLE_MS && !smtp.isClosed()) {
        void run();
        return;
      }
      clearInterval(timer);
      timer = undefined;
    }, EVERY_MS).unref();
  }

  return {
    workerId,
    start(known) {
      ledger = known;
      known.onSurge = () => void run();
    },
    stateOf: (provider) => {
      usedAt = performance.now();
      return states.get(provider);
    },
    nowMs,
    async ready() {
      use();
      if (performance.now() - exchangedAt > FRESH_MS) await run();
    },
    soon: () => void run(),
    async takeProbe(provider) {
      if (leases.delete(provider)) return true;
      const now = performance.now();
      if (now - (askedAt.get(provider) ?? -Infinity) < EVERY_MS) return false;
      askedAt.set(provider, now);
      ledger?.want(provider);
      await running;
      wanted.add(provider);
      await run();
      return leases.delete(provider);
    },
  };
}
