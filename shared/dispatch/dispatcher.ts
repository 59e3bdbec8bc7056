import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { redactText } from '../pure/redact.ts';
import type { Logger } from '../platform/logger.ts';
import { createReminder } from '../platform/reminder.ts';
import type { SmtpUrgency } from '../platform/smtp/smtp-pool.ts';
import { isDatabaseUnavailable } from '../domain/database/database-errors.ts';
import type { Orm } from '../domain/schema/orm.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../domain/outbox/outbox.ts';
import {
  createClaim,
  deleteOutboxBatches,
  findDueKinds,
  hasWaitingRows,
  postponeOutboxBatch,
  recoverOutboxBatches,
  type ClaimSize,
  type OutboxBatch,
} from '../domain/outbox/outbox-claims.ts';
import { findTraceContexts, type TraceContexts } from '../domain/outbox/trace-contexts.ts';
import { wakeEndpoints } from '../domain/webhooks/delivery-state.ts';
import { handOverOf } from './hand-over.ts';
import type { OpenDeliveries } from './open-deliveries.ts';
import { createPoller, type HandedOver, type Poller } from './poller.ts';
import { createStarters } from './starters.ts';
import { createWatch } from './watch.ts';

export interface Dispatcher {
  /**
   * Something was, or may have been, committed: look now, or within `withinMs`, so that a thousand calls make one look.
   * Never throws, never waits.
   */
  wake: (withinMs?: number) => void;
  /** Stops looking and waits for work under way. */
  stop: () => Promise<void>;
}

export interface DispatcherDeps {
  orm: Orm;
  client: Client;
  logger: Logger;
  /** How often to look for rows that others left behind. */
  pollMs: number;
  /** For a process with other work: it hands over small amounts at once, and leaves most of large amounts to others. */
  isApiProcess?: boolean;
  /**
   * Whether the workers of this process share the connection of the client: Temporal returns the first task of what is
   * started with its answer then, where a worker has room, and hands nothing over.
   */
  canStartEagerly?: boolean;
  /** Whether traces go on in what is started. */
  isTraced?: boolean;
  /** Deliveries of the workers of this process, which emails may join instead of having one of their own. */
  openDeliveries?: OpenDeliveries;
}

/** How rows of a kind are handed over. Each kind has a poll loop of its own, so that no kind waits for another. */
interface KindPolicy extends ClaimSize {
  /** Claims under way at a time. */
  parallel: number;
  /** The longest time that the next claim waits for the hand-over before it. */
  handOverMs: number;
  /** The pause between claims: rows committed meanwhile go into larger batches, and the rate is bounded. */
  pauseMs: (rows: number) => number;
}

const SHORT_PAUSE_MS = 20;
const shortly = (): number => SHORT_PAUSE_MS;
/** Of 50 emails a second, two go into a start, with a pause of 40 ms; from 200 a second on, thirty and more. */
const byRows = (rows: number): number => Math.min(250, SHORT_PAUSE_MS + rows * 10);

/**
 * A start costs Temporal and the worker as much as some hundred rows cost PostgreSQL, so the pause of emails grows with the
 * load; a single email never waits for it. Executions and their events come by the thousand and Temporal works on each
 * for longer than it takes to tell it of them: few at a time leave it room for the emails of others. Cancellations are
 * not urgent, because a cancelled execution takes no step, whatever its workflow knows.
 */
const POLICIES: Record<OutboxKind, KindPolicy> = {
  email: { claimRows: 400, batchRows: 200, parallel: 4, handOverMs: 250, pauseMs: byRows },
  automationEmail: { claimRows: 200, batchRows: 100, parallel: 2, handOverMs: 250, pauseMs: byRows },
  campaign: { claimRows: 10, batchRows: 1, parallel: 2, handOverMs: 0, pauseMs: shortly },
  execution: { claimRows: 20, batchRows: 20, parallel: 3, handOverMs: 0, pauseMs: shortly },
  executionEvent: { claimRows: 20, batchRows: 20, parallel: 2, handOverMs: 0, pauseMs: shortly },
  executionCancel: { claimRows: 10, batchRows: 10, parallel: 1, handOverMs: 0, pauseMs: () => 250 },
  job: { claimRows: 10, batchRows: 1, parallel: 1, handOverMs: 0, pauseMs: () => 100 },
  segment: { claimRows: 10, batchRows: 1, parallel: 1, handOverMs: 0, pauseMs: () => 100 },
  erasure: { claimRows: 100, batchRows: 100, parallel: 1, handOverMs: 0, pauseMs: () => 1_000 },
  webhook: { claimRows: 10, batchRows: 10, parallel: 1, handOverMs: 0, pauseMs: () => 200 },
};

