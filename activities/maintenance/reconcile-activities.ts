import { Context } from '@temporalio/activity';
import { findWorkflowEnd } from '../../shared/dispatch/workflow-end.ts';
import { summarizeRefusals } from '../../shared/domain/automations/refusals.ts';
import {
  findActiveClaims,
  requeueErasures,
  restartOrphans,
  type ActiveClaim,
  type OrphanedClaim,
} from '../../shared/domain/lifecycle/reconciliation.ts';
import type { ActivityDeps } from '../deps.ts';

export interface ReconcileReport {
  checked: number;
  restartedCount: number;
  /** The ids of the first restarted workflows. */
  restarted: string[];
}

const PAGE_SIZE = 200;
/** The length of this list, which is stored in the history. */
const LISTED_MAX = 100;

/** Activities that compare the state in PostgreSQL with Temporal. */
export function createReconcileActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  async function findOrphans(claims: readonly ActiveClaim[], report: ReconcileReport): Promise<OrphanedClaim[]> {
    const orphans: OrphanedClaim[] = [];
    for (const claim of claims) {
      report.checked++;
      const end = await findWorkflowEnd(deps.temporal, claim.workflowId);
      if (end) orphans.push({ ...claim, ...end });
      Context.current().heartbeat(report.checked);
    }
    return orphans;
  }

  async function restart(orphans: OrphanedClaim[], report: ReconcileReport): Promise<void> {
    await restartOrphans(em(), orphans);
    for (const { workflowId } of orphans) {
      deps.logger.warn({ workflowId }, 'a workflow that should be running is not in Temporal and is restarted');
    }
    report.restartedCount += orphans.length;
    const ids = orphans.map((claim) => claim.workflowId);
    report.restarted.push(...ids.slice(0, LISTED_MAX - report.restarted.length));
  }

  return {
    /**
     * Restarts workflows that should be running according to PostgreSQL but are not in Temporal: a workflow was
     * terminated or failed, Temporal was set up again, or one of the two was restored from a backup.
     */
    async reconcile(): Promise<ReconcileReport> {
      const report: ReconcileReport = { checked: 0, restartedCount: 0, restarted: [] };
      await requeueErasures(em());
      let afterId: string | undefined;
      for (;;) {
        const claims = await findActiveClaims(em(), afterId, PAGE_SIZE);
        const orphans = await findOrphans(claims, report);
        if (orphans.length > 0) await restart(orphans, report);
        afterId = claims.at(-1)?.id;
        if (claims.length < PAGE_SIZE) break;
      }
      for (const refused of await summarizeRefusals(em())) {
        deps.logger.warn(refused, 'an automation refused to be started within the last hour');
      }
      return report;
    },
  };
}
