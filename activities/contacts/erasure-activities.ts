import { eraseNext, findNextErasure } from '../../shared/domain/lifecycle/erase-contacts.ts';
import type { ErasureInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';

export interface ErasureRound {
  /** Deleted contacts that were processed, counted each time. */
  contacts: number;
  /** The time until the next check, in milliseconds; null when none is needed. */
  nextInMs: number | null;
}

/** Activities that erase the remaining data of deleted contacts. */
export function createErasureActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  return {
    /** Erases all due contacts of a project, part by part. A repeated call goes on after the last committed part. */
    async eraseContacts({ projectId }: ErasureInput): Promise<ErasureRound> {
      const done = { contacts: 0, rows: 0 };
      return withHeartbeat(
        deps,
        async (signal, advance) => {
          for (;;) {
            signal.throwIfAborted();
            const part = await eraseNext(em(), projectId);
            if (part.contacts === 0) break;
            done.contacts += part.contacts;
            done.rows += part.rows;
            advance();
          }
          const nextInMs = await findNextErasure(em(), projectId);
          return { contacts: done.contacts, nextInMs: nextInMs === undefined ? null : Math.ceil(nextInMs) };
        },
        { progress: () => done },
      );
    },
  };
}
