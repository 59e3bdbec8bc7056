import type { Registry } from 'prom-client';
import { metricsOf } from '../../platform/metrics/metrics.ts';
import { healthLabels } from '../../sending/delivery-metrics.ts';
import { providerGroupOf } from '../../sending/verdict/recipient-provider.ts';
import { withTimeLimit } from '../../platform/time-limit.ts';
import type { Figures } from './figures.ts';

/** Connections of a pool. */
export interface PoolUsage {
  total: number;
  idle: number;
  /** Callers that wait for one. */
  waiting: number;
}

export interface DatabaseGaugesOptions {
  read: () => Promise<Figures>;
  poolUsage: () => PoolUsage;
  /** The database is queried at most once in this time, in milliseconds. Default 10,000. */
  keptMs?: number;
}

const KEPT_MS = 10_000;
/** Longest wait for the database: reading metrics must not hang when there is no connection. */
const WAIT_MS = 3_000;

function createFigureGauges(registry: Registry) {
  const { gauge } = metricsOf(registry);
  const oldest = 'for how many seconds the oldest of it has waited';
  const outboxRows = gauge('everpost_outbox_rows', 'What must reach Temporal; counted up to 10,000', ['kind']);
  const outboxOldest = gauge('everpost_outbox_oldest_seconds', `Of the outbox ${oldest}`, ['kind']);
  const emails = gauge('everpost_emails_due', 'Emails that are due, without campaigns; counted up to 10,000');
  const emailsOldest = gauge('everpost_emails_due_oldest_seconds', `Of emails that are due ${oldest}`);
  const executions = gauge('everpost_executions', 'Executions that have not ended', ['state']);
  const lag = gauge('everpost_execution_lag_seconds', 'For how long the most late execution has been due');
  const jobs = gauge('everpost_jobs', 'Imports and other jobs that are not done', ['kind', 'state']);
  const progress = gauge('everpost_job_progress_ratio', 'Least progress of active jobs, 0 to 1', ['kind']);
  const idle = gauge('everpost_job_idle_seconds', 'Since when a job has not moved', ['kind', 'state']);
  const campaigns = gauge('everpost_campaigns_sending', 'Campaigns that are being sent');
  const left = gauge('everpost_campaign_recipients_left', 'Recipients of these without an outcome');
  const paused = gauge('everpost_providers_paused', 'Pauses of sending now', ['relay', 'provider']);
  const reputation = gauge(
    'everpost_reputation_ratio',
    'Share of the emails of two days that a provider defers or refuses for reputation; the highest of a label',
    ['source', 'provider'],
  );
  const held = gauge(
    'everpost_webhook_events_held_seconds',
    'How long the oldest webhook event has waited for an open transaction',
  );
  const labelled = [outboxRows, outboxOldest, executions, jobs, progress, idle, paused, reputation];
  const plain = [emails, emailsOldest, lag, campaigns, left, held];

  function clear(): void {
    for (const each of labelled) each.reset();
    for (const each of plain) each.remove();
  }

  function show(figures: Figures): void {
    clear();
    for (const { kind, rows, oldestSeconds } of figures.outbox) {
      outboxRows.set({ kind }, rows);
      outboxOldest.set({ kind }, oldestSeconds);
    }
    emails.set(figures.emailsDue.rows);
    emailsOldest.set(figures.emailsDue.oldestSeconds);
    executions.set({ state: 'RUNNING' }, figures.executions.running);
    executions.set({ state: 'WAITING' }, figures.executions.waiting);
    lag.set(figures.executionLagSeconds);
    for (const { kind, state, rows, progress: share, idleSeconds } of figures.jobs) {
      jobs.set({ kind, state }, rows);
      idle.set({ kind, state }, idleSeconds);
      if (state === 'active') progress.set({ kind }, share);
    }
    campaigns.set(figures.campaigns.sending);
    left.set(figures.campaigns.recipientsLeft);
    held.set(figures.webhookEventsHeldSeconds);
    // The lowest first, so that the highest of the other providers remains.
    for (const { source, provider, ratio } of figures.reputation.toSorted((left, right) => left.ratio - right.ratio)) {
      reputation.set({ source, provider: providerGroupOf(provider) }, ratio);
    }
    for (const { relay, provider } of figures.pausedProviders) paused.inc(healthLabels(relay, provider));
  }
  return { show, clear };
}

function tooLate(): never {
  throw new Error('The figures took too long');
}

/**
 * Creates gauges of the figures in PostgreSQL and of the connections to it. When PostgreSQL does not answer, the
 * figures have no value and `everpost_database_up` is 0. @returns a function that sets the gauges; call it before each
 * scrape
 */
export function createDatabaseGauges(registry: Registry, { read, poolUsage, keptMs = KEPT_MS }: DatabaseGaugesOptions) {
  const { gauge } = metricsOf(registry);
  const isUp = gauge('everpost_database_up', '1 when PostgreSQL has answered in time');
  const pool = gauge('everpost_database_pool', 'Connections of this process, and who waits for one', ['state']);
  const gauges = createFigureGauges(registry);
  let readAt = -Infinity;

  return async function update(): Promise<void> {
    const { total, idle, waiting } = poolUsage();
    pool.set({ state: 'used' }, total - idle);
    pool.set({ state: 'idle' }, idle);
    pool.set({ state: 'waiting' }, waiting);
    if (performance.now() - readAt < keptMs) return;
    try {
      gauges.show(await withTimeLimit(read(), WAIT_MS, tooLate));
      isUp.set(1);
      readAt = performance.now();
    } catch {
      gauges.clear();
      isUp.set(0);
    }
  };
}