/**
 * What a worker hands over costs less, because it may begin it at once. A worker looks often for so long after it has seen
 * work. So a helper hands over at once only what comes alone. It takes what comes soon after only if it is still there when
 * a worker would have had it.
 */
const WORKER_LOOK_MS = 20;
const BUSY_MS = 2_000;
const ALONE_MS = 1_000;
const HELPER_WAIT_MS = 80;
/** A row is as old as its transaction, which is a little older than the call that tells of it. Timers may be early. */
const CLOCK_MARGIN = 0.75;
/** After a claim of so many emails, a helper leaves the next ones to workers, whose starts are larger then. */
const HELPER_EMAILS_MAX = 40;
const HELPER_PAUSE_MS = { few: 100, many: 1_000 } as const;

function policyOf(kind: OutboxKind, isApiProcess: boolean): KindPolicy {
  const policy = POLICIES[kind];
  if (!isApiProcess || kind === 'campaign') return policy;
  if (kind === 'email' || kind === 'automationEmail') {
    const pauseMs = (rows: number) => (rows > HELPER_EMAILS_MAX ? HELPER_PAUSE_MS.many : HELPER_PAUSE_MS.few);
    return { ...policy, parallel: 1, pauseMs };
  }
  const { claimRows, pauseMs } = policy;
  // Projects share a claim, so one that left much behind may be smaller than it could be.
  return { ...policy, parallel: 1, pauseMs: (rows) => (rows * 2 > claimRows ? HELPER_PAUSE_MS.many : pauseMs(rows)) };
}

/** What an email that joins a delivery costs, compared with one that is started; more of them share statements, too. */
const COST_OF_JOINED = 0.1;

const START_DEADLINE_MS = 10_000;

/** Logs what Temporal did not take. An outage fails every batch, again and again, so the same is said once a minute. */
function createRefusalReport(logger: Logger) {
  const isDue = createReminder();
  return ({ kind, batchId, attempts }: OutboxBatch, reason: string): void => {
    logger[isDue(`${kind} ${reason}`) ? 'warn' : 'debug'](
      { kind, batchId, attempts, reason },
      'Temporal did not take a start, it is kept and tried again',
    );
  };
}

function logUnreadable(logger: Logger, error: unknown): void {
  const level = isDatabaseUnavailable(error) ? 'warn' : 'error';
  logger[level]({ err: error }, 'the outbox could not be read, it is tried again');
}

/** The traces of batches of one kind. Without them, the batches are handed over all the same. */
async function findTraces({ orm, logger, isTraced }: DispatcherDeps, batches: OutboxBatch[]): Promise<TraceContexts> {
  const [first] = batches;
  if (!isTraced || !first) return new Map();
  const subjectIds = batches.flatMap((batch) => batch.subjectIds);
  return findTraceContexts(orm.em.fork(), first.kind, subjectIds).catch((error: unknown) => {
    logger.warn({ err: error }, 'traces could not be read, the work goes on without them');
    return new Map();
  });
}

/** What became of a batch; a refused one is put back. */
type Outcome = 'started' | 'joined' | 'refused';

const URGENCY_OF: Partial<Record<OutboxKind, SmtpUrgency>> = { email: 'transactional', automationEmail: 'automation' };

/** Whether an open delivery has claimed the emails of a batch. What is traced has a delivery of its own, to be seen in. */
async function joinsDelivery(
  { openDeliveries }: DispatcherDeps,
  { kind, projectId, subjectIds, isNew }: OutboxBatch,
  contexts: TraceContexts,
): Promise<boolean> {
  const urgency = URGENCY_OF[kind];
  if (!openDeliveries || !urgency || !isNew || subjectIds.some((id) => contexts.has(id))) return false;
  return openDeliveries.offer({ projectId, urgency }, subjectIds);
}

/** Wakes the webhook endpoints that have events to get. Events themselves wake nobody, so that they cost nothing. */
function watchEvents(
  { orm, pollMs }: DispatcherDeps,
  look: () => void,
  onError: (error: unknown) => void,
): { stop: () => Promise<void> } {
  const watch = createWatch(async () => {
    if ((await wakeEndpoints(orm.em.fork())) > 0) look();
  }, onError);
  const timer = setInterval(() => watch.lookWithin(0), pollMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await watch.stop();
    },
  };
}

