import type { OutboxKind } from '../durable/outbox/outbox.ts';
import type { ClaimSize } from '../durable/outbox/outbox-claims.ts';

/** How rows of a kind are handed over. Each kind has a poll loop of its own, so no kind waits for another. */
export interface KindPolicy extends ClaimSize {
  /** The most claims under way at a time. */
  parallel: number;
  /** The longest time that a claim waits for the previous hand-over. */
  handOverMs: number;
  /** The pause after a claim of so many rows. It bounds the rate of claims, and rows gather into larger batches. */
  pauseMs: (rows: number) => number;
}

const SHORT_PAUSE_MS = 20;
const shortly = (): number => SHORT_PAUSE_MS;
/** The email of another project may wait for the whole pause. */
const byRows = (rows: number): number => Math.min(100, SHORT_PAUSE_MS + rows * 10);

/**
 * A start costs Temporal and the worker as much as some hundred rows cost PostgreSQL. So the pause of emails grows with
 * the load; a single email never waits for it. Executions and their events come by the thousand, and each is much work
 * for Temporal. They are handed over in small numbers, so that emails of other projects need not wait. Cancellations
 * are not urgent, because a cancelled execution takes no further step even if its workflow still runs.
 */
const POLICIES: Record<OutboxKind, KindPolicy> = {
  email: { claimRows: 400, batchRows: 200, parallel: 4, handOverMs: 250, pauseMs: byRows },
  automationEmail: { claimRows: 200, batchRows: 100, parallel: 2, handOverMs: 250, pauseMs: byRows },
  campaign: { claimRows: 10, batchRows: 1, parallel: 2, handOverMs: 0, pauseMs: shortly },
  execution: { claimRows: 20, batchRows: 20, parallel: 3, handOverMs: 0, pauseMs: shortly },
  executionEvent: { claimRows: 20, batchRows: 20, parallel: 2, handOverMs: 0, pauseMs: shortly },
  executionCancel: { claimRows: 10, batchRows: 10, parallel: 1, handOverMs: 0, pauseMs: () => 250 },
  job: { claimRows: 10, batchRows: 1, parallel: 1, handOverMs: 0, pauseMs: () => 100 },
  erasure: { claimRows: 100, batchRows: 100, parallel: 1, handOverMs: 0, pauseMs: () => 1_000 },
  webhook: { claimRows: 10, batchRows: 10, parallel: 1, handOverMs: 0, pauseMs: () => 200 },
};

/**
 * After a claim of more emails than this, an API process pauses longer, so that workers start the next ones together.
 */
const API_EMAILS_MAX = 40;
const API_PAUSE_MS = { few: 100, many: 1_000 } as const;

/**
 * The policy of a process for a kind. An API process hands over small amounts, and leaves most of large ones to
 * workers.
 */
export function policyOf(kind: OutboxKind, isApiProcess: boolean): KindPolicy {
  const policy = POLICIES[kind];
  if (!isApiProcess || kind === 'campaign') return policy;
  if (kind === 'email' || kind === 'automationEmail') {
    const pauseMs = (rows: number) => (rows > API_EMAILS_MAX ? API_PAUSE_MS.many : API_PAUSE_MS.few);
    return { ...policy, parallel: 1, pauseMs };
  }
  const { claimRows, pauseMs } = policy;
  // Projects share a claim equally, so a claim may have fewer than `claimRows` rows although one project has more.
  return { ...policy, parallel: 1, pauseMs: (rows) => (rows * 2 > claimRows ? API_PAUSE_MS.many : pauseMs(rows)) };
}
