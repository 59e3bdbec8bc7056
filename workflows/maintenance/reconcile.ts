import { bulk } from '../proxies.ts';

/** Restarts workflows that PostgreSQL says are at work and Temporal has lost. Started every five minutes by a schedule. */
export async function reconcile(): Promise<void> {
  await bulk.reconcile();
}
