import { bulk } from '../proxies.ts';

/**
 * Restarts workflows that should be running according to PostgreSQL but are not in Temporal. A schedule starts it every
 * five minutes.
 */
export async function reconcile(): Promise<void> {
  await bulk.reconcile();
}
