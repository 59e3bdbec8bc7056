import type { Client } from '@temporalio/client';
import type { Logger } from '../platform/logger.ts';
import { isDatabaseUnavailable } from '../domain/database/database-errors.ts';
import type { Orm } from '../domain/schema/orm.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../domain/outbox/outbox.ts';
import { createClaim, findDueKinds, hasWaitingRows, recoverOutboxBatches } from '../domain/outbox/outbox-claims.ts';
import { wakeEndpoints } from '../domain/webhooks/delivery-state.ts';
import { createBatchDispatch } from './batch-dispatch.ts';
import { policyOf } from './kind-policies.ts';
import type { OpenDeliveries } from './open-deliveries.ts';
import { createPoller, type Poller } from './poller.ts';
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

/** A worker looks this often for so long after it has seen work. */
const WORKER_LOOK_MS = 20;
const BUSY_MS = 2_000;
/**
 * What a worker hands over costs less, because it may begin it at once. So an API process hands over at once only what
 * comes alone: within a second after other rows, it leaves workers this much time to take the next one first.
 */
const ALONE_MS = 1_000;
const LEAVE_TO_WORKERS_MS = 80;
/** A row is as old as its transaction, which is a little older than the call that tells of it. Timers may be early. */
const CLOCK_MARGIN = 0.75;

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

/**
 * The one way from a database commit to Temporal: starts or signals workflows for the rows of the outbox, with ids that
 * make every repetition harmless, and deletes the rows. Runs in every API and worker process.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const em = () => deps.orm.em.fork();
  const dispatch = createBatchDispatch(deps);

  function reportUnreadable(error: unknown): void {
    const level = isDatabaseUnavailable(error) ? 'warn' : 'error';
    deps.logger[level]({ err: error }, 'the outbox could not be read, it is tried again');
  }

  const lapsed = new Set<OutboxKind>();
  let leavesToWorkers = false;
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
        const ageMs = LEAVE_TO_WORKERS_MS * CLOCK_MARGIN;
        if (leavesToWorkers && !(await hasWaitingRows(em(), kind, ageMs))) return [];
        return claimNew(em());
      },
    });
  }
  const pollers = new Map(OUTBOX_KINDS.map((kind) => [kind, createKindPoller(kind)]));

  let busyUntil = 0;
  /** When an API process last saw rows. Calls that left none behind do not count. */
  let rowsSeenAt = -Infinity;
  const hasSeenRows = (): boolean => performance.now() - rowsSeenAt < ALONE_MS;
  const watch = createWatch(async () => {
    const due = await findDueKinds(em());
    const hasNew = due.some((kind) => kind.hasNew);
    if (deps.isApiProcess && hasNew) {
      leavesToWorkers = hasSeenRows();
      rowsSeenAt = performance.now();
    }
    for (const { kind, hasLapsed } of due) {
      if (hasLapsed) lapsed.add(kind);
      pollers.get(kind)?.notify();
    }
    if (deps.isApiProcess) {
      if (leavesToWorkers && hasNew) watch.lookWithin(LEAVE_TO_WORKERS_MS);
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
  // Workers do it, and find the same events.
  const events = deps.isApiProcess ? undefined : watchEvents(deps, () => watch.lookWithin(0), reportUnreadable);

  return {
    wake(withinMs = 0) {
      const waitMs = hasSeenRows() ? LEAVE_TO_WORKERS_MS : 0;
      noteWork();
      watch.lookWithin(withinMs + waitMs);
      watch.lookWithNextBatch(waitMs);
    },
    async stop() {
      clearInterval(timer);
      await events?.stop();
      await watch.stop();
      await Promise.all([...pollers.values()].map((poller) => poller.stop()));
    },
  };
}
