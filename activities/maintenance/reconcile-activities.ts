import { Context } from '@temporalio/activity';
import {
  reconcileWithTemporal,
  type ReconcileProgress,
  type ReconcileReport,
} from '../../shared/domain/lifecycle/reconcile.ts';
import { summarizeRefusals } from '../../shared/domain/automations/refusals.ts';
import { REACHES } from '../../shared/domain/lifecycle/reconciliation.ts';
import type { ReconcileInput } from '../../shared/pure/workflow-contracts.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';

/** How far a reconciliation has come. */
const keptProgress = keptValue<ReconcileProgress>('reconciliation');

/** Activities that compare the state in PostgreSQL with Temporal. */
export function createReconcileActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  return {
    /** Restarts what Temporal has lost. An attempt goes on where the one before has stopped. */
    async reconcile({ reach = 'late' }: ReconcileInput = {}): Promise<ReconcileReport> {
      const report = await withHeartbeat(deps, (signal, advance) =>
        reconcileWithTemporal(
          {
            em,
            signal,
            temporal: deps.temporal,
            asOf: new Date(Context.current().info.currentAttemptScheduledTimestampMs),
            logger: deps.logger,
            progress: keptProgress.get(),
            onProgress(progress) {
              keptProgress.set(progress);
              advance();
            },
          },
          REACHES[reach],
        ),
      );
      if (reach !== 'late') return report;
      for (const refused of await summarizeRefusals(em())) {
        deps.logger.warn(refused, 'an automation refused to be started within the last hour');
      }
      return report;
    },
  };
}
