import type { Client } from '@temporalio/client';
import type { Logger } from '../platform/logger.ts';
import { createReminder } from '../platform/reminder.ts';
import { unavailabilityReason } from '../domain/database/database-errors.ts';
import type { Orm } from '../domain/schema/orm.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../domain/outbox/outbox.ts';
import { createClaim, findDueKinds, hasWaitingRows, recoverOutboxBatches } from '../domain/outbox/outbox-claims.ts';
import { wakeEndpoints } from '../domain/webhooks/delivery-state.ts';
import { createBatchDispatch } from './batch-dispatch.ts';
import { policyOf } from './kind-policies.ts';
import { createApiLookPolicy, createWorkerLookPolicy } from './look-policy.ts';
import type { OpenDeliveries } from './open-deliveries.ts';
import { createPoller, type Poller } from './poller.ts';
import { createWatch } from './watch.ts';

export interface Dispatcher {
  /**
   * Tells that rows were, or may have been, committed. The dispatcher looks for them within `withinMs`, by default at
   * once; all calls in that time cause one look. Never throws, never waits.
   */
  wake: (withinMs?: number) => void;
  /** Stops looking, and waits for hand-overs under way. */
  stop: () => Promise<void>;
}

export interface DispatcherDeps {
  orm: Orm;
  client: Client;
  logger: Logger;
  /** The interval at which to look for rows that no call of `wake` has announced. */
  pollMs: number;
  /** Whether this is an API process, which leaves most rows to workers. */
  isApiProcess?: boolean;
  /**
   * Whether the workers of this process share the connection of the client. If so, Temporal can return the first task
   * of a workflow in its reply to the start, and a worker of this process runs it at once.
   */
  canStartEagerly?: boolean;
  /** Whether the traces of requests continue in the workflows. */
  isTraced?: boolean;
  /** The open deliveries of the workers of this process. Emails may join one instead of starting another. */
  openDeliveries?: OpenDeliveries;
}

/**
 * Asks at intervals which webhook endpoints have events to receive, and adds an outbox row for each. Recording an event
 * does not do this, because it would cost too much.
 */
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
 * Starts or signals workflows for the rows of the outbox, with ids that make every repetition harmless, and deletes the
 * rows. Nothing else passes a commit on to Temporal. Runs in every API and worker process.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const em = () => deps.orm.em.fork();
  const dispatch = createBatchDispatch(deps);
  const isDue = createReminder();

  function reportUnreadable(error: unknown): void {
    const reason = unavailabilityReason(error);
    if (reason === undefined) deps.logger.error({ err: error }, 'the outbox could not be read; it is read again later');
    else if (isDue(reason))
      deps.logger.warn(`PostgreSQL cannot be used: ${reason}. The outbox is read again until it can`);
  }

  const lookPolicy = deps.isApiProcess ? createApiLookPolicy() : createWorkerLookPolicy();
  const lapsed = new Set<OutboxKind>();
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
        const ageMs = lookPolicy.claimAgeMs();
        if (ageMs > 0 && !(await hasWaitingRows(em(), kind, ageMs))) return [];
        return claimNew(em());
      },
    });
  }
  const pollers = new Map(OUTBOX_KINDS.map((kind) => [kind, createKindPoller(kind)]));

  const watch = createWatch(async () => {
    const due = await findDueKinds(em());
    const nextMs = lookPolicy.onLook(due);
    for (const { kind, hasLapsed } of due) {
      if (hasLapsed) lapsed.add(kind);
      pollers.get(kind)?.notify();
    }
    if (nextMs !== undefined) watch.lookWithin(nextMs);
  }, reportUnreadable);
  const timer = setInterval(() => watch.lookWithin(0), deps.pollMs);
  timer.unref();
  // Workers find the same events, so an API process need not ask.
  const events = deps.isApiProcess ? undefined : watchEvents(deps, () => watch.lookWithin(0), reportUnreadable);

  return {
    wake(withinMs = 0) {
      const waitMs = lookPolicy.onWake();
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
