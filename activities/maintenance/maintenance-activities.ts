import { Context } from '@temporalio/activity';
import { CLEAN_UP_CHUNK, cleanUpChunk, type CleanUpReport } from '../../shared/domain/maintenance.ts';
import type { ActivityDeps } from '../deps.ts';

const NOTHING: CleanUpReport = {
  idempotencyKeys: 0,
  mailBodies: 0,
  attachments: 0,
  jobs: 0,
  jobFiles: 0,
  graphSnapshots: 0,
};
const KINDS = Object.keys(NOTHING) as (keyof CleanUpReport)[];

/** Activities that keep the database small. */
export function createMaintenanceActivities(deps: ActivityDeps) {
  return {
    /** Removes expired idempotency keys, old bodies, attachments and jobs, unused graphs. Safe to run twice. */
    async cleanUp(): Promise<CleanUpReport> {
      const total: CleanUpReport = { ...NOTHING };
      for (;;) {
        const chunk = await cleanUpChunk(deps.orm.em.fork(), deps.config.IDEMPOTENCY_TTL_HOURS);
        for (const kind of KINDS) total[kind] += chunk[kind];
        if (KINDS.every((kind) => chunk[kind] < CLEAN_UP_CHUNK)) return total;
        Context.current().heartbeat(total);
      }
    },
  };
}
