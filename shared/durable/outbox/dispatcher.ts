import { setTimeout as delay } from 'node:timers/promises';
import { createReminder } from '../../platform/reminder.ts';
import { unavailabilityReason } from '../../database/database-errors.ts';
import { createHandOver, type HandOverDeps } from './hand-over.ts';
import { createClaim, findDueKinds, recoverOutboxBatches } from './outbox-claims.ts';
import { createQueue, type Queue } from './queue.ts';
import type { OutboxWork } from './work.ts';

export interface DispatcherDeps extends HandOverDeps {
  /** All kinds of rows, by their names. */
  kinds: Readonly<Record<string, OutboxWork>>;
}

/** How often a worker looks for due rows. */
const LOOK_MS = 25;
/** The pause after PostgreSQL could not be asked. */
const FAILED_PAUSE_MS = 1_000;

/**
 * Starts or signals workflows for the rows of the outbox, with ids that make every repetition harmless, and deletes the
 * rows. Nothing else passes a commit on to Temporal. Runs in every worker process.
 */
export function createDispatcher(deps: DispatcherDeps) {
  const { em, logger, kinds } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const handOver = createHandOver(deps);
  const isDue = createReminder();

  function report(error: unknown): void {
    const reason = unavailabilityReason(error);
    if (reason === undefined) logger.error({ err: error }, 'the outbox could not be read; it is read again later');
    else if (isDue(reason)) logger.warn(`PostgreSQL cannot be used: ${reason}. The outbox is read again until it can`);
  }

  function queueOf(kind: string, work: OutboxWork): Queue {
    const claimNew = createClaim(kind, work);
    return createQueue(work, {
      handOver: (batches) => handOver(work, batches),
      signal,
      report,
      async claim(hasLapsed) {
        const recovered = hasLapsed ? await recoverOutboxBatches(em(), kind, work) : [];
        return recovered.length > 0 ? recovered : claimNew(em());
      },
    });
  }
  const queues = new Map(Object.entries(kinds).map(([kind, work]) => [kind, queueOf(kind, work)]));

  async function repeat(work: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await work().then(
        () => everyMs,
        (error: unknown) => {
          report(error);
          return Math.max(everyMs, FAILED_PAUSE_MS);
        },
      );
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async function look(): Promise<void> {
    for (const due of await findDueKinds(em(), [...queues.keys()])) queues.get(due.kind)?.notify(due);
  }

  const loops = [
    repeat(look, LOOK_MS),
    ...Object.values(kinds).flatMap(({ find }) => (find ? [repeat(() => find.add(em()), find.everyMs)] : [])),
  ];
  return {
    /** Stops looking, and waits for hand-overs under way. */
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      await Promise.all([...queues.values()].map((queue) => queue.ended()));
    },
  };
}
