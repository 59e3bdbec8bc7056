import type { Registry } from 'prom-client';
import { metricsOf } from '../platform/metrics/metrics.ts';
import { ALL } from './permit/keys.ts';
import { providerGroupOf } from './verdict/recipient-provider.ts';
import type { SmtpPool } from './transport/smtp-pool.ts';

/** The outcome of an email that was due. */
export interface NotedResult {
  verdict: string;
  /** The rule by which a refusal was judged. */
  refusal?: { kind: string; rule: string } | undefined;
}

export interface NotedEmail {
  /** The address of the recipient. Its provider becomes a label, as a known provider or as `other`. */
  to: string;
  urgency: string;
  /** The time of the request; missing for campaigns, whose emails wait for each other. */
  queuedAt?: Date | undefined;
}

/** Counts the outcomes of emails in a worker. */
export interface DeliveryMetrics {
  note: (result: NotedResult, email: NotedEmail) => void;
  /** Counts an attempt that ended because no server could be connected to. */
  relayUnavailable: () => void;
  /** Counts a pause; relay and provider as {@link partsOfKey} gives them. */
  providerPaused: (relay: string, provider: string) => void;
  providerRecovered: (relay: string, provider: string) => void;
  /** Counts the decision about a day of a warm-up; the provider is `*` for the source itself. */
  warmUpDecided: (source: string, provider: string, outcome: string) => void;
}

const LATENCY_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];

/** The labels of a health record, without the project. */
export function healthLabels(relay: string, provider: string): { relay: string; provider: string } {
  const [name = ALL] = provider.split(' ');
  return { relay: relay === ALL ? 'all' : relay, provider: name === ALL ? 'all' : providerGroupOf(name) };
}

/** Creates the counters of a worker. */
export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const { counter, histogram } = metricsOf(registry);
  const results = counter(
    'everpost_email_results_total',
    'Results of emails that were due, by outcome and by the provider of the recipient',
    ['outcome', 'provider', 'urgency'],
  );
  const refusals = counter('everpost_refusals_total', 'Refusals for good, by the rule that judged them', [
    'kind',
    'rule',
    'provider',
  ]);
  const latency = histogram(
    'everpost_send_latency_seconds',
    'From the request for an email to its acceptance by a server',
    ['urgency'],
    LATENCY_SECONDS,
  );
  const unavailable = counter(
    'everpost_relay_unavailable_total',
    'Attempts that ended because no SMTP server could be talked to',
  );
  const pauses = counter(
    'everpost_provider_pauses_total',
    'Pauses of sending through a relay or to a provider, because it refuses our emails',
    ['relay', 'provider'],
  );
  const recoveries = counter('everpost_provider_recoveries_total', 'Pauses that have ended', ['relay', 'provider']);
  const warmUps = counter(
    'everpost_warm_up_days_total',
    'Days of warm-ups by what was decided about them, and warm-ups that are finished',
    ['source', 'provider', 'outcome'],
  );
  return {
    note({ verdict, refusal }, { to, urgency, queuedAt }) {
      const provider = providerGroupOf(to);
      results.inc({ outcome: verdict, provider, urgency });
      if (refusal) refusals.inc({ kind: refusal.kind, rule: refusal.rule, provider });
      if (verdict === 'sent' && queuedAt) latency.observe({ urgency }, (Date.now() - queuedAt.getTime()) / 1_000);
    },
    relayUnavailable: () => unavailable.inc(),
    providerPaused: (relay, provider) => pauses.inc(healthLabels(relay, provider)),
    providerRecovered: (relay, provider) => recoveries.inc(healthLabels(relay, provider)),
    warmUpDecided(source, provider, outcome) {
      warmUps.inc({ source, provider: healthLabels(source, provider).provider, outcome });
    },
  };
}

/**
 * Creates the gauges of the SMTP connections.
 * @returns the function that updates them; call it before each scrape
 */
export function createSmtpGauges(registry: Registry, pool: Pick<SmtpPool, 'usage' | 'relays'>): () => void {
  const { counter, gauge } = metricsOf(registry);
  const messages = gauge('everpost_smtp_messages', 'Messages on the wire, and waiting for a connection', ['state']);
  const connections = gauge('everpost_smtp_connections', 'Open connections', ['relay']);
  const isDown = gauge('everpost_relay_down', '1 while a server is left alone because it could not be connected to', [
    'relay',
  ]);
  const isInClear = gauge('everpost_relay_in_clear', '1 while messages go to a server on another machine without TLS', [
    'relay',
  ]);
  const outcomes = counter(
    'everpost_relay_messages_total',
    'Messages that a server was given, by what it made of them',
    ['relay', 'outcome'],
  );
  return () => {
    const { sending, queued } = pool.usage();
    messages.set({ state: 'sending' }, sending);
    messages.set({ state: 'waiting' }, queued);
    outcomes.reset();
    for (const relay of pool.relays()) {
      connections.set({ relay: relay.label }, relay.connections);
      isDown.set({ relay: relay.label }, relay.isDown ? 1 : 0);
      isInClear.set({ relay: relay.label }, relay.isInClear ? 1 : 0);
      for (const [outcome, count] of Object.entries(relay.outcomes))
        outcomes.inc({ relay: relay.label, outcome }, count);
    }
  };
}
