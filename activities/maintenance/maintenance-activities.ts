import {
  CLEAN_UP_CHUNK,
  CLEAN_UP_KINDS,
  cleanUpChunk,
  retentionOf,
  type CleanUpReport,
} from '../../shared/domain/lifecycle/maintenance.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** Activities that keep the database small. */
export function createMaintenanceActivities(deps: ActivityDeps) {
  return {
    /** Removes expired rows, each kind as long as there is a full chunk of it. Safe to run twice. */
    async cleanUp(): Promise<CleanUpReport> {
      const retention = retentionOf(deps.config);
      const report = Object.fromEntries(CLEAN_UP_KINDS.map((kind) => [kind, 0])) as unknown as CleanUpReport;
      return withHeartbeat(
        deps,
        async (signal, advance) => {
          for (const kind of CLEAN_UP_KINDS) {
            let removed: number;
            do {
              signal.throwIfAborted();
              removed = await cleanUpChunk(deps.orm.em.fork(), kind, retention);
              report[kind] += removed;
              advance();
            } while (removed === CLEAN_UP_CHUNK);
          }
          return report;
        },
        { progress: () => report },
      );
    },
  };
}
