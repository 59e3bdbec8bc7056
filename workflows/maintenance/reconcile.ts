import type { ReconcileInput } from '../../shared/pure/workflow-contracts.ts';
import { bulk } from '../proxies.ts';

/**
 * Restarts workflows that should be running according to PostgreSQL but are not in Temporal. Two schedules start it:
 * often for what is due, and less often for everything that is late.
 */
export async function reconcile(input: ReconcileInput = {}): Promise<void> {
  await bulk.reconcile(input);
}