/** Creates what hands batches over: to an open delivery, or to Temporal. A batch that is not taken is put back. */
function createDispatch(deps: DispatcherDeps): (batches: OutboxBatch[]) => Promise<HandedOver> {
  const em = () => deps.orm.em.fork();
  const starters = createStarters({ em, client: deps.client, canStartEagerly: deps.canStartEagerly ?? false });
  const reportRefusal = createRefusalReport(deps.logger);

  async function start(batch: OutboxBatch, contexts: TraceContexts): Promise<Outcome> {
    if (await joinsDelivery(deps, batch, contexts)) return 'joined';
    const handOver = handOverOf(batch, contexts);
    try {
      await deps.client.withDeadline(Date.now() + START_DEADLINE_MS, () => starters[batch.kind](batch, handOver));
      return 'started';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'started';
      const reason = redactText(error instanceof Error ? error.message : String(error));
      reportRefusal(batch, reason);
      await postponeOutboxBatch(em(), batch, reason);
      return 'refused';
    }
  }

  async function dispatch(batches: OutboxBatch[]): Promise<HandedOver> {
    const contexts = await findTraces(deps, batches);
    const outcomes = await Promise.all(batches.map((batch) => start(batch, contexts)));
    const done = batches.filter((_, index) => outcomes[index] !== 'refused').map((batch) => batch.batchId);
    if (done.length > 0) await deleteOutboxBatches(em(), done);
    const costs = batches.map(
      ({ subjectIds }, index) => subjectIds.length * (outcomes[index] === 'joined' ? COST_OF_JOINED : 1),
    );
    return { isTaken: done.length > 0, costInRows: costs.reduce((sum, cost) => sum + cost, 0) };
  }

  return dispatch;
}

/**
 * The one way from a database commit to Temporal: starts or signals workflows for the rows of the outbox, with ids that
 * make every repetition harmless, and deletes the rows. Runs in every API and worker process.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const em = () => deps.orm.em.fork();
  const dispatch = createDispatch(deps);
  const reportUnreadable = (error: unknown): void => logUnreadable(deps.logger, error);

  const lapsed = new Set<OutboxKind>();
  /** Whether this process leaves new rows to others for a while. */
  let isHelping = false;
  function createKindPoller(kind: OutboxKind): Poller {
    const policy = policyOf(kind, deps.isApiProcess ?? false);
    const claimNew = createClaim(kind, policy);
    return createPoller({
      ...policy,
      dispatch,
      onError: reportUnreadable,
      async claim() {
        const recovered = lapsed.delete(kind) ? await recoverOutboxBatches(em(), kind, policy) : [];
        if (recovered.length > 0) return recovered;
        if (isHelping && !(await hasWaitingRows(em(), kind, HELPER_WAIT_MS * CLOCK_MARGIN))) return [];
        return claimNew(em());
      },
    });
  }
  const pollers = new Map(OUTBOX_KINDS.map((kind) => [kind, createKindPoller(kind)]));

  let busyUntil = 0;
  let wokenAt = -Infinity;
  const watch = createWatch(async () => {
    const due = await findDueKinds(em());
    for (const { kind, hasLapsed } of due) {
      if (hasLapsed) lapsed.add(kind);
      pollers.get(kind)?.notify();
    }
    if (deps.isApiProcess) {
      if (isHelping && due.some(({ hasNew }) => hasNew)) watch.lookWithin(HELPER_WAIT_MS);
      return;
    }
    if (due.length > 0) noteWork();
    if (performance.now() < busyUntil) watch.lookWithin(WORKER_LOOK_MS);
  }, reportUnreadable);
  function noteWork(): void {
    busyUntil = performance.now() + BUSY_MS;
  }
  const timer = setInterval(() => watch.lookWithin(0), deps.pollMs);
  timer.unref();
  // A helper leaves it to the others, which find the same rows.
  const events = deps.isApiProcess ? undefined : watchEvents(deps, () => watch.lookWithin(0), reportUnreadable);

  return {
    wake(withinMs = 0) {
      isHelping = (deps.isApiProcess ?? false) && performance.now() - wokenAt < ALONE_MS;
      const waitMs = isHelping ? HELPER_WAIT_MS : 0;
      wokenAt = performance.now();
      noteWork();
      watch.lookWithin(withinMs + waitMs);
      watch.lookWhenGathered(waitMs);
    },
    async stop() {
      clearInterval(timer);
      await events?.stop();
      await watch.stop();
      await Promise.all([...pollers.values()].map((poller) => poller.stop()));
    },
  };
}
