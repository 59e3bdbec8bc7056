import { setTimeout as delay } from 'node:timers/promises';
import { isConflict } from './database-errors.ts';
import type { Em } from './em.ts';

const REPEATS_MAX = 3;
/** Longest pause before the first repetition; it doubles for each further one. */
const PAUSE_MS = 20;

/**
 * Runs work that PostgreSQL undoes as a whole when it fails, and repeats it after a deadlock or a serialization
 * failure. The pauses are random, so that the same transactions do not meet again.
 */
export async function repeatOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (error) {
      if (repeats === REPEATS_MAX || !isConflict(error)) throw error;
      await delay(Math.random() * PAUSE_MS * 2 ** repeats);
    }
  }
}

/**
 * Runs work in a transaction: the one of `em` if it has one, else a new one, which is repeated after a deadlock or a
 * serialization failure. So the work must be repeatable: outside of the database it must set values, not add to them,
 * and nothing outside may depend on a run that has not been committed.
 *
 * **Lock order.** Transactions that take locks on several rows take them in this order, so that they wait for each
 * other in turn and do not meet in a deadlock:
 *
 * 1. the reply address that something new uses; the keys of submitted messages;
 * 2. job, segment, automation (the row that stands for the whole piece of work);
 * 3. executions, by id;
 * 4. contacts, by address (`IN_LOCK_ORDER`), because upserts know only the address; then their opt-ins;
 * 5. fields of the catalogue, by key;
 * 6. campaign pages;
 * 7. emails, by id;
 * 8. campaigns, by id;
 * 9. waits for events, by execution: `everpost_end_waits` takes them in statements that record events;
 * 10. suppressions, by address;
 * 11. outbox rows, with `skip locked`.
 *
 * Work that finds a row too late for this order, such as the contact of an email, locks it earlier with a statement of
 * its own, as `lockRecipients` does.
 */
export async function inTransaction<T>(em: Em, work: (tx: Em) => Promise<T>): Promise<T> {
  if (em.isInTransaction()) {
    const result = await work(em);
    await em.flush();
    return result;
  }
  return repeatOnConflict(() => em.transactional(work));
}
