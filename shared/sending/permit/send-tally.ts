import type { PermitStore, SentCount } from '../ports.ts';
import { Gather } from '../../platform/gather.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SmtpPool } from '../transport/smtp-pool.ts';

/** Counts the emails that servers accepted, by project and provider. */
export interface SendTally {
  add: (projectId: string, provider: string) => void;
}

const EVERY_MS = 500;
/** Counts that wait while the database cannot be reached. */
const COUNTS_MAX = 100_000;

export interface SendTallyOptions {
  store: Pick<PermitStore, 'countSent'>;
  logger: Logger;
  /** The pool is closed before the database connection. */
  smtp: Pick<SmtpPool, 'isClosed'>;
}

/**
 * Creates the tally of a worker process. It is stored twice a second, so that sending does not wait for counters that
 * all workers share. A process that is killed loses half a second of it.
 */
export function createSendTally({ store, logger, smtp }: SendTallyOptions): SendTally {
  /** The counts that are not being stored yet. */
  const waiting = new Map<string, SentCount>();
  const keyOf = ({ projectId, provider }: Omit<SentCount, 'count'>) => `${projectId} ${provider}`;

  const gather = new Gather<SentCount>({
    async write(counts, isFirst) {
      if (isFirst) for (const count of counts) waiting.delete(keyOf(count));
      if (!smtp.isClosed()) await store.countSent(counts);
      return counts.map(() => undefined);
    },
    afterFault(error) {
      logger.debug({ err: error }, 'Emails could not be counted, they are counted later');
      return 'repeat';
    },
    ...{ itemsMax: COUNTS_MAX, waitMs: EVERY_MS },
  });

  return {
    add(projectId, provider) {
      const known = waiting.get(keyOf({ projectId, provider }));
      if (known) known.count += 1;
      else if (waiting.size < COUNTS_MAX) {
        const count = { projectId, provider, count: 1 };
        waiting.set(keyOf(count), count);
        void gather.add(count);
      }
    },
  };
}
