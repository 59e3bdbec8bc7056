import type { Client } from '@temporalio/client';
import type { Logger } from '../../platform/logger.ts';
import type { Em } from '../../database/sql.ts';
import { findActiveClaims, requeueErasures, restartOrphans, type Reach } from './reconciliation.ts';
import { findEnded } from '../../durable/temporal/workflow-end.ts';

export interface ReconcileReport {
  checked: number;
  restartedCount: number;
  /** The ids of the first restarted workflows. */
  restarted: string[];
}

/** How far a reconciliation has come: everything up to this id is done. */
export interface ReconcileProgress extends ReconcileReport {
  afterId?: string;
}

export interface ReconcileDeps {
  em: () => Em;
  temporal: Client;
  /** A moment that has passed by the clock of Temporal, whatever that of this process says. */
  asOf: Date;
  logger: Logger;
  /** Where an earlier attempt stopped. */
  progress?: ReconcileProgress | undefined;
  /** Called after each page. */
  onProgress?: (progress: ReconcileProgress) => void;
  /** Checked between pages. */
  signal?: AbortSignal;
}

const PAGE_SIZE = 200;
/** The length of the list in the report, which is stored in the history. */
const LISTED_MAX = 100;

/**
 * Restarts workflows that should be running according to PostgreSQL but are not in Temporal: a workflow was terminated
 * or failed, Temporal was set up again, or one of the two was restored from a backup.
 */
export async function reconcileWithTemporal(
  { em, temporal, asOf, logger, progress, onProgress, signal }: ReconcileDeps,
  reach: Reach,
): Promise<ReconcileReport> {
  const begun: ReconcileProgress = progress ?? { checked: 0, restartedCount: 0, restarted: [] };
  let { checked, restartedCount, restarted, afterId } = begun;
  if (!progress) await requeueErasures(em(), reach.quietSeconds);
  for (;;) {
    signal?.throwIfAborted();
    const claims = await findActiveClaims(em(), reach, afterId, PAGE_SIZE);
    const orphans = await findEnded(temporal, claims);
    if (orphans.length > 0) await restartOrphans(em(), orphans, asOf);
    const ids = orphans.map(({ workflowId }) => workflowId);
    for (const workflowId of ids) {
      logger.warn({ workflowId }, 'a workflow that should be running is not in Temporal and is restarted');
    }
    checked += claims.length;
    restartedCount += ids.length;
    restarted = [...restarted, ...ids.slice(0, LISTED_MAX - restarted.length)];
    afterId = claims.at(-1)?.id ?? afterId;
    onProgress?.({ checked, restartedCount, restarted, ...(afterId !== undefined && { afterId }) });
    if (claims.length < PAGE_SIZE) return { checked, restartedCount, restarted };
  }
}
