import type { Request, Response } from 'express';
import { recordAudit, subjectIdsOf, type NewAuditEntry } from '../../shared/domain/audit/audit.ts';
import { Gather } from '../../shared/platform/gather.ts';
import type { Caller } from './authenticator.ts';
import type { ApiDeps, RequestAudit } from './context.ts';
import { effectOf, type Endpoint } from './endpoint.ts';
import { requestIdOf } from './error-envelope.ts';

/** The header with which the console says that it calls. */
const CONSOLE_HEADER = 'everpost-console';
const ENTRIES_MAX = 500;

/** The ids of what an answer is about, also of each of its results. */
function idsIn(data: unknown): unknown[] {
  if (typeof data !== 'object' || data === null) return [];
  const results: unknown = Reflect.get(data, 'results');
  const ids = ['id', 'jobId'].map((name): unknown => Reflect.get(data, name));
  return Array.isArray(results) ? [...ids, ...results.flatMap(idsIn)] : ids;
}

/** The record of a request; undefined when its endpoint does nothing that is recorded. */
export function auditOf(definition: Endpoint, caller: Caller, req: Request, res: Response): RequestAudit | undefined {
  if (effectOf(definition) !== 'writes' && !definition.isAudited) return undefined;
  let found: unknown[] = [];
  return {
    isRecorded: false,
    entryOf(status, data) {
      if (data !== undefined) found = [...idsIn(data), ...(definition.subjects?.(data as never, req.params) ?? [])];
      return {
        projectId: caller.project.id,
        actor: req.get(CONSOLE_HEADER) === undefined ? 'key' : 'console',
        keyId: caller.key.id,
        keyName: caller.key.name,
        operation: definition.operationId,
        subjectIds: subjectIdsOf([...Object.values(req.params), ...found]),
        status,
        requestId: requestIdOf(res),
      };
    },
  };
}

/** Records requests whose transaction has not done so. Those that end together share a statement. */
export type AuditRecorder = (audit: RequestAudit | undefined, status: number) => Promise<void>;

/** Creates the recorder of one process. A fault is logged: the request has had its effect, so it is answered. */
export function createAuditRecorder({ orm, logger }: Pick<ApiDeps, 'orm' | 'logger'>): AuditRecorder {
  const entries = new Gather<NewAuditEntry>({
    itemsMax: ENTRIES_MAX,
    write: async (group) => {
      await recordAudit(orm.em.fork(), group);
      return group.map(() => undefined);
    },
  });
  return async (audit, status) => {
    if (!audit || audit.isRecorded) return;
    const recorded = entries.add(audit.entryOf(status)).catch((error: unknown) => {
      logger.warn({ err: error }, 'a writing request could not be recorded');
    });
    // While PostgreSQL is away, a request that failed for that reason is answered at once.
    if (status < 500) await recorded;
  };
}
