import { bulk } from '../proxies.ts';

/** Starts anew what PostgreSQL says is at work and Temporal has lost. Started every five minutes by a schedule. */
export async function reconcile(): Promise<void> {
  await bulk.reconcile();
}
