import { cleanUpChunk, cleanUpKinds, type CleanUpReport } from '../../shared/domain/lifecycle/maintenance.ts';
import { retentionOf } from '../../shared/domain/lifecycle/retention.ts';
import { createDomainClients } from '../../shared/domain/emails/mx-ports.ts';
import { sendTlsReports } from '../../shared/domain/emails/tls-reports.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';

/** Activities that keep the database small. */
export function createMaintenanceActivities(deps: ActivityDeps) {
  return {
    /** Sends the reports about TLS that are due. Safe to run twice. */
    sendTlsReports(): ReturnType<typeof sendTlsReports> {
      const { config, logger } = deps;
      const em = () => deps.orm.em.fork();
      return withHeartbeat(deps, (signal, advance) =>
        sendTlsReports({ config, logger, em, ...createDomainClients(config) }, signal, advance),
      );
    },

    /** Removes expired rows, each kind chunk by chunk. Safe to run twice. */
    async cleanUp(): Promise<CleanUpReport> {
      const retention = retentionOf(deps.config);
      const kinds = cleanUpKinds(retention);
      const report = Object.fromEntries(kinds.map((kind) => [kind, 0])) as unknown as CleanUpReport;
      return withHeartbeat(
        deps,
        async (signal, advance) => {
          for (const kind of kinds) {
            let position: string | undefined;
            do {
              signal.throwIfAborted();
              const { removed, next } = await cleanUpChunk(deps.orm.em.fork(), kind, retention, position);
              report[kind] += removed;
              position = next;
              advance();
            } while (position !== undefined);
          }
          return report;
        },
        { progress: () => report },
      );
    },
  };
}
