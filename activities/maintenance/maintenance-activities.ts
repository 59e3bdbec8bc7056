import { Context } from '@temporalio/activity';
import { cleanUpChunk, type CleanUpReport } from '../../shared/domain/maintenance.ts';
import type { ActivityDeps } from '../deps.ts';

/** Activities that keep the database small. */
export function createMaintenanceActivities(deps: ActivityDeps) {
  return {
    /** Removes expired idempotency keys, old bodies and attachments. Safe to run twice. */
    async cleanUp(): Promise<CleanUpReport> {
      const total: CleanUpReport = { idempotencyKeys: 0, mailBodies: 0, attachments: 0 };
      for (;;) {
        const chunk = await cleanUpChunk(deps.orm.em.fork(), deps.config.IDEMPOTENCY_TTL_HOURS);
        total.idempotencyKeys += chunk.idempotencyKeys;
        total.mailBodies += chunk.mailBodies;
        total.attachments += chunk.attachments;
        if (chunk.mailBodies === 0 && chunk.attachments === 0) return total;
        Context.current().heartbeat(total);
      }
    },
  };
}
