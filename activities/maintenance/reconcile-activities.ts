import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { findActiveClaims, restartLost } from '../../shared/domain/reconciliation.ts';
import type { ActivityDeps } from '../deps.ts';

export interface ReconcileReport {
  checked: number;
  restarted: string[];
}

const PAGE_SIZE = 200;
/** Enough to read in a history; the rest is found again in five minutes. */
const RESTARTS_MAX = 100;

async function isAtWork(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Activities that compare what PostgreSQL says with what Temporal does. */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    /**
     * Starts anew what PostgreSQL says is at work and Temporal does not have: an execution that was terminated or
     * failed, a Temporal that was set up anew, a backup of one of the two.
     */
    async reconcile(): Promise<ReconcileReport> {
      const report: ReconcileReport = { checked: 0, restarted: [] };
      let afterId: string | undefined;
      for (;;) {
        const claims = await findActiveClaims(deps.orm.em.fork(), afterId, PAGE_SIZE);
        for (const claim of claims) {
          report.checked++;
          if (!(await isAtWork(deps.temporal, claim.workflowId))) {
            await restartLost(deps.orm.em.fork(), claim);
            report.restarted.push(claim.workflowId);
            deps.logger.warn({ workflowId: claim.workflowId }, 'Temporal had lost an execution, it is started anew');
          }
          Context.current().heartbeat(report.checked);
        }
        afterId = claims.at(-1)?.id;
        if (claims.length < PAGE_SIZE || report.restarted.length >= RESTARTS_MAX) return report;
      }
    },
  };
}
