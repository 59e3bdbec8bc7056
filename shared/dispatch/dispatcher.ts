import { createReminder } from '../platform/reminder.ts';
import { unavailabilityReason } from '../database/database-errors.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../durable/outbox/outbox.ts';
import { createClaim, findDueKinds, hasWaitingRows, recoverOutboxBatches } from '../durable/outbox/outbox-claims.ts';
import { wakeEndpoints } from '../domain/webhooks/delivery-state.ts';
import { createBatchDispatch, type DispatcherDeps } from './batch-dispatch.ts';

export type { DispatcherDeps } from './batch-dispatch.ts';
import { policyOf } from './kind-policies.ts';
import { createApiLookPolicy, createWorkerLookPolicy } from './look-policy.ts';
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
