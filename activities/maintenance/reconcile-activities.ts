import { Context } from '@temporalio/activity';
import { findWorkflowEnd } from '../../shared/dispatch/workflow-end.ts';
import { summarizeRefusals } from '../../shared/domain/automations/refusals.ts';
import {
  findActiveClaims,
  requeueErasures,
  restartOrphans,
  type OrphanedClaim,
} from '../../shared/domain/lifecycle/reconciliation.ts';
import type { ActivityDeps } from '../deps.ts';

export interface ReconcileReport {
  checked: number;
  restartedCount: number;
  /** The first of them. */
  restarted: string[];
}

const PAGE_SIZE = 200;
/** Enough to read in a history. */
const LISTED_MAX = 100;

/** Activities that compare what PostgreSQL says with what Temporal does. */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    /**
     * Restarts workflows that PostgreSQL says are at work and Temporal does not have: after a workflow was terminated or
     * failed, Temporal was set up again, or one of the two was restored from a backup.
     */
    async reconcile(): Promise<ReconcileReport> {
      const report: ReconcileReport = { checked: 0, restartedCount: 0, restarted: [] };
      await requeueErasures(deps.orm.em.fork());
      let afterId: string | undefined;
      for (;;) {
        const claims = await findActiveClaims(deps.orm.em.fork(), afterId, PAGE_SIZE);
        const lost: OrphanedClaim[] = [];
        for (const claim of claims) {
          report.checked++;
          const end = await findWorkflowEnd(deps.temporal, claim.workflowId);
          if (end) lost.push({ ...claim, ...end });
          Context.current().heartbeat(report.checked);
        }
        if (lost.length > 0) {
          await restartOrphans(deps.orm.em.fork(), lost);
          for (const { workflowId } of lost) {
            deps.logger.warn(
              { workflowId },
              'Temporal does not have a workflow that should be at work, it is restarted',
            );
          }
          report.restartedCount += lost.length;
          report.restarted.push(
            ...lost.map((claim) => claim.workflowId).slice(0, LISTED_MAX - report.restarted.length),
          );
        }
        afterId = claims.at(-1)?.id;
        if (claims.length < PAGE_SIZE) break;
      }
      for (const refused of await summarizeRefusals(deps.orm.em.fork())) {
        deps.logger.warn(refused, 'an automation refused to be started within the last hour');
      }
      return report;
    },
  };
}
